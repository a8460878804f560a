package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/store"
)

// Embedding turns records of a space (package store) into vectors. It is not changed by its
// methods, which may be called concurrently.
type Embedding struct {
	space *store.Space
	marks *store.Block // the landmarks
	// factor is L, the lower triangle by rows.
	factor []float64

	landmarks []int
	residual  []float64 // of the candidates
}

// Landmarks returns the positions of the landmarks among the candidates, in the order in
// which they were chosen.
func (e *Embedding) Landmarks() []int { return e.landmarks }

// Dim returns the dimension of the vectors.
func (e *Embedding) Dim() int { return len(e.landmarks) }

// Residual returns the mean and the largest residual of the candidates, as shares of k(G,G).
func (e *Embedding) Residual() (mean, largest float64) {
	for _, r := range e.residual {
		r = max(r, 0) / e.space.Self()
		mean += r / float64(len(e.residual))
		largest = max(largest, r)
	}
	return mean, largest
}

// Pivots is a way to choose the next landmark.
type Pivots int

const (
	// Random draws a candidate with a probability proportional to its residual (Chen, Epperly,
	// Tropp, Webber 2022). It represents most graphs better than Greedy does, at the price of
	// a few outliers.
	Random Pivots = iota
	// Greedy takes the candidate with the largest residual, the first of equals.
	Greedy
)

var pivotNames = []string{"random", "greedy"}

func (p Pivots) String() string {
	if p < Random || p > Greedy {
		return fmt.Sprint(int(p))
	}
	return pivotNames[p]
}

// ParsePivots is the inverse of Pivots.String.
func ParsePivots(s string) (Pivots, error) {
	if i := slices.Index(pivotNames, s); i >= 0 {
		return Pivots(i), nil
	}
	return 0, fmt.Errorf("choice of pivots %q, want one of %q", s, pivotNames)
}

// Options say how landmarks are chosen.
type Options struct {
	Dim     int // number of landmarks
	Pivots  Pivots
	Seed    uint64 // of Random
	Workers int    // goroutines; results do not depend on it
	// Progress, when set, is called with the number of landmarks so far.
	Progress func(done, total int)
}

// Fit chooses landmarks among candidates. It takes fewer than o.Dim where the candidates span
// no more dimensions: where no residual exceeds dim·2⁻⁵² times k(G,G), the size of its
// rounding error.
//
// With n candidates it takes O(n dim²) time besides n·dim kernel values, and n·dim numbers of
// memory.
func Fit(ctx context.Context, s *store.Space, candidates store.Source, o Options) (*Embedding, error) {
	n, dim := candidates.Len(), o.Dim
	if dim < 1 {
		return nil, fmt.Errorf("dimension %d, want at least 1", dim)
	}
	if o.Pivots < Random || o.Pivots > Greedy {
		return nil, fmt.Errorf("choice of pivots %d, want one of %q", o.Pivots, pivotNames)
	}
	if n == 0 {
		return nil, errors.New("no graphs to choose landmarks from")
	}
	dim = min(dim, n)
	records, err := candidates.Records(0, n)
	if err != nil {
		return nil, err
	}
	all, err := s.Block(records)
	if err != nil {
		return nil, err
	}
	e := &Embedding{space: s, residual: make([]float64, n)}
	for i := range e.residual {
		e.residual[i] = s.Self()
	}
	least := float64(dim) * 0x1p-52 * s.Self()
	random := rand.New(rand.NewPCG(o.Seed, 0x7069766f7473)) // "pivots"
	// Columns of the factor: columns[j][i] is the coordinate j of candidate i.
	var columns [][]float64
	for len(columns) < dim {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := e.largest()
		if !(e.residual[p] > least) {
			break
		}
		if o.Pivots == Random {
			p = e.draw(random, least)
		}
		root := math.Sqrt(e.residual[p])
		column := make([]float64, n)
		ranges(o.Workers, n, func(lo, hi int) {
			part := column[lo:hi]
			s.Compare(part, hi-lo, all, p, p+1, all, lo, hi)
			for _, c := range columns {
				f := c[p]
				for i, v := range c[lo:hi] {
					part[i] -= f * v
				}
			}
			for i := range part {
				part[i] /= root
				e.residual[lo+i] -= part[i] * part[i]
			}
		})
		e.residual[p] = 0 // exactly
		columns = append(columns, column)
		e.landmarks = append(e.landmarks, p)
		if o.Progress != nil {
			o.Progress(len(columns), dim)
		}
	}
	marks := make([]float64, 0, len(columns)*s.Size())
	for j, p := range e.landmarks {
		marks = append(marks, records[p*s.Size():(p+1)*s.Size()]...)
		for _, c := range columns[:j+1] {
			e.factor = append(e.factor, c[p])
		}
	}
	e.marks, err = s.Block(marks)
	return e, err
}

