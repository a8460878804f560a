package learn

import (
	"encoding/binary"
	"fmt"
)

// Fold returns the sums of a fold as bytes: the number of examples, whether sums are carried (1) or not (0), and the
// numbers of the lower triangle by rows of strips, low parts and then high ones, 8 bytes each in little endian.
func (s *Sums) Fold(f int) []byte {
	t := &s.folds[f]
	b := make([]byte, 0, s.foldBytes(t.high != nil))
	b = binary.LittleEndian.AppendUint64(b, uint64(t.examples))
	carried := uint64(0)
	if t.high != nil {
		carried = 1
	}
	b = binary.LittleEndian.AppendUint64(b, carried)
	if t.low == nil {
		return b[:cap(b)] // zeros
	}
	for _, strips := range [][][]int64{t.low, t.high} {
		for _, strip := range strips {
			for _, v := range strip {
				b = binary.LittleEndian.AppendUint64(b, uint64(v))
			}
		}
	}
	return b
}

// foldBytes returns the number of bytes of Fold.
func (f *Frame) foldBytes(carried bool) int64 {
	t, numbers := triangle{order: f.order()}, int64(0)
	for k := 0; k*stripRows < t.order; k++ {
		first, last := t.rows(k)
		numbers += int64(last-first) * int64(last)
	}
	if carried {
		numbers *= 2
	}
	return 8 * (2 + numbers)
}

// DecodeSums returns the sums in the bytes of all folds, which it does not keep.
func DecodeSums(f Frame, folds [][]byte) (*Sums, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if len(folds) != f.Folds {
		return nil, fmt.Errorf("learn: sums of %d folds, want %d", len(folds), f.Folds)
	}
	s := newSums(f)
	for k, b := range folds {
		if err := s.JoinFold(k, b); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// JoinFold adds the sums of other examples of a fold, from the bytes of Fold.
func (s *Sums) JoinFold(fold int, b []byte) error {
	le := binary.LittleEndian
	if fold < 0 || fold >= s.Folds {
		return fmt.Errorf("learn: sums of fold %d, want one of %d", fold+1, s.Folds)
	}
	if len(b) < 16 || le.Uint64(b[8:]) > 1 || int64(len(b)) != s.foldBytes(le.Uint64(b[8:]) == 1) {
		return fmt.Errorf("learn: sums of fold %d have %d bytes, want %d", fold+1, len(b), s.foldBytes(false))
	}
	examples, high := le.Uint64(b), le.Uint64(b[8:]) == 1
	if (examples > carried) != high || examples > 1<<53 {
		return fmt.Errorf("learn: sums of fold %d are of %d examples", fold+1, examples)
	}
	t := newTriangle(s.order())
	t.examples, t.low = int(examples), t.zeros()
	parts := [][][]int64{t.low}
	if high {
		t.high = t.zeros()
		parts = append(parts, t.high)
	}
	b = b[16:]
	for p, strips := range parts {
		for _, strip := range strips {
			for i := range strip {
				v := int64(le.Uint64(b[8*i:]))
				if high && p == 0 && v>>32 != 0 {
					return fmt.Errorf("learn: sums of fold %d are not carried", fold+1)
				}
				strip[i] = v
			}
			b = b[8*len(strip):]
		}
	}
	if s.folds[fold].examples == 0 {
		s.folds[fold] = t
	} else {
		s.folds[fold].join(t)
	}
	return nil
}
