package mlg

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/spd"
)

// Snapshot is a fitted low-rank kernel as plain data, to be stored. FromSnapshot makes a
// model of it whose results have the same bits. Matrices are row-major; covariances are
// packed lower triangles, one after the other.
type Snapshot struct {
	Radii      []int
	Eta, Gamma float64
	Base       string // as BaseFromString reads it
	Discount   bool
	Combine    Combine
	Power      int

	// How the landmarks were chosen. A fitted model does not need it.
	Samples, Rank int
	Landmarks     Landmarks
	Seed          uint64

	Levels []LevelSnapshot // 0 … L
	Graphs int             // training graphs
	// Train has the covariances of the training graphs for each level that enters the
	// kernel: the last, or with any Combine but Top all.
	Train [][]float64
}

// LevelSnapshot is what turns the neighbourhoods of one level into P features.
type LevelSnapshot struct {
	// Explicit says that the base kernel's own features are used (level 0 only). Descriptors
	// then has training vertices with every one-hot feature in their order, and W and Values
	// are empty.
	Explicit    bool
	Descriptors []string  // level 0: of the landmarks
	Marks       []float64 // level ≥ 1: covariances of the landmarks

	N, P   int       // landmarks (explicit: descriptors) and features
	W      []float64 // N×P: features = kernel with the landmarks × W
	Values []float64 // eigenvalues, descending; none where the only feature is always 0
}

// maxPower bounds the exponent of a snapshot: the kernel multiplies that often.
const maxPower = 1 << 20

func errPower(power int) error {
	return fmt.Errorf("a stored model with Power = %d, want at most %d", power, maxPower)
}

// Snapshot returns the model as plain data. It is an error if the model has a base kernel
// that is not of this package, or a Neighbourhoods function: they cannot be stored.
func (m *Model) Snapshot() (*Snapshot, error) {
	if m.o.Neighbourhoods != nil {
		return nil, errors.New("a model with Neighbourhoods of its own cannot be stored: a function has no stored form; want Radii")
	}
	base, err := spell(m.base)
	if err != nil {
		return nil, err
	}
	if _, err := BaseFromString(base); err != nil { // one too large to be read again
		return nil, err
	}
	o := &m.o
	if o.Power > maxPower {
		return nil, errPower(o.Power)
	}
	s := &Snapshot{
		Radii: slices.Clone(o.Radii), Eta: o.Eta, Gamma: o.Gamma, Base: base, Discount: o.Discount,
		Combine: o.Combine, Power: o.Power,
		Samples: o.Samples, Rank: o.Rank, Landmarks: o.Landmarks, Seed: o.Seed,
		Graphs: m.train.Len(),
	}
	for i := range m.levels {
		l := &m.levels[i]
		level := LevelSnapshot{
			Explicit: l.explicit != nil, Descriptors: slices.Clone(l.desc),
			N: l.n, P: l.p, W: slices.Clone(l.w), Values: slices.Clone(l.values),
		}
		if level.Explicit {
			level.Descriptors = needed(m.base, l.desc)
			level.N = len(level.Descriptors)
		}
		if l.marks != nil {
			level.Marks = packedAll(l.marks)
		}
		s.Levels = append(s.Levels, level)
	}
	for _, b := range m.train.levels {
		s.Train = append(s.Train, packedAll(b))
	}
	return s, nil
}

// packedAll returns the matrices of a batch, one after the other.
func packedAll(b *spd.Batch) []float64 {
	size := spd.Size(b.Order())
	out := make([]float64, b.Len()*size)
	for i := range b.Len() {
		b.At(i, out[i*size:(i+1)*size])
	}
	return out
}

// needed returns those descriptors that determine the explicit features, in their order.
func needed(b Base, desc []string) []string {
	keep := make([]bool, len(desc))
	markNeeded(b, desc, keep)
	var out []string
	for i, k := range keep {
		if k {
			out = append(out, desc[i])
		}
	}
	return out
}

