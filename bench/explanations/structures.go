package main

import (
	"slices"

	"github.com/mlgkernel/mlg/graph"
)

// structure marks the vertices of a graph that belong to a structure.
type structure func(g *graph.Graph) []bool

var structures = map[string]structure{
	"nitro": nitro, "hydroxyl": hydroxyl, "halogen": halogen, "amide": amide, "ring of 5": ringOf5, "fusion": fusion,
}

// The labels of MUTAG are numbers.
var elements = map[string]string{"0": "C", "1": "N", "2": "O", "3": "F", "4": "I", "5": "Cl", "6": "Br"}

func element(g *graph.Graph, v int32) string {
	if e, ok := elements[g.Label(int(v))]; ok {
		return e
	}
	return g.Label(int(v))
}

func count(x []bool) (n int) {
	for _, yes := range x {
		if yes {
			n++
		}
	}
	return n
}

// marked marks the atoms that of returns for each atom.
func marked(g *graph.Graph, of func(v int32) []int32) []bool {
	out := make([]bool, g.N())
	for v := range int32(g.N()) {
		for _, u := range of(v) {
			out[u] = true
		}
	}
	return out
}

// oxygens returns the oxygens that have no other neighbour than v.
func oxygens(g *graph.Graph, v int32) (out []int32) {
	for _, w := range g.Neighbors(int(v)) {
		if element(g, w) == "O" && g.Degree(int(w)) == 1 {
			out = append(out, w)
		}
	}
	return out
}

// nitro marks -NO₂ on carbon.
func nitro(g *graph.Graph) []bool {
	return marked(g, func(v int32) []int32 {
		o := oxygens(g, v)
		if element(g, v) != "N" || g.Degree(int(v)) != 3 || len(o) != 2 {
			return nil
		}
		return append(o, v)
	})
}

// hydroxyl marks -OH on carbon, which is known where edges have labels.
func hydroxyl(g *graph.Graph) []bool {
	return marked(g, func(v int32) []int32 {
		if element(g, v) != "O" || g.Degree(int(v)) != 1 || element(g, g.Neighbors(int(v))[0]) != "C" ||
			!slices.Contains([]string{"1", "-"}, g.EdgeLabel(int(v), 0)) {
			return nil
		}
		return []int32{v}
	})
}

func halogen(g *graph.Graph) []bool {
	return marked(g, func(v int32) []int32 {
		if slices.Contains([]string{"F", "Cl", "Br", "I"}, element(g, v)) {
			return []int32{v}
		}
		return nil
	})
}

// amide marks a carbon with an oxygen of its own and one nitrogen.
func amide(g *graph.Graph) []bool {
	return marked(g, func(v int32) []int32 {
		o := oxygens(g, v)
		i := slices.IndexFunc(g.Neighbors(int(v)), func(w int32) bool { return element(g, w) == "N" })
		if element(g, v) != "C" || len(o) != 1 || i < 0 {
			return nil
		}
		return append(o, v, g.Neighbors(int(v))[i])
	})
}

// ringOf5 marks rings of five vertices.
func ringOf5(g *graph.Graph) []bool {
	return marked(g, func(v int32) []int32 {
		for _, w := range g.Neighbors(int(v)) {
			if path := back(g, []int32{v, w}, 5); path != nil {
				return path
			}
		}
		return nil
	})
}

// fusion marks atoms at which rings of five or six atoms are fused: three of their bonds are in one.
func fusion(g *graph.Graph) []bool {
	return marked(g, func(v int32) []int32 {
		in := 0
		for _, w := range g.Neighbors(int(v)) {
			if back(g, []int32{v, w}, 5) != nil || back(g, []int32{v, w}, 6) != nil {
				in++
			}
		}
		if in < 3 {
			return nil
		}
		return []int32{v}
	})
}

// back continues a path to a ring of n vertices, nil if there is none.
func back(g *graph.Graph, path []int32, n int) []int32 {
	last := path[len(path)-1]
	if len(path) == n {
		if g.HasEdge(int(last), int(path[0])) {
			return path
		}
		return nil
	}
	for _, w := range g.Neighbors(int(last)) {
		if slices.Contains(path, w) {
			continue
		}
		if ring := back(g, append(slices.Clone(path), w), n); ring != nil {
			return ring
		}
	}
	return nil
}