// largest returns the first candidate with the largest residual.
func (e *Embedding) largest() int {
	p := 0
	for i, r := range e.residual {
		if r > e.residual[p] {
			p = i
		}
	}
	return p
}

// draw returns a candidate with a probability proportional to its residual, among those
// whose residual is above least, of which there is one.
func (e *Embedding) draw(random *rand.Rand, least float64) int {
	sum := 0.0
	for _, r := range e.residual {
		if r > least {
			sum += r
		}
	}
	at, last := random.Float64()*sum, -1
	for i, r := range e.residual {
		if r > least {
			last = i
			if at -= r; at < 0 {
				break
			}
		}
	}
	return last
}

// ranges calls f for parts of 0 … n-1 from some goroutines.
func ranges(workers, n int, f func(lo, hi int)) {
	workers = max(1, min(workers, n/64))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { f(w*n/workers, (w+1)*n/workers) })
	}
	wg.Wait()
}

// together is the number of graphs whose vectors are computed at once.
const together = 4

// Transform returns the vectors of records, one after the other. That of a record depends on
// the embedding and the record alone, to the bit. It takes O(dim²) time for each besides dim
// kernel values.
func (e *Embedding) Transform(ctx context.Context, records []float64, workers int) ([]float64, error) {
	if len(records)%e.space.Size() != 0 {
		return nil, fmt.Errorf("%d numbers, want a multiple of %d, the numbers of a record", len(records), e.space.Size())
	}
	n, d := len(records)/e.space.Size(), e.Dim()
	out := make([]float64, n*d)
	errs := make([]error, n/64+1)
	const strip = 256 // graphs between two looks at the context
	ranges(workers, n, func(lo, hi int) {
		for at := lo; at < hi; at += strip {
			to := min(at+strip, hi)
			block, err := e.space.Block(records[at*e.space.Size() : to*e.space.Size()])
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				errs[lo/64] = err
				return
			}
			e.space.Compare(out[at*d:], d, block, 0, to-at, e.marks, 0, d)
			e.solve(out[at*d : to*d])
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// solve replaces rows k by L⁻¹k, some rows at a time so that their sums are independent.
func (e *Embedding) solve(rows []float64) {
	d := e.Dim()
	var spare []float64
	for len(rows) > 0 {
		x := rows
		if len(rows) < together*d {
			if spare == nil {
				spare = make([]float64, together*d)
			}
			copy(spare, rows)
			x = spare
		}
		x0, x1, x2, x3 := x[:d], x[d:][:d], x[2*d:][:d], x[3*d:][:d]
		row := e.factor
		for j := range d {
			l := row[:j]
			s0, s1, s2, s3 := x0[j], x1[j], x2[j], x3[j]
			a0, a1, a2, a3 := x0[:len(l)], x1[:len(l)], x2[:len(l)], x3[:len(l)]
			for m, v := range l {
				s0 -= v * a0[m]
				s1 -= v * a1[m]
				s2 -= v * a2[m]
				s3 -= v * a3[m]
			}
			f := row[j]
			x0[j], x1[j], x2[j], x3[j] = s0/f, s1/f, s2/f, s3/f
			row = row[j+1:]
		}
		n := min(len(rows), together*d)
		if len(rows) < together*d {
			copy(rows, spare)
		}
		rows = rows[n:]
	}
}
