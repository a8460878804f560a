package evaluate

import (
	"fmt"

	"github.com/mlgkernel/mlg"
)

// Term is a product of kernels with a weight: what a kernel made by Product, Mean and the
// like looks like when it is written out as a sum.
type Term struct {
	Weight  float64
	Factors []FactorKernel
}

// FactorKernel is a kernel of a product that is not made of others.
type FactorKernel struct {
	Kernel       mlg.Kernel
	Standardized bool // its graphs have standardised attributes
	Subdivided   bool // the edges of its graphs are vertices
	// Shared is equal for the occurrences of one kernel made by Share, and nil for others.
	Shared any
}

// place is where a factor stands in a shared kernel.
type place struct {
	kernel       *shared
	term, factor int
}

// Terms writes a kernel out as a sum of products,
//
//	k = Σ_t Weight_t · Π_j Factors_tj,
//
// for all kernels that this package makes of others. Any other kernel is a sum of one term
// with one factor. It is an error if there are more than 1024 terms, or if the kernel is marked
// as indefinite, since its matrices are changed on every training part.
func Terms(k mlg.Kernel) ([]Term, error) {
	const most = 1024
	switch k := k.(type) {
	case *shared:
		terms, err := Terms(k.Kernel)
		for i, t := range terms {
			for j := range t.Factors {
				if t.Factors[j].Shared == nil {
					t.Factors[j].Shared = place{k, i, j}
				}
			}
		}
		return terms, err
	case *overSeeds:
		return Terms(&k.composite)
	case indefinite:
		return nil, fmt.Errorf("%s is not positive semi-definite", k)
	case *standardized:
		terms, err := Terms(k.inner)
		for _, t := range terms {
			for j := range t.Factors {
				if t.Factors[j].Standardized {
					return nil, fmt.Errorf("%s: attributes that are standardised twice", k)
				}
				t.Factors[j].Standardized = true
			}
		}
		return terms, err
	case *subdivided:
		terms, err := Terms(k.inner)
		for _, t := range terms {
			for j := range t.Factors {
				if t.Factors[j].Subdivided {
					return nil, fmt.Errorf("%s: graphs that are subdivided twice", k)
				}
				t.Factors[j].Subdivided = true
			}
		}
		return terms, err
	case *composite:
		out := []Term{{Weight: 1}}
		if !k.product {
			out = nil
		}
		for _, part := range k.kernels {
			terms, err := Terms(part)
			if err != nil {
				return nil, err
			}
			if !k.product {
				for _, t := range terms {
					t.Weight /= float64(len(k.kernels))
					out = append(out, t)
				}
				continue
			}
			var next []Term
			for _, a := range out {
				for _, b := range terms {
					factors := append(append([]FactorKernel{}, a.Factors...), b.Factors...)
					next = append(next, Term{a.Weight * b.Weight, factors})
				}
			}
			if out = next; len(out) > most {
				return nil, fmt.Errorf("%s: more than %d terms", k, most)
			}
		}
		return out, nil
	}
	return []Term{{1, []FactorKernel{{Kernel: k}}}}, nil
}