// markNeeded marks the first descriptor of every one-hot feature, and the first of all,
// which tells the dimension of the others.
func markNeeded(b Base, desc []string, keep []bool) {
	switch b := b.(type) {
	case *oneHot:
		seen := make(map[string]bool)
		for i, d := range desc {
			keep[i] = keep[i] || !seen[d]
			seen[d] = true
		}
	case *pair:
		x, y := splitPairs(desc)
		markNeeded(b.a, x, keep)
		markNeeded(b.b, y, keep)
	default:
		keep[0] = true
	}
}

// FromSnapshot returns the model of a snapshot, to compute with the given number of
// workers. Everything is checked, so that a damaged snapshot gives an error and not a model
// that panics. Nothing of the snapshot is kept.
func FromSnapshot(s *Snapshot, workers int) (*Model, error) {
	m, err := s.model(workers)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

func (s *Snapshot) model(workers int) (*Model, error) {
	base, err := BaseFromString(s.Base)
	if err != nil {
		return nil, err
	}
	o := DefaultOptions()
	o.Radii, o.Eta, o.Gamma, o.Base, o.Discount = slices.Clone(s.Radii), s.Eta, s.Gamma, base, s.Discount
	o.Combine, o.Power = s.Combine, s.Power
	o.Samples, o.Rank, o.Landmarks, o.Seed = s.Samples, s.Rank, s.Landmarks, s.Seed
	o.Workers = workers
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Power > maxPower {
		return nil, errPower(o.Power)
	}
	if len(s.Levels) != len(o.Radii)+1 {
		return nil, fmt.Errorf("%d levels for %d radii, want one more", len(s.Levels), len(o.Radii))
	}
	m := &Model{o: o, base: base, train: &Covariances{}}
	for i := range s.Levels {
		l := &s.Levels[i]
		var p *projection
		if i == 0 {
			p, err = l.bottom(base)
		} else {
			p, err = l.above(m.levels[i-1].p, workers)
		}
		if err != nil {
			return nil, fmt.Errorf("level %d: %w", i, err)
		}
		p.factor(&o)
		m.levels = append(m.levels, *p)
	}
	used := m.levels
	if o.Combine == Top {
		used = used[len(used)-1:]
	}
	if len(s.Train) != len(used) {
		return nil, fmt.Errorf("training covariances of %d levels, want %d", len(s.Train), len(used))
	}
	for i := range used {
		b, err := batchOf(s.Train[i], s.Graphs, used[i].p, workers)
		if err != nil {
			return nil, fmt.Errorf("training graphs, part %d: %w", i, err)
		}
		m.train.levels = append(m.train.levels, b)
	}
	return m, nil
}

// bottom returns the projection of level 0.
func (l *LevelSnapshot) bottom(base Base) (*projection, error) {
	if l.N != len(l.Descriptors) || len(l.Marks) > 0 {
		return nil, fmt.Errorf("%d landmarks with %d descriptors and %d covariance entries, want one descriptor each", l.N, len(l.Descriptors), len(l.Marks))
	}
	dim := 0
	for i, d := range l.Descriptors {
		if err := checkDescriptor(base, d, &dim); err != nil {
			return nil, fmt.Errorf("descriptor %d: %w", i, err)
		}
	}
	p := &projection{desc: slices.Clone(l.Descriptors)}
	if !l.Explicit {
		return p, l.project(p)
	}
	if len(l.W) > 0 || len(l.Values) > 0 || l.P > maxExplicit {
		return nil, fmt.Errorf("%d explicit features with %d weights and %d eigenvalues, want at most %d and no weights", l.P, len(l.W), len(l.Values), maxExplicit)
	}
	p.n = l.N
	p.explicit, p.p = base.Features(p.desc, maxExplicit)
	if p.p != l.P || p.p == 0 {
		return nil, fmt.Errorf("%d explicit features, but the descriptors have %d", l.P, p.p)
	}
	return p, nil
}

// above returns the projection of a level ≥ 1 with covariances of the given order.
func (l *LevelSnapshot) above(order, workers int) (*projection, error) {
	if l.Explicit || len(l.Descriptors) > 0 {
		return nil, errors.New("explicit features or descriptors, which only level 0 can have")
	}
	p := &projection{}
	var err error
	if p.marks, err = batchOf(l.Marks, l.N, order, workers); err != nil {
		return nil, err
	}
	return p, l.project(p)
}

// project checks the linear part of a level and copies it to p.
func (l *LevelSnapshot) project(p *projection) error {
	if l.P < 1 || l.P > max(1, l.N) {
		return fmt.Errorf("%d features of %d landmarks, want at least 1 and not more than landmarks", l.P, l.N)
	}
	if len(l.W) != l.N*l.P {
		return fmt.Errorf("%d weights, want %d×%d", len(l.W), l.N, l.P)
	}
	if len(l.Values) != l.P && !(l.P == 1 && len(l.Values) == 0) {
		return fmt.Errorf("%d eigenvalues of %d features", len(l.Values), l.P)
	}
	for i, v := range l.Values {
		if !(v > 0) || math.IsInf(v, 1) || i > 0 && v > l.Values[i-1] {
			return fmt.Errorf("eigenvalue %d is %v, want positive, finite numbers in descending order", i, v)
		}
	}
	if err := checkFinite("weight", l.W); err != nil {
		return err
	}
	p.n, p.p, p.w, p.values = l.N, l.P, slices.Clone(l.W), slices.Clone(l.Values)
	return nil
}

// batchOf returns the batch of n packed matrices of one order.
func batchOf(packed []float64, n, order, workers int) (*spd.Batch, error) {
	size := spd.Size(order)
	if n < 0 || n > len(packed) || len(packed) != n*size {
		return nil, fmt.Errorf("%d numbers for %d covariances of order %d, want %d each", len(packed), n, order, size)
	}
	if err := checkFinite("covariance entry", packed); err != nil {
		return nil, err
	}
	b := spd.NewBatch(n, order)
	err := parallel(context.Background(), workers, n, 16, func(_, i int) error {
		return b.Set(i, packed[i*size:(i+1)*size])
	})
	return b, err
}

func checkFinite(what string, x []float64) error {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s %d is %v, want a finite number", what, i, v)
		}
	}
	return nil
}

