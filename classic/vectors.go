package classic

import (
	"math"
	"slices"
	"sync"
	"weak"

	"github.com/mlgkernel/mlg/kernel"
)

// entry is one coordinate of the feature vector of a graph.
type entry struct {
	id    uint64 // hash of the feature; it decides the block
	block uint32
	val   float64
}

// compare orders features by block and hash.
func (e entry) compare(o entry) int {
	switch {
	case e.block != o.block:
		return int(e.block) - int(o.block)
	case e.id < o.id:
		return -1
	case e.id > o.id:
		return 1
	}
	return 0
}

// vector is the feature vector of one graph as it is made.
type vector struct {
	entries []entry
	shares  []int // ends of runs of entries whose squares add up to 1; none for counts
}

// add adds a feature of block 0.
func (v *vector) add(id uint64, value float64) {
	v.entries = append(v.entries, entry{id: id, val: value})
}

// addKey adds a feature that is known by a key of whole numbers.
func (v *vector) addKey(block uint32, value float64, key ...uint64) {
	v.entries = append(v.entries, entry{hashWords(key...), block, value})
}

func (v *vector) reset() { v.entries, v.shares = v.entries[:0], v.shares[:0] }

// sort orders the entries by block and hash, and adds up those of one feature.
func (v *vector) sort() {
	slices.SortFunc(v.entries, entry.compare)
	kept := v.entries[:0]
	for _, e := range v.entries {
		if n := len(kept); n > 0 && kept[n-1].id == e.id && kept[n-1].block == e.block {
			kept[n-1].val += e.val
			continue
		}
		kept = append(kept, e)
	}
	v.entries = kept
}

// table holds the different features of some graphs, by block and hash. A feature is known by its
// position.
type table struct {
	id  []uint64
	end []int // by block: first position behind it
}

// absent is the position of a feature that a table does not have.
const absent = math.MaxUint32

// block returns the positions of a block.
func (t *table) block(b int) (from, to int) {
	if b > 0 {
		from = t.end[b-1]
	}
	return from, t.end[b]
}

// find returns the position of a feature, or absent.
func (t *table) find(block uint32, id uint64) uint32 {
	from, to := t.block(int(block))
	if at, ok := slices.BinarySearch(t.id[from:to], id); ok {
		return uint32(from + at)
	}
	return absent
}

// positionsIn returns where the features of t are in another table.
func (t *table) positionsIn(o *table) []uint32 {
	out := make([]uint32, len(t.id))
	for b := range t.end {
		from, to := t.block(b)
		next, end := o.block(b)
		few := 16*(to-from) < end-next
		for i, id := range t.id[from:to] {
			if few {
				at, _ := slices.BinarySearch(o.id[next:end], id)
				next += at
			}
			for next < end && o.id[next] < id {
				next++
			}
			out[from+i] = absent
			if next < end && o.id[next] == id {
				out[from+i] = uint32(next)
			}
		}
	}
	return out
}

// union returns the table of all features of tables.
func union(tables []*table, blocks int) *table {
	out := &table{}
	for b := range blocks {
		start := len(out.id)
		for _, t := range tables {
			from, to := t.block(b)
			out.id = append(out.id, t.id[from:to]...)
		}
		slices.Sort(out.id[start:])
		out.id = out.id[:start+len(slices.Compact(out.id[start:]))]
		out.end = append(out.end, len(out.id))
	}
	return out
}

// vectors are the features of graphs that a recipe counts. The features of a graph are sorted by
// their positions in the table.
type vectors struct {
	table *table
	start []int     // by graph: where its features start; one more at the end
	at    []uint32  // positions
	count []uint32  // values if all are whole and below 2³², else nil
	val   []float64 // values otherwise
	self  []float64 // by graph: its kernel with itself, not normalised
	exact bool      // sums of products of values are whole numbers below 2⁵³, whatever their order

	graphs   []*coloured // with compare only
	anyLarge bool

	mu       sync.Mutex
	sections []section
	last     weak.Pointer[table] // the other table that was asked for last, and the positions in it
	to       []uint32
}

// Len implements kernel.Features.
func (x *vectors) Len() int { return len(x.self) }

// value returns value k of the list.
func (x *vectors) value(k int) float64 {
	if x.count != nil {
		return float64(x.count[k])
	}
	return x.val[k]
}

// entries sets v to the features of graph i.
func (x *vectors) entries(v *vector, i int) {
	v.reset()
	block := uint32(0)
	for k := x.start[i]; k < x.start[i+1]; k++ {
		for int(x.at[k]) >= x.table.end[block] {
			block++
		}
		v.entries = append(v.entries, entry{x.table.id[x.at[k]], block, x.value(k)})
	}
}

