package cli

import (
	"fmt"
	"io"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/table"
)

// matched says which vertices of two graphs belong together.
type matched struct {
	Level int         `json:"level"`
	Mean  float64     `json:"mean"` // of the similarities
	Pairs []matchPair `json:"pairs"`
}

type matchPair struct {
	A          int     `json:"a"`
	B          int     `json:"b"`
	LabelA     string  `json:"label_a,omitempty"`
	LabelB     string  `json:"label_b,omitempty"`
	Similarity float64 `json:"similarity"`
}

// match pairs the vertices of two graphs by their exact similarity at a level.
func (c *compareCmd) match(g *globals, a, b *graph.Graph, o mlg.Kernel) (*matched, error) {
	level := c.Level
	if level < 0 {
		level = len(o.Radii)
	}
	if level > len(o.Radii) {
		return nil, usageError(fmt.Sprintf("--level %d: want 0 to %d", level, len(o.Radii)))
	}
	m, err := explain.MatchExact(g.ctx, a, b, o, level)
	if err != nil {
		return nil, err
	}
	out := &matched{Level: level, Pairs: []matchPair{}}
	for _, p := range m.Pairs {
		out.Pairs = append(out.Pairs, matchPair{p.G, p.H, a.Label(p.G), b.Label(p.H), p.Similarity})
		out.Mean += p.Similarity / float64(len(m.Pairs))
	}
	return out, savePicture(g, c.Picture, pngScale, func() (*draw.Picture, error) { return c.picture(a, b, out) })
}

// picture draws both graphs with the numbers of the pairs on their vertices, coloured by
// how similar they are.
func (c *compareCmd) picture(a, b *graph.Graph, m *matched) (*draw.Picture, error) {
	values := [2][]float64{make([]float64, a.N()), make([]float64, b.N())}
	pairs := make([][2]int, len(m.Pairs))
	for i, p := range m.Pairs {
		pairs[i] = [2]int{p.A, p.B}
		values[0][p.A], values[1][p.B] = p.Similarity, p.Similarity
	}
	o := draw.DefaultOptions()
	o.Values = &draw.Values{Limit: 1, Name: "similarity to the matched vertex"}
	return draw.Pair("", [2]draw.Panel{{Graph: a, Title: table.Clip(c.A, 40), Values: values[0]}, {Graph: b, Title: table.Clip(c.B, 40), Values: values[1]}}, pairs, o)
}

func (m *matched) print(w io.Writer) {
	fmt.Fprintf(w, "\nmatched vertices at level %d, mean similarity %.4f\n", m.Level, m.Mean)
	fmt.Fprintf(w, "  pair   A              B\n")
	for i, p := range m.Pairs {
		fmt.Fprintf(w, "  %4d %4d %-8s – %4d %-8s %.4f\n", i, p.A, table.Clip(p.LabelA, 8), p.B, table.Clip(p.LabelB, 8), p.Similarity)
	}
}
