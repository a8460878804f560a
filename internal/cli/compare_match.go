package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/explain/draw"
	"github.com/mlgkernel/mlg/graph"
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
func (c *compareCmd) match(g *globals, a, b *graph.Graph, o mlg.Options) (*matched, error) {
	level := c.Level
	if level < 0 {
		level = len(o.Radii)
	}
	if level > len(o.Radii) {
		return nil, usageError(fmt.Sprintf("--level %d: want 0 to %d", level, len(o.Radii)))
	}
	ext := strings.ToLower(filepath.Ext(c.Picture))
	if c.Picture != "" && ext != ".svg" && ext != ".png" {
		return nil, usageError(c.Picture + ": want a name that ends with .svg or .png")
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
	if c.Picture == "" {
		return out, nil
	}
	return out, c.drawMatch(g, a, b, out, ext)
}

// drawMatch draws both graphs with the numbers of the pairs on their vertices, coloured by
// how similar they are. Vertices without a partner have larger numbers.
func (c *compareCmd) drawMatch(g *globals, a, b *graph.Graph, m *matched, ext string) error {
	arrange := func(x *graph.Graph, vertex func(p matchPair) int) (*graph.Graph, []float64) {
		perm, values := make([]int, x.N()), make([]float64, x.N())
		for v := range perm {
			perm[v] = -1
		}
		for i, p := range m.Pairs {
			perm[vertex(p)], values[i] = i, p.Similarity
		}
		next := len(m.Pairs)
		for v, at := range perm {
			if at < 0 {
				perm[v] = next
				next++
			}
		}
		return x.Permute(perm), values
	}
	ga, va := arrange(a, func(p matchPair) int { return p.A })
	gb, vb := arrange(b, func(p matchPair) int { return p.B })
	one := func(x *graph.Graph, title string, values []float64) (*draw.Picture, error) {
		o := draw.DefaultOptions()
		o.Title, o.Numbers = title, true
		o.Values = &draw.Values{Vertex: values, Limit: 1, Name: "similarity to the matched vertex"}
		return draw.Graph(x, o)
	}
	left, err := one(ga, clip(c.A, 40), va)
	if err != nil {
		return err
	}
	right, err := one(gb, clip(c.B, 40), vb)
	if err != nil {
		return err
	}
	p, err := draw.Sheet("", 2, left, right)
	if err != nil {
		return err
	}
	bytes := p.SVG()
	if ext == ".png" {
		if bytes, err = p.PNG(2); err != nil {
			return err
		}
	}
	if err := saveFile(g, c.Picture, bytes); err != nil {
		return err
	}
	g.note("wrote %s", c.Picture)
	return nil
}

func (m *matched) print(w io.Writer) {
	fmt.Fprintf(w, "\nmatched vertices at level %d, mean similarity %.4f\n", m.Level, m.Mean)
	fmt.Fprintf(w, "  pair   A              B\n")
	for i, p := range m.Pairs {
		fmt.Fprintf(w, "  %4d %4d %-8s – %4d %-8s %.4f\n", i, p.A, clip(p.LabelA, 8), p.B, clip(p.LabelB, 8), p.Similarity)
	}
}
