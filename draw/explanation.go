package draw

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
)

// Explanation draws a graph with the contributions of its vertices to a prediction as colours:
// orange for it, blue against it. The picture has a scale. Its title says what is explained, unless
// the options have a title. Command, explorer and Python package show this picture.
func Explanation(g *graph.Graph, e *explain.Explanation, o Options) (*Picture, error) {
	o.Title = cmp.Or(o.Title, e.Headline())
	name := fmt.Sprintf("contributions to the %s, sum %s", e.What, total(e.Sum))
	switch {
	case e.Slopes:
		name = "slopes of the " + e.What
	case e.Class == "":
		name = fmt.Sprintf("contributions to %s, sum %s from the mean", e.What, total(e.Sum))
	}
	if e.Together > 1 {
		name += fmt.Sprintf("; %d vertices share one", e.Together)
	}
	o.Values = NewValues(name, e.Vertices)
	o.Values.low, o.Values.high = "against", "for"
	if e.Class == "" {
		o.Values.low, o.Values.high = "lowers", "raises"
	}
	return Graph(g, o)
}

// Comparison draws two graphs side by side with what their vertices contribute to their similarity as colours.
// The i-th of the matched pairs of vertices, one of each graph, gets the number i on both sides.
func Comparison(g, h *graph.Graph, c *explain.Comparison, matched [][2]int, o Options) (*Picture, error) {
	names := [2]string{cmp.Or(g.ID(), "1"), cmp.Or(h.ID(), "2")}
	title := cmp.Or(o.Title, fmt.Sprintf("%s and %s: similarity %s", names[0], names[1], explain.Number(c.K)))
	name := "contributions to the similarity, sum " + total(c.K)
	if c.Slopes {
		name = "slopes of the log similarity"
	}
	o.Values = NewValues(name, slices.Concat(c.G.Vertices, c.H.Vertices))
	o.Values.low, o.Values.high = "against", "for"
	panels := [2]Panel{{Graph: g, Title: names[0], Values: c.G.Vertices}, {Graph: h, Title: names[1], Values: c.H.Vertices}}
	return Pair(title, panels, matched, o)
}

// total writes a sum with its sign.
func total(x float64) string {
	if x > 0 {
		return "+" + explain.Number(x)
	}
	return explain.Number(x)
}
