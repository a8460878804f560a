package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
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

// Space is the kernel of a model as a function of records,
//
//	k(G, H) = Σ_t weight_t · Π_j k_tj(G, H),
//
// with low-rank kernels k_tj. Its methods may be called concurrently.
type Space struct {
	factors     []factor
	terms       []term
	orders      [][]int // by factor and level
	sizes       []int   // by factor: numbers in a record
	size        int     // of a record
	fingerprint Digest
}

// factor is a kernel of a product; those that occur more than once are kept once.
type factor struct {
	fitted *mlg.Model
}

// term is a product of factors, by their positions, with a weight.
type term struct {
	weight  float64
	factors []int
}

// take takes the terms of the kernel from a model. It is an error if a factor is not a
// low-rank kernel: others have no matrices S.
func (s *Space) take(m *model.Model) error {
	for _, k := range m.Kernels {
		s.terms = append(s.terms, term{k.Weight, []int{s.factor(factor{k.Fitted})}})
	}
	return nil
}

// factor returns the position of a factor.
func (s *Space) factor(f factor) int {
	if i := slices.Index(s.factors, f); i >= 0 {
		return i
	}
	s.factors = append(s.factors, f)
	return len(s.factors) - 1
}

// transform returns the covariances of graphs.
func (f factor) transform(ctx context.Context, graphs []*graph.Graph) (*mlg.Covariances, error) {
	return f.fitted.Transform(ctx, graphs)
}

// NewSpace returns the space of a model. It is an error if the model cannot be stored.
func NewSpace(m *model.Model) (*Space, error) {
	f, err := m.Fingerprint()
	if err != nil {
		return nil, err
	}
	s := &Space{fingerprint: f}
	if err := s.take(m); err != nil {
		return nil, err
	}
	for _, f := range s.factors {
		orders := f.fitted.Orders()
		size := 0
		for _, p := range orders {
			size += spd.Size(p)
		}
		s.orders = append(s.orders, orders)
		s.sizes = append(s.sizes, size)
		s.size += size
	}
	if s.size == 0 {
		return nil, errors.New("a model without a kernel")
	}
	return s, nil
}

// String writes the kernel out, with weights where there are several terms.
func (s *Space) String() string {
	var terms []string
	for _, t := range s.terms {
		var product []string
		for _, f := range t.factors {
			product = append(product, mlg.NewKernel(s.factors[f].fitted.Options()).String())
		}
		name := strings.Join(product, " × ")
		if len(s.terms) > 1 {
			name = fmt.Sprintf("%v·(%s)", t.weight, name)
		}
		terms = append(terms, name)
	}
	return strings.Join(terms, " + ")
}

// Fingerprint identifies the model: see model.Model.Fingerprint.
func (s *Space) Fingerprint() Digest { return s.fingerprint }

// Size returns the number of numbers in a record.
func (s *Space) Size() int { return s.size }

// Orders returns the orders of the matrices of a record, by kernel and level. A kernel that
// the model uses more than once is there once.
func (s *Space) Orders() [][]int { return s.orders }

// Self returns the kernel of a record with itself, which is the sum of the weights for all.
func (s *Space) Self() float64 {
	sum := 0.0
	for _, t := range s.terms {
		sum += t.weight
	}
	return sum
}

// Transform returns the records of graphs, one after the other. The record of a graph
// depends on the model and the graph alone, to the bit.
func (s *Space) Transform(ctx context.Context, graphs []*graph.Graph) ([]float64, error) {
	all := make([]*mlg.Covariances, len(s.factors))
	for i, f := range s.factors {
		var err error
		if all[i], err = f.transform(ctx, graphs); err != nil {
			return nil, err
		}
	}
	return s.records(all, len(graphs)), nil
}

// Train returns the records of the model's training graphs.
func (s *Space) Train() Memory {
	all := make([]*mlg.Covariances, len(s.factors))
	for i, f := range s.factors {
		all[i] = f.fitted.Train()
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
	factors []*mlg.Covariances
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
	for k, f := range s.factors {
		mine := records
		if len(s.factors) > 1 {
			mine = s.part(records, k)
		}
		c, err := f.fitted.Covariances(mine)
		if err != nil {
			return nil, err
		}
		b.factors = append(b.factors, c)
	}
	return b, nil
}

// part returns what belongs to factor k of records.
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
	rectangle := func(f int, dst []float64, stride int) {
		s.factors[f].fitted.Rectangle(dst, stride, a.factors[f], i0, i1, b.factors[f], j0, j1)
	}
	if len(s.terms) == 1 && len(s.factors) == 1 && len(s.terms[0].factors) == 1 && s.terms[0].weight == 1 {
		rectangle(0, dst, stride)
		return
	}
	height, width := i1-i0, j1-j0
	values := make([][]float64, len(s.factors))
	for f := range values {
		values[f] = make([]float64, height*width)
		rectangle(f, values[f], width)
	}
	product := make([]float64, height*width)
	for k, t := range s.terms {
		// The order of operations is that of the model, so that the bits are.
		copy(product, values[t.factors[0]])
		for _, f := range t.factors[1:] {
			for i, v := range values[f] {
				product[i] *= v
			}
		}
		if t.weight != 1 {
			for i := range product {
				product[i] *= t.weight
			}
		}
		for i := range height {
			row, from := dst[i*stride:][:width], product[i*width:][:width]
			if k == 0 {
				copy(row, from)
				continue
			}
			for j, v := range from {
				row[j] += v
			}
		}
	}
}
