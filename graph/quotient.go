package graph

import (
	"math"
	"slices"
)

// Signature returns the canonical quotient of the subgraph of g that the vertices vs
// induce, encoded in words, and a hash of its content.
//
// The colours of the vertices, at first (key, class, tag), are refined until the partition
// is equitable. The quotient has, for each cell in a canonical order, the class and tag of
// its vertices, their number, and the weight of the edges from each of them to each cell
// up to its own.
//
// key[v] and class[v] are the colour of vertex v of g: equal classes have equal keys, and
// the key, a hash of what the class means, makes the order of the cells independent of the
// numbering of the classes. tag, parallel to vs, may be nil.
//
// Two subgraphs have the same signature exactly when their quotients are equal (but for
// classes whose keys collide, where equal quotients may get different signatures). The
// hash depends on keys, not on class numbers. The signature is valid until the next call of
// a method of s. Signature takes O(m log n) time for n vertices and m edges.
func (s *Scratch) Signature(g *Graph, vs []int32, key []uint64, class, tag []int32) (sig []uint32, hash uint64) {
	s.load(g, vs, key, class, tag)
	n := len(vs)
	cells := 0
	for i := 0; i < n; i += int(s.size[i]) {
		cells++
	}
	if cells < n {
		s.refine()
	}

	s.index = grow(s.index, n)
	cells = 0
	for i := 0; i < n; i += int(s.size[i]) {
		s.index[i] = int32(cells)
		cells++
	}
	s.lowSum, s.lowMark = grow(s.lowSum, n), grow(s.lowMark, n)
	clear(s.lowMark)
	kind := signaturePlain
	if g.weight != nil {
		kind |= signatureWeighted
	}
	if tag != nil {
		kind |= signatureTagged
	}
	words := append(s.words[:0], uint32(cells), kind)
	hash = mix(uint64(cells), uint64(kind))
	for i := 0; i < n; i += int(s.size[i]) {
		v := s.order[i]
		f := vs[v]
		size := s.size[i]
		words = append(words, uint32(class[f]), uint32(size))
		hash = mix(hash^key[f], uint64(size))
		if tag != nil {
			words = append(words, uint32(tag[v]))
			hash = mix(hash, uint64(tag[v]))
		}
		s.lower(v, s.index[i], g.weight != nil)
		words = append(words, uint32(len(s.low)))
		for _, j := range s.low {
			w := s.lowSum[j]
			bits := math.Float64bits(w)
			if g.weight != nil {
				words = append(words, uint32(j), uint32(bits), uint32(bits>>32))
			} else {
				words = append(words, uint32(j), uint32(w))
			}
			hash = mix(hash^uint64(j), bits)
		}
	}
	s.words = words
	return words, hash
}

// lower finds the cells up to that of v to which v has edges. It puts them into low, ascending, and
// the sum of their weights, added in ascending order, into lowSum by cell.
func (s *Scratch) lower(v, cell int32, weighted bool) {
	s.low = s.low[:0]
	if weighted {
		s.sigA = s.signature(s.sigA[:0], v)
		for i, e := range s.sigA {
			j := s.index[e.cell]
			if j > cell {
				continue
			}
			if i == 0 || s.sigA[i-1].cell != e.cell {
				s.low = append(s.low, j)
				s.lowSum[j] = 0
			}
			s.lowSum[j] += e.w
		}
		return
	}
	for _, u := range s.nbr[s.off[v]:s.off[v+1]] {
		j := s.index[s.cell[u]]
		if j > cell {
			continue
		}
		if s.lowMark[j] <= cell {
			s.lowMark[j] = cell + 1
			s.lowSum[j] = 0
			s.low = append(s.low, j)
		}
		s.lowSum[j]++
	}
	slices.Sort(s.low)
}

const (
	signaturePlain    uint32 = 0
	signatureWeighted uint32 = 1
	signatureTagged   uint32 = 2
)

// Quotient is a decoded signature: cells in canonical order and the strictly lower
// triangle of their symmetric weight matrix in compressed rows. Edges inside a cell are left
// out: they do not change the quotient of the Laplacian.
type Quotient struct {
	Class []int32 // by cell: class of its vertices
	Size  []int32 // by cell: number of vertices
	Tag   []int32 // by cell: tag of its vertices, 0 when there are none

	Off    []int32   // by cell, and one more: start in Nbr
	Nbr    []int32   // cells before this one that have edges to it, ascending
	Weight []float64 // parallel to Nbr: total weight of the edges between the two cells
}

// Cells returns the number of cells.
func (q *Quotient) Cells() int { return len(q.Class) }

// Decode sets q to the quotient that a signature encodes, reusing its slices.
func (q *Quotient) Decode(sig []uint32) {
	cells, kind := int(sig[0]), sig[1]
	q.Class, q.Size, q.Tag = grow(q.Class, cells), grow(q.Size, cells), grow(q.Tag, cells)
	q.Off = append(q.Off[:0], 0)
	q.Nbr, q.Weight = q.Nbr[:0], q.Weight[:0]
	at := 2
	for i := range cells {
		q.Class[i], q.Size[i], q.Tag[i] = int32(sig[at]), int32(sig[at+1]), 0
		at += 2
		if kind&signatureTagged != 0 {
			q.Tag[i] = int32(sig[at])
			at++
		}
		low := int(sig[at])
		at++
		for range low {
			var w float64
			j := int32(sig[at])
			if kind&signatureWeighted != 0 {
				w = math.Float64frombits(uint64(sig[at+1]) | uint64(sig[at+2])<<32)
				at += 3
			} else {
				w = float64(sig[at+1])
				at += 2
			}
			if int(j) < i {
				// sig has the weight from one vertex of this cell.
				q.Nbr = append(q.Nbr, j)
				q.Weight = append(q.Weight, w*float64(q.Size[i]))
			}
		}
		q.Off = append(q.Off, int32(len(q.Nbr)))
	}
}