// Attributes returns the number of attributes per vertex that the base kernel has seen in
// training; new graphs must have as many. It is 0 if the base kernel does not look at
// attributes, or saw no vertex.
func (m *Model) Attributes() int {
	dim := 0
	if d := m.levels[0].desc; len(d) > 0 {
		if err := checkDescriptor(m.base, d[0], &dim); err != nil {
			return 0
		}
	}
	return dim
}

// checkDescriptor returns an error unless d can be a descriptor of a base kernel of this
// package. dim is the number of attributes, 0 as long as it is not known.
func checkDescriptor(b Base, d string, dim *int) error {
	switch b := b.(type) {
	case *oneHot:
		return nil
	case *wlBase:
		if want := (b.h + 1) * colourBytes; len(d) != want {
			return fmt.Errorf("%d bytes, want %d for %s", len(d), want, b)
		}
		return nil
	case *vectors:
		if len(d) == 0 || len(d)%8 != 0 {
			return fmt.Errorf("%d bytes for %s, want 8 for each number", len(d), b)
		}
		n, want := len(d)/8, *dim
		if times, ok := strings.CutPrefix(b.name, "heat("); ok {
			want = strings.Count(times, ",") + 1
		} else if *dim == 0 {
			*dim, want = n, n
		}
		if n != want {
			return fmt.Errorf("%d numbers for %s, want %d", n, b, want)
		}
		return checkFinite("number", floats(nil, d))
	case *pair:
		n, k := binary.Uvarint([]byte(d[:min(len(d), binary.MaxVarintLen64)]))
		if k <= 0 || n > uint64(len(d)-k) {
			return fmt.Errorf("%d bytes that are not two descriptors, as %s wants", len(d), b)
		}
		x, y := splitPair(d)
		if err := checkDescriptor(b.a, x, dim); err != nil {
			return err
		}
		return checkDescriptor(b.b, y, dim)
	}
	return fmt.Errorf("the base kernel %s is not of this package", b)
}
