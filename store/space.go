package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/spd"
)

// Digest is a SHA-256 hash. In text it is hexadecimal.
type Digest [sha256.Size]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText implements encoding.TextMarshaler.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Digest) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(d) {
		return fmt.Errorf("digest %q, want %d hexadecimal digits", text, 2*len(d))
	}
	copy(d[:], b)
	return nil
}

// Sum returns the digest of records: the SHA-256 hash of their numbers in little-endian order.
func Sum(records []float64) Digest {
	h := sha256.New()
	var buf [8 << 10]byte
	for len(records) > 0 {
		n := min(len(records), len(buf)/8)
		for i, x := range records[:n] {
			binary.LittleEndian.PutUint64(buf[8*i:], math.Float64bits(x))
		}
		h.Write(buf[:8*n])
		records = records[n:]
	}
	return Digest(h.Sum(nil))
}

// Space is the kernel of a model as a function of records. Its methods may be called
// concurrently.
type Space struct {
	kernels     []part
	orders      [][]int // by kernel and level
	sizes       []int   // by kernel: numbers in a record
	size        int     // of a record
	fingerprint Digest
}

// part is a term of the kernel of a model.
type part struct {
	weight float64
	fitted *mlg.Model
}

// parts returns the terms of the kernel of a model.
func parts(m *model.Model) ([]part, error) {
	var out []part
	for _, k := range m.Kernels {
		out = append(out, part{k.Weight, k.Fitted})
	}
	return out, nil
}

// NewSpace returns the space of a model. It is an error if the model cannot be stored.
func NewSpace(m *model.Model) (*Space, error) {
	f, err := m.Fingerprint()
	if err != nil {
		return nil, err
	}
	s := &Space{fingerprint: f}
	if s.kernels, err = parts(m); err != nil {
		return nil, err
	}
	for _, k := range s.kernels {
		orders := k.fitted.Orders()
		size := 0
		for _, p := range orders {
			size += spd.Size(p)
		}
		s.orders = append(s.orders, orders)
		s.sizes = append(s.sizes, size)
		s.size += size
	}
	if s.size == 0 {
		return nil, fmt.Errorf("a model without a kernel")
	}
	return s, nil
}

// String names the kernels of the model, with their weights where there are several.
func (s *Space) String() string {
	var names []string
	for _, k := range s.kernels {
		name := mlg.NewKernel(k.fitted.Options()).String()
		if len(s.kernels) > 1 {
			name = fmt.Sprintf("%v·(%s)", k.weight, name)
		}
		names = append(names, name)
	}
	return strings.Join(names, " + ")
}

// Fingerprint identifies the model: see model.Model.Fingerprint.
func (s *Space) Fingerprint() Digest { return s.fingerprint }

// Size returns the number of numbers in a record.
func (s *Space) Size() int { return s.size }

// Orders returns the orders of the matrices of a record, by kernel and level.
func (s *Space) Orders() [][]int { return s.orders }

// Self returns the kernel of a record with itself, which is the sum of the weights for all.
func (s *Space) Self() float64 {
	sum := 0.0
	for _, k := range s.kernels {
		sum += k.weight
	}
	return sum
}

// Transform returns the records of graphs, one after the other. The record of a graph
// depends on the model and the graph alone, to the bit.
func (s *Space) Transform(ctx context.Context, graphs []*graph.Graph) ([]float64, error) {
	all := make([]*mlg.Covariances, len(s.kernels))
	for i, k := range s.kernels {
		var err error
		if all[i], err = k.fitted.Transform(ctx, graphs); err != nil {
			return nil, err
		}
	}
	return s.records(all, len(graphs)), nil
}

// Train returns the records of the model's training graphs.
func (s *Space) Train() Memory {
	all := make([]*mlg.Covariances, len(s.kernels))
	for i, k := range s.kernels {
		all[i] = k.fitted.Train()
	}
	return Memory{s.size, s.records(all, all[0].Len())}
}

func (s *Space) records(all []*mlg.Covariances, n int) []float64 {
	out := make([]float64, n*s.size)
	for i := range n {
		rest := out[i*s.size : (i+1)*s.size]
		for k, c := range all {
			c.Packed(i, rest[:s.sizes[k]])
			rest = rest[s.sizes[k]:]
		}
	}
	return out
}

// Source is a collection of records.
type Source interface {
	// Len returns the number of records.
	Len() int
	// Records returns the records lo … hi-1, one after the other. They must not be changed.
	Records(lo, hi int) ([]float64, error)
}

// Memory is a Source in memory.
type Memory struct {
	Size int       // numbers in a record
	Data []float64 // the records, one after the other
}

// Len implements Source.
func (m Memory) Len() int { return len(m.Data) / m.Size }

// Records implements Source.
func (m Memory) Records(lo, hi int) ([]float64, error) {
	return m.Data[lo*m.Size : hi*m.Size : hi*m.Size], nil
}

// Block is a number of records, laid out to be compared. It keeps nothing of the records
// that it was made of, and is not changed by anything.
type Block struct {
	n       int
	kernels []*mlg.Covariances
}

// Len returns the number of records.
func (b *Block) Len() int { return b.n }

// Block returns the block of records, one after the other. It is an error if they are not
// records of the space: of another length, not finite, or with a matrix that is not positive
// definite. It runs in the calling goroutine.
func (s *Space) Block(records []float64) (*Block, error) {
	if len(records)%s.size != 0 {
		return nil, fmt.Errorf("%d numbers, want a multiple of %d, the numbers of a record", len(records), s.size)
	}
	b := &Block{n: len(records) / s.size}
	for k, kernel := range s.kernels {
		mine := records
		if len(s.kernels) > 1 {
			mine = s.part(records, k)
		}
		c, err := kernel.fitted.Covariances(mine)
		if err != nil {
			return nil, err
		}
		b.kernels = append(b.kernels, c)
	}
	return b, nil
}

// part returns what belongs to kernel k of records.
func (s *Space) part(records []float64, k int) []float64 {
	at := 0
	for _, n := range s.sizes[:k] {
		at += n
	}
	n := s.sizes[k]
	out := make([]float64, 0, len(records)/s.size*n)
	for ; at < len(records); at += s.size {
		out = append(out, records[at:at+n]...)
	}
	return out
}

// Compare sets dst[(i−i0)·stride + (j−j0)] to the kernel of record i of a and record j of b,
// for i0 ≤ i < i1 and j0 ≤ j < j1, in the calling goroutine. A value depends on its two
// records alone and has the bits that the model's Gram and Cross give. Where both ranges are
// the same range of one block, each pair is computed once.
func (s *Space) Compare(dst []float64, stride int, a *Block, i0, i1 int, b *Block, j0, j1 int) {
	width := j1 - j0
	var other []float64
	for k, kernel := range s.kernels {
		to, step := dst, stride
		if k > 0 {
			if other == nil {
				other = make([]float64, (i1-i0)*width)
			}
			to, step = other, width
		}
		kernel.fitted.Rectangle(to, step, a.kernels[k], i0, i1, b.kernels[k], j0, j1)
		for i := range i1 - i0 {
			row := to[i*step:][:width]
			if kernel.weight != 1 {
				for j := range row {
					row[j] *= kernel.weight
				}
			}
			if k > 0 {
				sum := dst[i*stride:][:width]
				for j, v := range row {
					sum[j] += v
				}
			}
		}
	}
}
