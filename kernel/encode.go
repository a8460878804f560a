package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
)

// AppendSection appends the length of data, its bytes, and zeros up to a multiple of 8.
func AppendSection(b, data []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(data)))
	b = append(b, data...)
	return append(b, make([]byte, -len(data)&7)...)
}

// Section returns the data that AppendSection wrote, and what is behind it.
func Section(b []byte) (data, rest []byte, err error) {
	if len(b) < 8 {
		return nil, nil, errors.New("the data end early")
	}
	n := binary.LittleEndian.Uint64(b)
	if b = b[8:]; n > uint64(len(b)) || n+(-n&7) > uint64(len(b)) {
		return nil, nil, fmt.Errorf("a section of %d bytes, but %d are left", n, len(b))
	}
	return b[:n:n], b[n+(-n&7):], nil
}

// sections returns n sections, which must be all there is.
func sections(b []byte, n int) ([][]byte, error) {
	out := make([][]byte, n)
	for i := range out {
		var err error
		if out[i], b, err = Section(b); err != nil {
			return nil, err
		}
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%d bytes behind the last section", len(b))
	}
	return out, nil
}

// AppendBinary implements Map. It writes the standardisation of attributes, empty where no factor
// needs one, and the map of every factor.
func (s *FittedSum) AppendBinary(b []byte) ([]byte, error) {
	var standard []byte
	if s.standardizes() {
		x, err := s.In.Standardization()
		if err != nil {
			return nil, err
		}
		for d, m := range x.Mean {
			standard = binary.LittleEndian.AppendUint64(standard, math.Float64bits(m))
			standard = binary.LittleEndian.AppendUint64(standard, math.Float64bits(x.Scale[d]))
		}
	}
	b = AppendSection(b, standard)
	for _, f := range s.Factors {
		fitted := f.Known()
		if fitted == nil {
			return nil, fmt.Errorf("%s is not fitted", f)
		}
		data, err := fitted.AppendBinary(nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		b = AppendSection(b, data)
	}
	return b, nil
}

// standardizes reports whether some factor wants standardised attributes.
func (s *FittedSum) standardizes() bool {
	for _, f := range s.Factors {
		if f.Standardize {
			return true
		}
	}
	return false
}

// Decode implements Kernel.
func (s Sum) Decode(data []byte) (Map, error) {
	sums, err := DecodeSums(data, nil, s)
	if err != nil {
		return nil, err
	}
	return sums[0], nil
}

// DecodeSums returns kernels as sums over graphs that share their factors (Collection.Joint), with the map that
// FittedSum.AppendBinary wrote of one of them. Features of the graphs are still to be adopted.
func DecodeSums(data []byte, graphs []*graph.Graph, kernels ...Kernel) ([]*FittedSum, error) {
	sums, err := NewCollection(graphs).Joint(kernels...)
	if err != nil {
		return nil, err
	}
	m := sums[0]
	parts, err := sections(data, 1+len(m.Factors))
	if err != nil {
		return nil, err
	}
	if m.standardizes() {
		x := &Standardization{}
		for d := parts[0]; len(d) >= 16; d = d[16:] {
			x.Mean = append(x.Mean, math.Float64frombits(binary.LittleEndian.Uint64(d)))
			x.Scale = append(x.Scale, math.Float64frombits(binary.LittleEndian.Uint64(d[8:])))
		}
		if err := x.Validate(); err != nil {
			return nil, err
		}
		m.In.standard = x
	}
	for i, f := range m.Factors {
		of, err := f.InForm().Decode(parts[1+i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		if f.Of != "" {
			of = mapOfRows(of)
		}
		f.fitted = &Fitted{Map: of}
	}
	return sums, nil
}

// AdoptTrain takes the features of the collection's graphs, as Features.AppendBinary wrote them, for all sums that
// share the factors. It must be called before they are used.
func (s *FittedSum) AdoptTrain(data []byte) error {
	a, err := s.DecodeFeatures(data)
	if err != nil {
		return err
	}
	for i, f := range s.Factors {
		f.fitted = &Fitted{f.fitted.Map, a.(*sumFeatures).of[i]}
	}
	return nil
}

// AppendBinary implements Features: those of every factor.
func (x *sumFeatures) AppendBinary(b []byte) ([]byte, error) {
	for _, f := range x.of {
		data, err := f.AppendBinary(nil)
		if err != nil {
			return nil, err
		}
		b = AppendSection(b, data)
	}
	return b, nil
}

// DecodeFeatures implements Map.
func (s *FittedSum) DecodeFeatures(data []byte) (Features, error) {
	parts, err := sections(data, len(s.Factors))
	if err != nil {
		return nil, err
	}
	out := &sumFeatures{}
	for i, f := range s.Factors {
		of, err := f.Known().DecodeFeatures(parts[i])
		if err == nil && i > 0 && of.Len() != out.Len() {
			err = fmt.Errorf("%d graphs, want %d as for the first kernel", of.Len(), out.Len())
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		out.of = append(out.of, of)
	}
	return out, nil
}
