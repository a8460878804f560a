package mlg

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/work"
)

// landmark is a class that helps to span the feature space of a level.
type landmark struct {
	class int32
	count int32 // how often it was drawn
}

// landmarks chooses the landmarks of a level.
func (m *LowRank) landmarks(ctx context.Context, at *level) ([]landmark, error) {
	k := &m.kernel
	if k.Landmarks != Pivoted {
		return draw(at.classes, k.Landmarks, k.Samples, k.Seed, at.number), nil
	}
	defer work.Trace(ctx, "landmarks")()
	n := at.len()
	if at.number == 0 {
		diag, err := selfValues(m.base, at.descriptor)
		if err != nil {
			return nil, err
		}
		return pivot(at.classes, k.Samples, diag, func(dst []float64, c int32) error {
			m.base.Gram(dst, at.descriptor[c:c+1], at.descriptor)
			return ctx.Err()
		})
	}
	b, err := m.covariances(ctx, at, at.all())
	if err != nil {
		return nil, err
	}
	return pivot(at.classes, k.Samples, slices.Repeat([]float64{1}, n), func(dst []float64, c int32) error {
		const block = 4096
		return work.Each(ctx, (n+block-1)/block, 1, func(_, j int) error {
			lo, hi := j*block, min((j+1)*block, n)
			spd.Cross(dst[lo:hi], hi-lo, b, int(c), int(c)+1, b, lo, hi)
			return nil
		})
	})
}

// draw chooses landmarks among the vertices (Uniform) or classes (ByClass) of a level, by
// sampling without replacement. Vertices of one class are one landmark with a count:
// their rows of the Gram matrix are equal. The order of the landmarks depends on the
// content of the classes alone.
func draw(s *classes, how Landmarks, samples int, seed uint64, level int) []landmark {
	r := rand.NewPCG(seed, uint64(level))
	count := make([]int32, s.len())
	switch how {
	case Uniform:
		n := 0
		ends := make([]int, len(s.of)) // vertices of the graphs up to this one
		for i, c := range s.of {
			n += len(c)
			ends[i] = n
		}
		for _, v := range sample(r, n, samples) {
			i, _ := slices.BinarySearch(ends, v+1)
			count[s.of[i][v-(ends[i]-len(s.of[i]))]]++
		}
	case ByClass:
		for _, c := range sample(r, s.len(), samples) {
			count[c] = 1
		}
	}
	var marks []landmark
	for c, n := range count {
		if n > 0 {
			marks = append(marks, landmark{int32(c), n})
		}
	}
	sortLandmarks(marks, s)
	return marks
}

// sortLandmarks puts landmarks with equally many cells beside each other. Their covariances have
// about the same rank.
func sortLandmarks(marks []landmark, s *classes) {
	slices.SortFunc(marks, func(a, b landmark) int { return s.compare(a.class, b.class) })
}

// sample returns k of the numbers 0 … n-1, or all if there are fewer, each set with the same
// probability (Floyd's algorithm).
func sample(r *rand.PCG, n, k int) []int {
	k = min(k, n)
	taken := make(map[int]bool, k)
	out := make([]int, 0, k)
	for i := n - k; i < n; i++ {
		x := below(r, uint64(i)+1)
		if taken[x] {
			x = i
		}
		taken[x] = true
		out = append(out, x)
	}
	return out
}

// below returns a uniform number in [0, n) (Lemire's method). It is our own so that a seed
// means the same sample in every version of Go.
func below(r *rand.PCG, n uint64) int {
	hi, lo := bits.Mul64(r.Uint64(), n)
	for lo < n {
		t := -n % n
		if lo >= t {
			break
		}
		hi, lo = bits.Mul64(r.Uint64(), n)
	}
	return int(hi)
}

// pivot chooses landmarks by greedy pivoted Cholesky factorisation of D^½ K D^½, K the Gram matrix
// of all classes and D their numbers of vertices. The next landmark is the class with the largest
// residual: the squared distance of its feature vector from the span of those before, times its
// number of vertices. On a tie the class with the smaller hash comes first. residual has the kernel
// of every class with itself; row writes the kernel of class c with all classes.
func pivot(s *classes, samples int, residual []float64, row func(dst []float64, c int32) error) ([]landmark, error) {
	n := s.len()
	most := 0.0
	for _, d := range residual {
		most = max(most, d)
	}
	var factor [][]float64
	var marks []landmark
	for len(marks) < min(samples, n) {
		best := int32(0)
		for c := int32(1); c < int32(n); c++ {
			if cmp.Or(cmp.Compare(residual[c]*float64(s.count[c]), residual[best]*float64(s.count[best])), cmp.Compare(s.hash[best], s.hash[c])) > 0 {
				best = c
			}
		}
		// Below this a residual is rounding error: each update leaves about ε of the largest value.
		if !(residual[best] > float64(len(marks)+1)*epsilon*most) {
			break
		}
		l := make([]float64, n)
		if err := row(l, best); err != nil {
			return nil, err
		}
		for _, f := range factor {
			dense.Axpy(l, -f[best], f)
		}
		scale := 1 / math.Sqrt(residual[best])
		for c := range l {
			l[c] *= scale
			residual[c] -= float64(l[c] * l[c])
		}
		residual[best] = 0
		factor = append(factor, l)
		marks = append(marks, landmark{best, 1})
	}
	sortLandmarks(marks, s)
	return marks, nil
}
