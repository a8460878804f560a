package graph

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// Isomorphic reports whether some renumbering of the vertices makes g and h equal: edges,
// weights, edge labels, vertex labels and attributes. Identifiers, targets and coordinates
// do not count.
//
// Colours of both graphs are refined together; vertices that stay alike are then matched by
// trial, each trial refined again. This is fast on graphs that occur and exponential on some
// that are made for it.
func Isomorphic(g, h *Graph) bool {
	if g.N() != h.N() || g.M() != h.M() || g.HasLabels() != h.HasLabels() || g.dim != h.dim || g.HasEdgeLabels() != h.HasEdgeLabels() {
		return false
	}
	m := newMatcher(g, h)
	return m.match(m.start())
}

// matcher refines the colours of the vertices of two graphs together: vertex v of the
// second graph has the number n+v.
type matcher struct {
	n    int
	off  []int32
	adj  []int32
	kind []int32 // parallel to adj: number of the edge's weight and label
	init []int32
	sig  [][]int64
}

func newMatcher(g, h *Graph) *matcher {
	m := &matcher{n: g.N(), off: []int32{0}, sig: make([][]int64, 2*g.N())}
	kinds, colours := make(map[string]int32), make(map[string]int32)
	number := func(in map[string]int32, key []byte) int32 {
		k, ok := in[string(key)]
		if !ok {
			k = int32(len(in))
			in[string(key)] = k
		}
		return k
	}
	for side, x := range []*Graph{g, h} {
		for v := range x.N() {
			wt := x.Weights(v)
			for i, u := range x.Neighbors(v) {
				w := 1.0
				if wt != nil {
					w = wt[i]
				}
				m.adj = append(m.adj, u+int32(side*m.n))
				m.kind = append(m.kind, number(kinds, append(binary.LittleEndian.AppendUint64(nil, math.Float64bits(w)), x.EdgeLabel(v, i)...)))
			}
			m.off = append(m.off, int32(len(m.adj)))
			key := append([]byte(x.Label(v)), 0)
			for _, a := range x.Attributes(v) {
				key = binary.LittleEndian.AppendUint64(key, math.Float64bits(a))
			}
			m.init = append(m.init, number(colours, key))
		}
	}
	return m
}

func (m *matcher) start() []int32 { return slices.Clone(m.init) }

// refine refines the colours until they are stable. It returns false when some colour is
// not as frequent in one graph as in the other.
func (m *matcher) refine(colour []int32) bool {
	total := 2 * m.n
	order := make([]int32, total)
	next := make([]int32, total)
	count := 0
	for {
		for v := range total {
			s := append(m.sig[v][:0], int64(colour[v]))
			for i := m.off[v]; i < m.off[v+1]; i++ {
				s = append(s, int64(m.kind[i])<<32|int64(colour[m.adj[i]]))
			}
			slices.Sort(s[1:])
			m.sig[v] = s
			order[v] = int32(v)
		}
		slices.SortFunc(order, func(a, b int32) int { return slices.Compare(m.sig[a], m.sig[b]) })
		now := int32(0)
		balance := 0
		for i, v := range order {
			if i > 0 && slices.Compare(m.sig[order[i-1]], m.sig[v]) != 0 {
				if balance != 0 {
					return false
				}
				now++
			}
			if int(v) < m.n {
				balance++
			} else {
				balance--
			}
			next[v] = now
		}
		if balance != 0 {
			return false
		}
		copy(colour, next)
		if int(now)+1 == count {
			return true
		}
		count = int(now) + 1
	}
}

// match reports whether the colours can be refined to an isomorphism.
func (m *matcher) match(colour []int32) bool {
	if !m.refine(colour) {
		return false
	}
	size := make([]int32, 2*m.n+1)
	for _, c := range colour[:m.n] {
		size[c]++
	}
	best := -1
	for v, c := range colour[:m.n] {
		if size[c] > 1 && (best < 0 || cmp.Compare(size[c], size[colour[best]]) < 0) {
			best = v
		}
	}
	if best < 0 {
		return true // every colour is one vertex of each graph, and colours are stable
	}
	for w := m.n; w < 2*m.n; w++ {
		if colour[w] != colour[best] {
			continue
		}
		trial := slices.Clone(colour)
		trial[best], trial[w] = int32(2*m.n), int32(2*m.n)
		if m.match(trial) {
			return true
		}
	}
	return false
}

// Duplicates returns the groups of two or more isomorphic graphs, each ascending, in the
// order of their first graphs.
func Duplicates(graphs []*Graph) [][]int {
	var s Scratch
	classes := make(map[string]int32)
	byHash := make(map[uint64][]int) // the first graphs of groups
	group := make(map[int][]int)
	var firsts []int
	for i, g := range graphs {
		vs, class, key := make([]int32, g.N()), make([]int32, g.N()), make([]uint64, g.N())
		for v := range g.N() {
			vs[v] = int32(v)
			c, ok := classes[g.Label(v)]
			if !ok {
				c = int32(len(classes))
				classes[g.Label(v)] = c
			}
			class[v] = c
			key[v] = uint64(c)
		}
		_, hash := s.Signature(g, vs, key, class, nil)
		found := false
		for _, f := range byHash[hash] {
			if Isomorphic(graphs[f], g) {
				group[f] = append(group[f], i)
				found = true
				break
			}
		}
		if !found {
			byHash[hash] = append(byHash[hash], i)
			firsts = append(firsts, i)
		}
	}
	var out [][]int
	for _, f := range firsts {
		if len(group[f]) > 0 {
			out = append(out, append([]int{f}, group[f]...))
		}
	}
	return out
}
