package graph_test

import (
	"fmt"

	"github.com/mlgkernel/mlg/graph"
)

// A path of three labelled vertices.
func ExampleBuilder() {
	b := graph.NewBuilder(3)
	b.AddEdge(0, 1)
	b.AddWeightedEdge(1, 2, 0.5)
	for v, label := range []string{"C", "C", "O"} {
		b.SetLabel(v, label)
	}
	b.SetID("ethanol")
	g, err := b.Build()
	if err != nil {
		panic(err)
	}
	fmt.Println(g.ID(), g.N(), g.M())
	for e := range g.Edges() {
		fmt.Println(g.Label(e.U), g.Label(e.V), e.Weight)
	}
	// Output:
	// ethanol 3 2
	// C C 1
	// C O 0.5
}

// The first mistake is kept until Build.
func ExampleBuilder_Build() {
	b := graph.NewBuilder(2)
	b.AddEdge(0, 2)
	_, err := b.Build()
	fmt.Println(err)
	// Output: edge 0 (0, 2): vertex 2 out of range [0, 2)
}

// The vertices within two edges of a vertex.
func ExampleScratch_Ball() {
	b := graph.NewBuilder(6)
	for v := range 5 {
		b.AddEdge(v, v+1)
	}
	g, err := b.Build()
	if err != nil {
		panic(err)
	}
	var s graph.Scratch
	fmt.Println(s.Ball(g, 1, 2))
	// Output: [1 0 2 3]
}

// Two drawings of one graph.
func ExampleIsomorphic() {
	build := func(edges ...[2]int) *graph.Graph {
		b := graph.NewBuilder(4)
		for _, e := range edges {
			b.AddEdge(e[0], e[1])
		}
		g, err := b.Build()
		if err != nil {
			panic(err)
		}
		return g
	}
	path := build([2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3})
	same := build([2]int{2, 0}, [2]int{0, 3}, [2]int{3, 1})
	star := build([2]int{0, 1}, [2]int{0, 2}, [2]int{0, 3})
	fmt.Println(graph.Isomorphic(path, same), graph.Isomorphic(path, star))
	// Output: true false
}
