package mlg

import (
	"fmt"
	"math"
	"runtime"

	"github.com/mlgkernel/mlg/graph"
)

// Options are the parameters of the multiscale kernel. Start from DefaultOptions: a zero
// value of a field is not a default, and Validate refuses it where it makes no sense.
type Options struct {
	// Radii are the hop radii of the neighbourhoods N₁ ⊆ … ⊆ N_L, not decreasing. An
	// empty list gives the FLG kernel of the base kernel. See Growth for r₀·ρ^(ℓ-1).
	Radii []int
	// Neighbourhoods, when set, replaces balls: it has as many levels as Radii has
	// entries, whose values do not matter.
	Neighbourhoods Neighbourhoods
	// Eta regularises the Laplacian: L = D − A + ηI. It must be positive.
	Eta float64
	// Gamma regularises the covariance: S = U L⁻¹ Uᵀ + γI. It must be positive.
	Gamma float64
	// Base is the kernel on vertices. Nil means equality of labels where the graphs have
	// labels, else the dot product of attributes, else equality of degrees; see ChooseBase.
	Base Base
	// Discount divides the features of a vertex in a neighbourhood by 1 + its distance
	// from the centre.
	Discount bool
	// Combine says how the kernels of the levels make one.
	Combine Combine
	// Power is the exponent of the kernel, a positive integer.
	Power int

	// Samples is Ñ, the number of vertices sampled at every level by the low-rank kernel.
	Samples int
	// Rank is P̃, the number of eigenvectors kept at every level by the low-rank kernel.
	// More than there are means all.
	Rank int
	// Landmarks says how the Ñ vertices are chosen.
	Landmarks Landmarks
	// Seed determines the sample.
	Seed uint64

	// PairRank, when positive, makes the exact kernel keep only that many leading
	// eigenvectors of the joint Gram matrix of every pair of (sub)graphs.
	PairRank int
	// MaxMemory bounds the bytes that the exact kernel keeps in its tables of kernel values.
	MaxMemory int64

	// Workers is the number of goroutines that compute. Results do not depend on it.
	Workers int
	// Progress, when set, is called as work proceeds, from one goroutine at a time.
	Progress func(Progress)
	// Trace, when set, is called by every worker at the start of a piece of work of a stage
	// ("classes", "factor", "landmarks", "eigen", "gram", …); what it returns is called at
	// the end. It lets a caller with a clock measure where the time goes.
	Trace func(stage string) (end func())
}

func (o *Options) trace(stage string) func() {
	if o.Trace == nil {
		return func() {}
	}
	return o.Trace(stage)
}

// Progress tells how far a stage of a computation has come.
type Progress struct {
	Stage string // as in "classes 2/3"
	Done  int64
	Total int64
}

// Combine is a way to make one kernel from those of the levels: k_ℓ is the FLG kernel of
// the whole graphs with 𝔎_ℓ as base kernel, ℓ = 0 … L.
type Combine int

const (
	// Top is k_L alone, the kernel of the paper.
	Top Combine = iota
	// Sum is the mean of k_0 … k_L.
	Sum
	// Product is the product of k_0 … k_L.
	Product
	// GeometricMean is the (L+1)-th root of the product. It is not positive semi-definite
	// in general (docs/math.md, Powers).
	GeometricMean
	// Mixed is the mean of Top, Sum and Product, for the price of one of the latter:
	//
	//	k = ⅓ (k_L + Σ_ℓ k_ℓ/(L+1) + Π_ℓ k_ℓ).
	Mixed
)

var combineNames = []string{"top", "sum", "product", "gmean", "mixed"}

func (c Combine) String() string { return name(combineNames, int(c)) }

// ParseCombine is the inverse of Combine.String.
func ParseCombine(s string) (Combine, error) {
	i, err := index(combineNames, s, "combination of levels")
	return Combine(i), err
}

// PositiveSemidefinite reports whether the combination keeps the kernel positive
// semi-definite for every collection of graphs.
func (c Combine) PositiveSemidefinite() bool { return c != GeometricMean }

// Landmarks is a way to choose the vertices that span the low-rank feature space.
type Landmarks int

