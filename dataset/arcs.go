package dataset

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/graph"
)

// direction says what the order of the two ends of an edge means in a format.
type direction int

const (
	undirected direction = iota // nothing; (u, v) and (v, u) are the same edge, given twice
	eitherWay                   // edges may stand once or in both directions
	bothWays                    // every edge should stand in both directions
	directed                    // the edge leads from the first end to the second
)

// arc is an edge as it was read, with u ≤ v.
type arc struct {
	u, v  int32
	back  bool // given as (v, u)
	w     float64
	label string
	line  int
}

// arcs collects the edges of a graph in whatever directions and multiplicities they are
// given, and hands simple undirected edges to a builder.
type arcs struct {
	list  []arc
	loops int
	order []place // scratch of put
}

// place is where an arc stands in the list, with its ends and direction as a key to sort by.
type place struct {
	key uint64
	i   int32
}

func (a *arcs) reset() { *a = arcs{list: a.list[:0], order: a.order} }

func (a *arcs) add(u, v int, w float64, label string, line int) {
	if u == v {
		a.loops++
		return
	}
	e := arc{u: int32(u), v: int32(v), w: w, label: label, line: line}
	if u > v {
		e.u, e.v, e.back = e.v, e.u, true
	}
	a.list = append(a.list, e)
}

// put adds the edges to b. An edge that stands in both directions with different weights
// gets their mean; with different labels, the label that was read first. Two edges in the
// same direction with different weights or labels are an error, a *lineError.
func (a *arcs) put(b *graph.Builder, rule direction, warn *warnings) error {
	a.order = a.order[:0]
	for i := range a.list {
		e := &a.list[i]
		k := uint64(e.u)<<32 | uint64(e.v)<<1
		if e.back && rule != undirected {
			k |= 1
		}
		a.order = append(a.order, place{k, int32(i)})
	}
	slices.SortFunc(a.order, func(p, q place) int {
		if p.key != q.key {
			return cmp.Compare(p.key, q.key)
		}
		return cmp.Compare(p.i, q.i)
	})
	var oneWay, repeated, means, labels int
	for i := 0; i < len(a.order); {
		var ways [2]*arc // the edge in its two directions
		for key := a.order[i].key >> 1; i < len(a.order) && a.order[i].key>>1 == key; i++ {
			e := &a.list[a.order[i].i]
			switch p := &ways[a.order[i].key&1]; {
			case *p == nil:
				*p = e
			case (*p).w != e.w:
				return &lineError{e.line, fmt.Errorf("edge (%s) is given twice, with weights %v and %v", ends(e), (*p).w, e.w)}
			case (*p).label != e.label:
				return &lineError{e.line, fmt.Errorf("edge (%s) is given twice, with labels %q and %q", ends(e), (*p).label, e.label)}
			default:
				repeated++
			}
		}
		there, back := cmp.Or(ways[0], ways[1]), cmp.Or(ways[1], ways[0])
		e := *there
		if there == back {
			oneWay++
		}
		if there.w != back.w {
			means++
			e.w = there.w/2 + back.w/2
		}
		if there.label != back.label {
			labels++
			if back.line < there.line {
				e.label = back.label
			}
		}
		b.AddLabeledEdge(int(e.u), int(e.v), e.w, e.label)
	}
	warn.add(a.loops, "self-loop dropped", "self-loops dropped")
	warn.add(repeated, "repeated edge dropped", "repeated edges dropped")
	switch rule {
	case directed:
		warn.add(len(a.list)-repeated, "directed edge made undirected", "directed edges made undirected")
	case bothWays:
		warn.add(oneWay, "edge had one direction only and was made undirected", "edges had one direction only and were made undirected")
	}
	warn.add(means, "edge had two directions with different weights and got their mean", "edges had two directions with different weights and got their means")
	warn.add(labels, "edge had two directions with different labels and kept the first one", "edges had two directions with different labels and kept the first one")
	return nil
}

// ends names the ends of an edge in the direction in which it was given.
func ends(e *arc) string {
	if e.back {
		return fmt.Sprintf("%d, %d", e.v, e.u)
	}
	return fmt.Sprintf("%d, %d", e.u, e.v)
}
