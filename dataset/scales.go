package dataset

import (
	"fmt"
	"math/rand/v2"

	"github.com/mlgkernel/mlg/graph"
)

// Distances along the skeleton of a graph of [Scales]: within a pair, and between the
// pairs and the ends.
const (
	scalesNear    = 4
	scalesFarMin  = 8
	scalesFarMax  = 12
	scalesTailMin = 4
	scalesTailMax = 8
)

// Scales returns n artificial graphs in two classes that can be told apart only by what
// hangs where: neither small groups nor distances alone suffice.
//
// The skeleton is a path of vertices labelled C. Four groups hang on it, two of either
// kind:
//
//	kind P: C–N–O      kind Q: C–O–N
//
// They form two pairs. The groups of a pair hang 4 edges apart, the pairs 8 to 12. In
// class "like" a pair has two groups of one kind, in class "unlike" one of each.
//
//	like:    ─P───P────────Q───Q─    (or Q, Q first)
//	unlike:  ─P───Q────────Q───P─    (either pair in either order)
//
// Lengths have the same distribution in both classes, and every graph has the same groups
// in it, so that the numbers of vertices, labels, degrees and of everything else within 2
// edges of a vertex say nothing: Weisfeiler-Lehman colours of up to 2 iterations have the
// same distribution in both classes. The kind of a group is known 1 edge away from the
// skeleton, so a vertex in the middle of a pair knows both kinds after 3 iterations.
//
// Classes alternate. Equal arguments give equal graphs.
func Scales(n int, seed uint64) *Dataset {
	rng := rand.New(rand.NewPCG(seed, 0x5ca1e5))
	between := func(lo, hi int) int { return lo + rng.IntN(hi-lo+1) }
	d := &Dataset{Name: "scales", Graphs: make([]*graph.Graph, n)}
	for i := range n {
		head, far, tail := between(scalesTailMin, scalesTailMax), between(scalesFarMin, scalesFarMax), between(scalesTailMin, scalesTailMax)
		swap, second := rng.IntN(2) == 1, rng.IntN(2) == 1
		target, kinds := "like", []bool{swap, swap, !swap, !swap}
		if i%2 == 1 {
			target, kinds = "unlike", []bool{swap, !swap, second, !second}
		}
		at := []int{head, head + scalesNear, head + scalesNear + far, head + 2*scalesNear + far}
		length := at[3] + tail + 1
		b := graph.NewBuilder(length + 2*len(at))
		for v := range length {
			b.SetLabel(v, "C")
			if v > 0 {
				b.AddEdge(v-1, v)
			}
		}
		for k, v := range at {
			inner, outer := length+2*k, length+2*k+1
			b.AddEdge(v, inner)
			b.AddEdge(inner, outer)
			labels := [2]string{"N", "O"}
			if kinds[k] {
				labels = [2]string{"O", "N"}
			}
			b.SetLabel(inner, labels[0])
			b.SetLabel(outer, labels[1])
		}
		b.SetID(fmt.Sprint(i + 1))
		b.SetTarget(target)
		g, err := b.Build()
		if err != nil {
			panic("dataset: Scales: " + err.Error()) // the construction is valid
		}
		d.Graphs[i] = g
	}
	return d
}
