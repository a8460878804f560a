package kernel

import "context"

// expression is a list of sums of products of kernels. Each distinct one stands in it once, behind
// those that it is made of.
type expression struct {
	nodes []node
	at    map[string]int // by text
}

// node is a single kernel, or a sum of products of nodes.
type node struct {
	Factor
	terms []term // nil for a single kernel
	uses  int    // in terms of others, and by those who ask for it
	part  bool   // of a sum
}

// term is a product of nodes with a weight.
type term struct {
	weight float64
	nodes  []int
}

func newExpression() expression { return expression{at: map[string]int{}} }

// add returns the node of a factor, which is used once more.
func (e *expression) add(f Factor) int {
	f = f.simple()
	key := f.String()
	i, known := e.at[key]
	if !known {
		n := node{Factor: f}
		if s, ok := asSum(f.Kernel); ok {
			n.terms = e.addTerms(s)
		}
		i = len(e.nodes)
		e.at[key], e.nodes = i, append(e.nodes, n)
	}
	e.nodes[i].uses++
	return i
}

// addTerms returns the terms of a sum.
func (e *expression) addTerms(s Sum) []term {
	out := make([]term, len(s.Terms))
	for i, t := range s.Terms {
		out[i].weight = t.Weight
		for _, f := range t.Factors {
			part := e.add(f)
			e.nodes[part].part = true
			out[i].nodes = append(out[i].nodes, part)
		}
	}
	return out
}

// evaluation computes an expression, entry by entry. What is used again is kept until then.
type evaluation struct {
	expression
	left   []int                             // by node: uses to come
	known  [][]float64                       // by node: values that will be used
	single func(node int) ([]float64, error) // returns those of a single kernel
}

func (e expression) evaluate(single func(node int) ([]float64, error)) evaluation {
	out := evaluation{e, make([]int, len(e.nodes)), make([][]float64, len(e.nodes)), single}
	for i, n := range e.nodes {
		out.left[i] = n.uses
	}
	return out
}

// value returns the values of a node for one of its uses.
func (e *evaluation) value(ctx context.Context, i int) (v []float64, err error) {
	if v = e.known[i]; v != nil {
		err = ctx.Err()
	} else if terms := e.nodes[i].terms; terms != nil {
		v, err = e.sum(ctx, terms, nil)
	} else {
		v, err = e.single(i)
	}
	if err != nil {
		return nil, err
	}
	e.known[i] = v
	e.drop(i)
	return v, nil
}

// drop notes that a node is used once less. A sum that is never computed does not use its parts.
func (e *evaluation) drop(i int) {
	if e.left[i]--; e.left[i] > 0 {
		return
	}
	if e.known[i] == nil {
		for _, t := range e.nodes[i].terms {
			for _, part := range t.nodes {
				e.drop(part)
			}
		}
	}
	e.known[i] = nil
}

// sum computes Σ_t weight_t · Π_j values_tj entry by entry into dst, which is made where it is nil.
func (e *evaluation) sum(ctx context.Context, terms []term, dst []float64) ([]float64, error) {
	for i, t := range terms {
		product, last, err := e.factors(ctx, t.nodes)
		if err != nil {
			return nil, err
		}
		if dst == nil {
			dst = make([]float64, len(last))
		}
		err = chunks(ctx, len(dst), func(lo, hi int) {
			for k := lo; k < hi; k++ {
				x := last[k]
				if product != nil {
					x = product[k] * x
				}
				x = float64(x * t.weight) // not fused with the sum
				if i > 0 {
					x = dst[k] + x
				}
				dst[k] = x
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// factors returns the values of the last factor of a product, and the product of those before it, nil
// for none. It has no more than three sets of values at a time.
func (e *evaluation) factors(ctx context.Context, nodes []int) (product, last []float64, err error) {
	if last, err = e.value(ctx, nodes[0]); err != nil {
		return nil, nil, err
	}
	var own []float64
	for _, part := range nodes[1:] {
		if product == nil {
			product = last
		} else {
			if own == nil {
				own = make([]float64, len(last))
			}
			err = chunks(ctx, len(own), func(lo, hi int) {
				for k := lo; k < hi; k++ {
					own[k] = product[k] * last[k]
				}
			})
			if product = own; err != nil {
				return nil, nil, err
			}
		}
		if last, err = e.value(ctx, part); err != nil {
			return nil, nil, err
		}
	}
	return product, last, nil
}

// chunks calls f for parts of 0 … n-1.
func chunks(ctx context.Context, n int, f func(lo, hi int)) error {
	const size = 1 << 16
	return Each(ctx, (n+size-1)/size, 1, func(_, k int) error {
		f(k*size, min((k+1)*size, n))
		return nil
	})
}
