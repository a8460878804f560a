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
	list    []arc
	labeled bool
	loops   int
}

func (a *arcs) reset() { *a = arcs{list: a.list[:0]} }

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
// same direction with different weights or labels are an error. The line of the error is
// the second result.
func (a *arcs) put(b *graph.Builder, rule direction, warn *warnings) (int, error) {
	slices.SortFunc(a.list, func(p, q arc) int {
		if p.u != q.u {
			return cmp.Compare(p.u, q.u)
		}
		if p.v != q.v {
			return cmp.Compare(p.v, q.v)
		}
		if p.back != q.back && rule != undirected {
			if q.back {
				return -1
			}
			return 1
		}
		return cmp.Compare(p.line, q.line)
	})
	var oneWay, repeated, means, labels int
	for i := 0; i < len(a.list); {
		first := a.list[i]
		var there, back *arc // the arcs of the two directions
		j := i
		for ; j < len(a.list) && a.list[j].u == first.u && a.list[j].v == first.v; j++ {
			e := &a.list[j]
			seen := &there
			if e.back && rule != undirected {
				seen = &back
			}
			if *seen == nil {
				*seen = e
				continue
			}
			repeated++
			if p := *seen; p.w != e.w {
				return e.line, fmt.Errorf("edge (%s) is given twice, with weights %v and %v", ends(e), p.w, e.w)
			} else if p.label != e.label {
				return e.line, fmt.Errorf("edge (%s) is given twice, with labels %q and %q", ends(e), p.label, e.label)
			}
		}
		i = j
		e := first
		switch {
		case there == nil || back == nil:
			oneWay++
		default:
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
		}
		if a.labeled {
			b.AddLabeledEdge(int(e.u), int(e.v), e.w, e.label)
		} else {
			b.AddWeightedEdge(int(e.u), int(e.v), e.w)
		}
	}
	warn.add(a.loops, "self-loop dropped", "self-loops dropped")
	warn.add(repeated, "repeated edge dropped", "repeated edges dropped")
	switch rule {
	case directed:
		warn.add(len(a.list)-repeated, "directed edge made undirected", "directed edges made undirected")
	case bothWays:
		warn.add(oneWay, "edge given in one direction only made undirected", "edges given in one direction only made undirected")
	}
	warn.add(means, "edge with different weights in its two directions got their mean", "edges with different weights in their two directions got their means")
	warn.add(labels, "edge with different labels in its two directions kept the first", "edges with different labels in their two directions kept the first")
	return 0, nil
}

// ends names the ends of an edge in the direction in which it was given.
func ends(e *arc) string {
	if e.back {
		return fmt.Sprintf("%d, %d", e.v, e.u)
	}
	return fmt.Sprintf("%d, %d", e.u, e.v)
}
