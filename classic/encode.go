package classic

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Features are written as
//
//	kind                                 one byte: of the values
//	graphs, blocks                       how many there are
//	features                             by block: how many there are
//	hashes                               of the features, 8 bytes each, ascending in a block
//	n, gap, value, gap, value, …         by graph: number of its features; the number of features
//	                                     that it does not have before each; its value
//
// Numbers are varints, except real values, which are float64. Graphs that are compared pair by pair
// follow the kind as they are.

const (
	wholeValues = iota
	realValues
	wholeGraphs
)

// AppendBinary implements kernel.Features. It leaves out features that no graph has.
func (x *vectors) AppendBinary(b []byte) ([]byte, error) {
	if len(x.graphs) > 0 {
		list := make([]*graph.Graph, len(x.graphs))
		for i, g := range x.graphs {
			list[i] = g.Graph
		}
		return append(append(b, wholeGraphs), graph.Encode(list)...), nil
	}
	place := make([]uint32, len(x.table.id)) // 1 for features that some graph has, then their places
	for _, p := range x.at {
		place[p] = 1
	}
	if x.count != nil {
		b = append(b, wholeValues)
	} else {
		b = append(b, realValues)
	}
	b = binary.AppendUvarint(b, uint64(x.Len()))
	b = binary.AppendUvarint(b, uint64(len(x.table.end)))
	var hashes []byte
	next := uint32(0)
	for k := range x.table.end {
		from, to := x.table.block(k)
		before := next
		for p := from; p < to; p++ {
			if place[p] == 1 {
				hashes = binary.LittleEndian.AppendUint64(hashes, x.table.id[p])
				place[p] = next
				next++
			}
		}
		b = binary.AppendUvarint(b, uint64(next-before))
	}
	b = append(b, hashes...)
	for i := range x.Len() {
		b = binary.AppendUvarint(b, uint64(x.start[i+1]-x.start[i]))
		free := uint32(0)
		for k := x.start[i]; k < x.start[i+1]; k++ {
			p := place[x.at[k]]
			b = binary.AppendUvarint(b, uint64(p-free))
			free = p + 1
			if x.count != nil {
				b = binary.AppendUvarint(b, uint64(x.count[k]))
			} else {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x.val[k]))
			}
		}
	}
	return b, nil
}

// DecodeFeatures implements kernel.Map. Features that are compared pair by pair are made again.
func (m *countMap) DecodeFeatures(data []byte) (kernel.Features, error) {
	if m.compare != nil && len(data) > 0 && data[0] == wholeGraphs {
		graphs, err := kernel.DecodeGraphs(data[1:])
		if err != nil {
			return nil, m.error(err)
		}
		return m.Transform(context.Background(), graphs.(*kernel.Graphs).List)
	}
	x, err := m.decodeVectors(data)
	if err != nil {
		return nil, m.error(err)
	}
	return x, nil
}

// decodeVectors reads vectors. Whatever it allocates is in proportion to the data.
func (m *countMap) decodeVectors(data []byte) (*vectors, error) {
	r := reader{data: data}
	kind, graphs, blocks := r.byte(), r.size(1), r.uvarint()
	if r.err == nil && (kind > realValues || m.minimum && kind != wholeValues || blocks != uint64(len(m.weights)) || m.compare != nil && graphs > 0) {
		r.err = fmt.Errorf("%d blocks of features of kind %d: these are of another kernel", blocks, kind)
	}
	x := &vectors{table: &table{end: make([]int, len(m.weights))}, start: make([]int, 1, graphs+1)}
	features := 0
	for b := range x.table.end {
		features += r.size(8)
		x.table.end[b] = features
	}
	x.table.id = make([]uint64, r.within(features, 8))
	for b := range x.table.end {
		from, to := x.table.block(b)
		for p := from; p < to && r.err == nil; p++ {
			if x.table.id[p] = r.uint64(); p > from && x.table.id[p] <= x.table.id[p-1] {
				r.err = errors.New("hashes are not in ascending order")
			}
		}
	}
	for i := 0; i < graphs && r.err == nil; i++ {
		free := uint64(0)
		for n := r.size(2); n > 0 && r.err == nil; n-- {
			p := r.uvarint()
			if p >= uint64(features)-free {
				r.fail(fmt.Errorf("graph %d: a feature beyond the last of %d", i, features))
				break
			}
			p += free
			free = p + 1
			x.at = append(x.at, uint32(p))
			if kind == wholeValues {
				c := r.uvarint()
				if c > math.MaxUint32 {
					r.fail(fmt.Errorf("graph %d: a value of %d, want less than 2³²", i, c))
				}
				x.count = append(x.count, uint32(c))
			} else {
				x.val = append(x.val, math.Float64frombits(r.uint64()))
			}
		}
		x.start = append(x.start, len(x.at))
	}
	if r.end(); r.err != nil {
		return nil, r.err
	}
	x.self = make([]float64, graphs)
	var v vector
	for i := range x.self {
		x.entries(&v, i)
		x.self[i] = m.selfSimilarity(v.entries)
		if err := m.checkSelf(x.self[i]); err != nil {
			return nil, graphError(i, err)
		}
	}
	return x.finish(), nil
}

// reader takes numbers off the front of bytes. It returns zeros after an error.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) uvarint() uint64 {
	x, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.fail(errors.New("the data end early"))
		r.data = nil
		return 0
	}
	r.data = r.data[n:]
	return x
}

func (r *reader) byte() byte {
	if len(r.data) == 0 {
		r.fail(errors.New("the data end early"))
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

func (r *reader) uint64() uint64 {
	if len(r.data) < 8 {
		r.fail(errors.New("the data end early"))
		return 0
	}
	x := binary.LittleEndian.Uint64(r.data)
	r.data = r.data[8:]
	return x
}

// size reads how many things follow that take so many bytes each at least.
func (r *reader) size(bytes int) int {
	n := r.uvarint()
	return r.within(int(min(n, math.MaxInt32)), bytes)
}

// within returns n, or 0 with an error if there is no room for n things of so many bytes.
func (r *reader) within(n, bytes int) int {
	if n > len(r.data)/bytes {
		r.fail(fmt.Errorf("%d things of at least %d bytes, but %d bytes are left", n, bytes, len(r.data)))
	}
	if r.err != nil {
		return 0
	}
	return n
}

// section reads what kernel.AppendSection wrote.
func (r *reader) section() []byte {
	if r.err != nil {
		return nil
	}
	data, rest, err := kernel.Section(r.data)
	r.data, r.err = rest, err
	return data
}

// end notes an error if something is left.
func (r *reader) end() {
	if len(r.data) > 0 {
		r.fail(fmt.Errorf("%d bytes behind the last graph", len(r.data)))
	}
}