// positions returns where the features of x are in a table, nil if it is the table of x.
func (x *vectors) positions(t *table) []uint32 {
	if x.table == t {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.last.Value() != t {
		x.last, x.to = weak.Make(t), x.table.positionsIn(t)
	}
	return x.to
}

// Select implements kernel.Features. The table is shared.
func (x *vectors) Select(at []int) kernel.Features {
	total := 0
	for _, i := range at {
		total += x.start[i+1] - x.start[i]
	}
	out := &vectors{table: x.table, start: make([]int, 1, len(at)+1), at: make([]uint32, 0, total)}
	for _, i := range at {
		out.append(x, i, i+1, nil)
	}
	return out.finish()
}

// append appends the graphs from i to j of other vectors, whose features are at positions to; nil if
// the table is the same.
func (x *vectors) append(o *vectors, i, j int, to []uint32) {
	from, end := o.start[i], o.start[j]
	base := len(x.at) - from
	for _, s := range o.start[i+1 : j+1] {
		x.start = append(x.start, base+s)
	}
	x.at = append(x.at, o.at[from:end]...)
	if to != nil {
		for k, p := range o.at[from:end] {
			x.at[base+from+k] = to[p]
		}
	}
	switch {
	case o.count != nil && x.val == nil:
		x.count = append(x.count, o.count[from:end]...)
	default:
		x.toFloats()
		for k := from; k < end; k++ {
			x.val = append(x.val, o.value(k))
		}
	}
	x.self = append(x.self, o.self[i:j]...)
	if o.graphs != nil {
		x.graphs = append(x.graphs, o.graphs[i:j]...)
	}
}

// toFloats keeps the values as floating-point numbers.
func (x *vectors) toFloats() {
	if x.val == nil {
		x.val = make([]float64, len(x.count), cap(x.at))
		for k, c := range x.count {
			x.val[k] = float64(c)
		}
		x.count = nil
	}
}

// finish sets what follows from the lists, and returns x.
func (x *vectors) finish() *vectors {
	if x.count == nil && !slices.ContainsFunc(x.val, func(v float64) bool { return v != float64(uint32(v)) }) {
		x.count = make([]uint32, len(x.val))
		for k, v := range x.val {
			x.count[k] = uint32(v)
		}
		x.val = nil
	}
	x.exact = x.count != nil
	for i := range x.self {
		sum := 0.0
		for k := x.start[i]; k < x.start[i+1] && x.exact; k++ {
			sum += float64(x.count[k]) * float64(x.count[k])
		}
		x.exact = x.exact && sum < 1<<53
	}
	x.anyLarge = slices.ContainsFunc(x.graphs, func(g *coloured) bool { return g.large != nil })
	return x
}

// joined returns vectors one after the other.
func joined(parts []*vectors, blocks int) *vectors {
	var tables []*table
	for _, p := range parts {
		if !slices.Contains(tables, p.table) {
			tables = append(tables, p.table)
		}
	}
	out := &vectors{start: []int{0}}
	if len(tables) == 1 {
		out.table = tables[0]
	} else {
		out.table = union(tables, blocks)
	}
	for _, p := range parts {
		var to []uint32
		if p.table != out.table {
			to = p.table.positionsIn(out.table)
		}
		out.append(p, 0, p.Len(), to)
	}
	return out.finish()
}

// vectorBuilder makes vectors of the sorted vectors of graphs.
type vectorBuilder struct {
	vectors
	slot  []uint64 // upper half of a hash, and number + 1; 0 for an empty slot; the length is a power of two
	found []entry  // features by number; their values are the numbers
}

// add appends a graph with its kernel with itself.
func (b *vectorBuilder) add(v *vector, self float64) {
	for _, e := range v.entries {
		b.at = append(b.at, b.number(e))
		b.val = append(b.val, e.val)
	}
	b.start = append(b.start, len(b.at))
	b.self = append(b.self, self)
}

// number returns the number of a feature, a new one when it has none.
func (b *vectorBuilder) number(e entry) uint32 {
	if 2*len(b.found) >= len(b.slot) {
		b.slot = make([]uint64, max(1024, 2*len(b.slot)))
		for i, f := range b.found {
			b.slot[b.find(f.id)] = f.id>>32<<32 | uint64(i+1)
		}
	}
	at := b.find(e.id)
	if b.slot[at] == 0 {
		e.val = float64(len(b.found))
		b.found = append(b.found, e)
		b.slot[at] = e.id>>32<<32 | uint64(len(b.found))
	}
	return uint32(b.slot[at]) - 1
}

// find returns the slot of a feature. Features that are plain numbers are spread by the product.
func (b *vectorBuilder) find(id uint64) uint64 {
	mask := uint64(len(b.slot) - 1)
	at := id * 0x9e3779b97f4a7c15 >> 32 & mask
	for {
		s := b.slot[at]
		if s == 0 || s>>32 == id>>32 && b.found[uint32(s)-1].id == id {
			return at
		}
		at = (at + 1) & mask
	}
}

// build numbers features by block and hash. The lists of graphs are then in ascending order.
func (b *vectorBuilder) build(blocks int) *vectors {
	slices.SortFunc(b.found, entry.compare)
	t := &table{id: make([]uint64, len(b.found)), end: make([]int, blocks)}
	position := make([]uint32, len(b.found)) // by number
	for p, e := range b.found {
		t.id[p], position[uint32(e.val)] = e.id, uint32(p)
		t.end[e.block] = p + 1
	}
	for k := 1; k < blocks; k++ {
		t.end[k] = max(t.end[k], t.end[k-1])
	}
	for k, i := range b.at {
		b.at[k] = position[i]
	}
	out := &vectors{table: t, start: b.start, at: b.at, val: b.val, self: b.self, graphs: b.graphs}
	return out.finish()
}
