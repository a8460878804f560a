package mlg

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/vertex"
)

// mapHead is the first section of an encoded model.
type mapHead struct {
	Base   string      `json:"base"`
	Levels []levelHead `json:"levels"` // 0 … L
}

// levelHead says what turns the neighbourhoods of one level into features.
type levelHead struct {
	// Explicit says that the base kernel's own features are used (level 0 only). Descriptors then has
	// training vertices with every one-hot feature in their order.
	Explicit    bool     `json:"explicit,omitempty"`
	Descriptors [][]byte `json:"descriptors,omitempty"` // level 0: of the landmarks
	Landmarks   int      `json:"landmarks"`             // explicit: descriptors
	Features    int      `json:"features"`
}

// AppendBinary implements kernel.Map: a head in JSON, and for each level sections of numbers: the
// matrices of its landmarks one after the other, packed, the weights that make features of kernel values
// with them, and the eigenvalues.
func (m *LowRank) AppendBinary(b []byte) ([]byte, error) {
	head := mapHead{Base: m.base.String()}
	for _, p := range m.projections {
		l := levelHead{Explicit: p.explicit != nil, Landmarks: p.n, Features: p.p}
		for _, d := range p.descriptors {
			l.Descriptors = append(l.Descriptors, []byte(d))
		}
		head.Levels = append(head.Levels, l)
	}
	text, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	b = kernel.AppendSection(b, text)
	for _, p := range m.projections {
		var marks []float64
		if p.marks != nil {
			for i := range p.n {
				marks = append(marks, p.marks.At(i, nil)...)
			}
		}
		for _, x := range [][]float64{marks, p.w, p.values} {
			b = kernel.AppendSection(b, file.Bytes(x))
		}
	}
	return b, nil
}

// Decode implements kernel.Kernel. Everything is checked, so damaged data give an error and not a
// model that panics.
func (k Kernel) Decode(data []byte) (kernel.Map, error) {
	if sum, ok := k.AsSum(nil, kernel.Form{}); ok {
		return sum.Decode(data)
	}
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if k.Exact {
		k.Base = string(data)
		if _, err := vertex.Parse(k.Base); err != nil {
			return nil, err
		}
		return exactMap{k}, nil
	}
	text, data, err := kernel.Section(data)
	if err != nil {
		return nil, err
	}
	var head mapHead
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	m := &LowRank{kernel: k}
	if m.base, err = vertex.Parse(head.Base); err != nil {
		return nil, err
	}
	if m.kernel.Base != "" && m.base.String() != m.kernel.Base {
		if own, err := vertex.Parse(k.Base); err != nil || own.String() != m.base.String() {
			return nil, fmt.Errorf("base kernel %s, want %s", head.Base, k.Base)
		}
	}
	if len(head.Levels) != len(k.Radii)+1 {
		return nil, fmt.Errorf("%d levels for %d radii, want one level more than radii", len(head.Levels), len(k.Radii))
	}
	for i, l := range head.Levels {
		var numbers [3][]float64
		for j := range numbers {
			var section []byte
			if section, data, err = kernel.Section(data); err != nil {
				return nil, fmt.Errorf("level %d: %w", i, err)
			}
			if len(section)%8 != 0 {
				return nil, fmt.Errorf("level %d: a section of %d bytes, want 8 for each number", i, len(section))
			}
			numbers[j] = slices.Clone(file.Floats(section))
		}
		p, err := l.projection(m, numbers[0], numbers[1], numbers[2])
		if err != nil {
			return nil, fmt.Errorf("level %d: %w", i, err)
		}
		m.projections = append(m.projections, *p)
	}
	if len(data) > 0 {
		return nil, fmt.Errorf("%d bytes behind the last level", len(data))
	}
	return m, nil
}

// projection returns the projection of the next level of a model.
func (l *levelHead) projection(m *LowRank, marks, w, values []float64) (*projection, error) {
	p := &projection{n: l.Landmarks, p: l.Features, w: w, values: values}
	for _, d := range l.Descriptors {
		p.descriptors = append(p.descriptors, string(d))
	}
	if level := len(m.projections); level == 0 {
		if l.Landmarks != len(p.descriptors) || len(marks) > 0 {
			return nil, fmt.Errorf("%d landmarks with %d descriptors and %d numbers, want one descriptor each",
				l.Landmarks, len(p.descriptors), len(marks))
		}
		if _, err := vertex.Check(m.base, p.descriptors); err != nil {
			return nil, err
		}
	} else {
		if l.Explicit || len(p.descriptors) > 0 {
			return nil, errors.New("explicit features or descriptors, which only level 0 can have")
		}
		if err := p.setMarks(marks, m.projections[level-1].p); err != nil {
			return nil, err
		}
		p.factor(&m.kernel)
	}
	if !l.Explicit {
		return p, p.check()
	}
	if len(w) > 0 || len(values) > 0 || l.Features > maxExplicit {
		return nil, fmt.Errorf("%d explicit features with %d weights and %d eigenvalues, want at most %d and no weights",
			l.Features, len(w), len(values), maxExplicit)
	}
	p.explicit, p.p, _ = m.base.Features(p.descriptors, maxExplicit)
	if p.p != l.Features || p.p == 0 {
		return nil, fmt.Errorf("%d explicit features, but the descriptors have %d", l.Features, p.p)
	}
	return p, nil
}

// setMarks sets the covariances of the landmarks, matrices of an order.
func (p *projection) setMarks(packed []float64, order int) error {
	size := spd.Size(order)
	if p.n < 0 || len(packed)%size != 0 || len(packed)/size != p.n {
		return fmt.Errorf("%d numbers in the matrices of %d landmarks, want %d each", len(packed), p.n, size)
	}
	p.marks = spd.NewBatch(p.n, order)
	for i := range p.n {
		if err := p.marks.Set(i, packed[i*size:(i+1)*size]); err != nil {
			return err
		}
	}
	return nil
}

// check checks the linear part of a level.
func (p *projection) check() error {
	if p.p < 1 || p.p > max(1, p.n) {
		return fmt.Errorf("%d features of %d landmarks, want at least 1 and no more than landmarks", p.p, p.n)
	}
	if len(p.w) != p.n*p.p {
		return fmt.Errorf("%d weights, want %d×%d", len(p.w), p.n, p.p)
	}
	if len(p.values) != p.p && !(p.p == 1 && len(p.values) == 0) {
		return fmt.Errorf("%d eigenvalues, want %d, one for each feature", len(p.values), p.p)
	}
	for i, v := range p.values {
		if !(v > 0) || math.IsInf(v, 1) || i > 0 && v > p.values[i-1] {
			return fmt.Errorf("eigenvalue %d is %v, want positive, finite numbers in descending order", i, v)
		}
	}
	for i, v := range p.w {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("weight %d is %v, want a finite number", i, v)
		}
	}
	return nil
}