const (
	// Uniform draws vertices of all graphs uniformly without replacement, as the paper does.
	Uniform Landmarks = iota
	// ByClass draws distinct neighbourhood classes uniformly without replacement. The
	// features are the leading principal components of all vertices in the landmarks' span.
	ByClass
	// Pivoted takes, one after the other, the class that those so far represent worst: greedy
	// pivoted Cholesky factorisation of the kernel matrix of the classes, weighted by their
	// numbers of vertices. Features as with ByClass.
	Pivoted
)

var landmarkNames = []string{"uniform", "classes", "pivoted"}

func (l Landmarks) String() string { return name(landmarkNames, int(l)) }

// ParseLandmarks is the inverse of Landmarks.String.
func ParseLandmarks(s string) (Landmarks, error) {
	i, err := index(landmarkNames, s, "choice of landmarks")
	return Landmarks(i), err
}

func name(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprint(i)
	}
	return names[i]
}

func index(names []string, s, what string) (int, error) {
	for i, n := range names {
		if n == s {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s %q, want one of %q", what, s, names)
}

// DefaultOptions returns the parameters of the paper: radii 1 and 2, η = γ = 0.1, 100
// samples, rank 10, top level only.
func DefaultOptions() Options {
	return Options{
		Radii:     []int{1, 2},
		Eta:       0.1,
		Gamma:     0.1,
		Power:     1,
		Samples:   100,
		Rank:      10,
		MaxMemory: 16 << 30,
		Workers:   runtime.GOMAXPROCS(0),
	}
}

// Growth returns the radii ⌈r₀·ρ^(ℓ-1)⌉ for ℓ = 1 … levels.
func Growth(r0, rho float64, levels int) []int {
	radii := make([]int, levels)
	for l := range radii {
		// The tolerance keeps products that are whole numbers in exact arithmetic from
		// being rounded up: 2 ulp per factor.
		x := r0 * math.Pow(rho, float64(l))
		radii[l] = int(math.Ceil(x * (1 - 1e-14)))
	}
	return radii
}

// Validate returns an error that names the first field with an impossible value.
func (o *Options) Validate() error {
	for l, r := range o.Radii {
		if r < 0 {
			return fmt.Errorf("options: Radii[%d] = %d, want a number of hops that is not negative", l, r)
		}
		if l > 0 && r < o.Radii[l-1] && o.Neighbourhoods == nil {
			return fmt.Errorf("options: Radii = %v, want radii that do not decrease", o.Radii)
		}
	}
	if err := checkPositive("options: Eta", o.Eta); err != nil {
		return err
	}
	if err := checkPositive("options: Gamma", o.Gamma); err != nil {
		return err
	}
	switch {
	case o.Combine < Top || o.Combine > Mixed:
		return fmt.Errorf("options: Combine = %d, want one of %q", o.Combine, combineNames)
	case o.Landmarks < Uniform || o.Landmarks > Pivoted:
		return fmt.Errorf("options: Landmarks = %d, want one of %q", o.Landmarks, landmarkNames)
	case o.Power < 1:
		return fmt.Errorf("options: Power = %d, want a positive integer", o.Power)
	case o.Samples < 1:
		return fmt.Errorf("options: Samples = %d, want at least 1", o.Samples)
	case o.Rank < 1:
		return fmt.Errorf("options: Rank = %d, want at least 1", o.Rank)
	case o.PairRank < 0:
		return fmt.Errorf("options: PairRank = %d, want 0 for all or a positive number", o.PairRank)
	case o.MaxMemory < 1:
		return fmt.Errorf("options: MaxMemory = %d, want a positive number of bytes", o.MaxMemory)
	case o.Workers < 1:
		return fmt.Errorf("options: Workers = %d, want at least 1", o.Workers)
	}
	return nil
}

// checkPositive says what is wrong with a parameter that must be positive and finite.
func checkPositive(name string, x float64) error {
	if !(x > 0) || math.IsInf(x, 1) {
		return fmt.Errorf("%s = %v, want a positive, finite number", name, x)
	}
	return nil
}

// Neighbourhoods is a system of nested neighbourhoods: it appends the vertices of N_ℓ(v),
// level ℓ = 1 … L, to dst in any order without repetition. N_ℓ(v) must hold v and
// N_{ℓ-1}(v). It is called concurrently.
type Neighbourhoods func(g *graph.Graph, v, level int, dst []int32) []int32
