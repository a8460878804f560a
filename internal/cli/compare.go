package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/nearest"
	"github.com/mlgkernel/mlg/work"
)

type compareCmd struct {
	A       string `arg:"" help:"A SMILES or a dataset."`
	B       string `arg:"" help:"Another SMILES or dataset. Datasets with several graphs are compared as a whole."`
	First   bool   `help:"Compare only the first graph of each dataset." group:"Comparison"`
	Match   bool   `help:"Match the vertices of two graphs." group:"Comparison"`
	Level   int    `help:"With --match: level at which vertices are compared. -1 means the top level." default:"-1" group:"Comparison"`
	Picture string `help:"With --match: draw both graphs with the numbers of the pairs: .svg or .png." name:"draw" placeholder:"FILE" ends:".svg .png" group:"Comparison"`
	dataFlags
	kernelFlag
}

// level is one at which graphs are compared.
type level struct {
	Level int    `json:"level"`
	Name  string `json:"name"`
}

func (l level) String() string { return fmt.Sprintf("level %d  %-14s", l.Level, l.Name) }

// exactly returns a kernel with its multiscale kernels computed by their definition.
func exactly(k kernel.Kernel) kernel.Kernel {
	switch k := k.(type) {
	case mlg.Kernel:
		k.Exact = true
		return k
	case kernel.Sum:
		out := kernel.Sum{}
		for _, t := range k.Terms {
			t.Factors = slices.Clone(t.Factors)
			for i, f := range t.Factors {
				t.Factors[i].Kernel = exactly(f.Kernel)
			}
			out.Terms = append(out.Terms, t)
		}
		return out
	}
	return k
}

// Run prints the similarity of two graphs at every level, by the definition where that is affordable, or
// of two datasets.
func (c *compareCmd) Run(g *globals) error {
	if (c.Level >= 0 || c.Picture != "") && !c.Match {
		return usageError("--level and --draw need --match")
	}
	a, err := readAny(g, c.A, c.dataFlags.options())
	if err != nil {
		return err
	}
	b, err := readAny(g, c.B, c.dataFlags.options())
	if err != nil {
		return err
	}
	c.settle(g, a, b)
	one, other := a.Graphs, b.Graphs
	if !c.First && (len(one) > 1 || len(other) > 1) {
		return c.datasets(g, one, other)
	}
	return c.pair(g, one[0], other[0])
}

// pair compares two graphs.
func (c *compareCmd) pair(g *globals, a, b *graph.Graph) error {
	graphs := []*graph.Graph{a, b}
	k, err := c.text().kernel()
	if err != nil {
		return err
	}
	g.resolved(k, graphs)
	if c.Match {
		if err := explain.CheckMatch(a.N(), b.N()); err != nil {
			return err
		}
	}
	asked := k
	if k, err = c.method(g, asked, graphs); err != nil {
		return err
	}
	what := c.compared(k, graphs)
	show := func(format string, args ...any) {
		if !g.JSON {
			g.bar.done()
			fmt.Fprintf(g.stdout, format, args...)
		}
	}
	if a.Directed() && b.Directed() {
		show("%d and %d vertices, %d and %d arcs, kernel %s\n", a.N(), b.N(), a.ArcCount(), b.ArcCount(), k)
	} else {
		show("%d and %d vertices, %d and %d edges, kernel %s\n", a.N(), b.N(), a.M(), b.M(), k)
	}
	show("compared: %s\n", what)
	type similarity struct {
		level
		Similarity float64 `json:"similarity"`
	}
	var levels []similarity
	all := explain.LevelsOf(k)
	ahead := forecaster{g: g, quiet: k.String() != asked.String()} // what is exact unasked takes seconds
	for i, l := range all {
		if err := ahead.begin(fmt.Sprintf("level %d", i), l.Kernel, graphs); err != nil {
			return err
		}
		value, err := explain.AtLevel(g.work(), l, a, b)
		if err != nil {
			return err
		}
		ahead.end()
		x := similarity{level{i, l.Name}, value}
		levels = append(levels, x)
		if len(all) == 1 {
			show("similarity  %.4f\n", x.Similarity)
		} else {
			show("%s  %.4f\n", x.level, x.Similarity)
		}
	}
	out := map[string]any{"kernel": k.String(), "compared": what, "levels": levels}
	var match *matched
	if c.Match {
		if match, err = c.match(g, a, b, k); err != nil {
			return err
		}
		out["matching"] = match
	}
	if g.JSON {
		return printJSON(g.stdout, out)
	}
	g.bar.done()
	if match != nil {
		match.print(g.stdout)
	}
	return nil
}

// setLevel compares two datasets at one level.
type setLevel struct {
	level
	Between float64 `json:"between"` // mean similarity of a graph of A and one of B
	WithinA float64 `json:"within_a"`
	WithinB float64 `json:"within_b"`
	// Distance of the means of A and B in the feature space of the kernel, between 0 and √2.
	Distance float64 `json:"distance"`
}

type setPair struct {
	A          string  `json:"a"`
	B          string  `json:"b"`
	Similarity float64 `json:"similarity"`
}

// datasets compares two collections of graphs by the low-rank kernel.
func (c *compareCmd) datasets(g *globals, a, b []*graph.Graph) error {
	if c.Match {
		return usageError("--match compares two graphs, but a dataset has several; --first takes the first of each")
	}
	all := slices.Concat(a, b)
	if err := work.CheckMatrices(1, len(all), len(all), "compare fewer graphs, or --first of each, or find the most similar with mlg search"); err != nil {
		return err
	}
	k, err := c.text().kernel()
	if err != nil {
		return err
	}
	g.resolved(k, all)
	ctx := g.work()
	var levels []setLevel
	var top *kernel.Matrix
	for i, l := range explain.LevelsOf(k) {
		if top, err = kernel.NewCollection(all).Gram(ctx, l.Kernel); err != nil {
			return err
		}
		x := compareSets(top, len(a))
		x.level = level{i, l.Name}
		levels = append(levels, x)
	}
	pairs := make([]setPair, len(a))
	for i := range a {
		at := nearest.Largest(top.Row(i)[len(a):], 1)[0]
		pairs[i] = setPair{graphName(a[i], i), graphName(b[at.Index], at.Index), at.Similarity}
	}
	what := c.compared(k, all)
	if g.JSON {
		return printJSON(g.stdout, map[string]any{
			"kernel": k.String(), "compared": what, "a": len(a), "b": len(b), "levels": levels, "nearest": pairs})
	}
	return output(g, "", func(w io.Writer) error {
		fmt.Fprintf(w, "%d and %d graphs, kernel %s\n", len(a), len(b), k)
		fmt.Fprintf(w, "compared: %s\n", what)
		fmt.Fprintf(w, "%-24s %9s %9s %9s %9s\n", "mean similarity", "A and B", "within A", "within B", "distance")
		for _, x := range levels {
			fmt.Fprintf(w, "%-24s %9.4f %9.4f %9.4f %9.4f\n", x.level, x.Between, x.WithinA, x.WithinB, x.Distance)
		}
		const most = 10
		fmt.Fprintf(w, "\nmost similar graph of B at level %d\n", len(levels)-1)
		for _, p := range pairs[:min(most, len(pairs))] {
			fmt.Fprintf(w, "  %-32s %-32s %.4f\n", table.ClipMiddle(p.A, 32), table.ClipMiddle(p.B, 32), p.Similarity)
		}
		if len(pairs) > most {
			fmt.Fprintf(w, "  … and %d more (--json has all)\n", len(pairs)-most)
		}
		return nil
	})
}

// compareSets compares the first n objects of a kernel matrix with the others.
func compareSets(k *kernel.Matrix, n int) setLevel {
	mean := func(from, to, from2, to2 int) float64 {
		sum := 0.0
		for i := from; i < to; i++ {
			for j := from2; j < to2; j++ {
				sum += k.At(i, j)
			}
		}
		return sum / float64((to-from)*(to2-from2))
	}
	x := setLevel{Between: mean(0, n, n, k.Rows), WithinA: mean(0, n, 0, n), WithinB: mean(n, k.Rows, n, k.Rows)}
	x.Distance = math.Sqrt(max(0, x.WithinA+x.WithinB-2*x.Between))
	return x
}

// matched says which vertices of two graphs belong together.
type matched struct {
	Level int         `json:"level"`
	Mean  float64     `json:"mean"` // of the similarities
	Pairs []matchPair `json:"pairs"`
}

type matchPair struct {
	A          int     `json:"a"`
	B          int     `json:"b"`
	NameA      string  `json:"name_a,omitempty"`
	NameB      string  `json:"name_b,omitempty"`
	LabelA     string  `json:"label_a,omitempty"`
	LabelB     string  `json:"label_b,omitempty"`
	Similarity float64 `json:"similarity"`
}

// match pairs the vertices of two graphs by their exact similarity at a level.
func (c *compareCmd) match(g *globals, a, b *graph.Graph, k kernel.Kernel) (*matched, error) {
	several := multiscale(k)
	if len(several) != 1 || len(kernel.SumOf(k).Terms[0].Factors) != 1 {
		return nil, usageError("--match needs the kernel mlg or flg, which compares vertices")
	}
	level, most := c.Level, len(several[0].Radii)
	if level < 0 {
		level = most
	}
	if level > most {
		return nil, usageError(fmt.Sprintf("--level %d: want 0 to %d", level, most))
	}
	m, err := explain.MatchExact(g.work(), a, b, k, level)
	if err != nil {
		return nil, err
	}
	out := &matched{Level: level, Pairs: []matchPair{}}
	for _, p := range m.Pairs {
		x := matchPair{A: p.G, B: p.H, LabelA: a.Label(p.G), LabelB: b.Label(p.H), Similarity: p.Similarity}
		if a.HasNames() {
			x.NameA = a.Name(p.G)
		}
		if b.HasNames() {
			x.NameB = b.Name(p.H)
		}
		out.Pairs = append(out.Pairs, x)
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
	const longest = 24
	a, b := make([]string, len(m.Pairs)), make([]string, len(m.Pairs))
	widthA, widthB := 4, 4
	for i, p := range m.Pairs {
		a[i], b[i] = fmt.Sprintf("%4d", p.A), fmt.Sprintf("%4d", p.B)
		if p.NameA != "" {
			a[i] = table.ClipMiddle(p.NameA, longest)
		}
		if p.NameB != "" {
			b[i] = table.ClipMiddle(p.NameB, longest)
		}
		widthA, widthB = max(widthA, utf8.RuneCountInString(a[i])), max(widthB, utf8.RuneCountInString(b[i]))
	}
	fmt.Fprintf(w, "  pair   A%*s\n", widthA+11, "B")
	for i, p := range m.Pairs {
		fmt.Fprintf(w, "  %4d %-*s %-8s – %-*s %-8s %.4f\n", i, widthA, a[i], table.Clip(p.LabelA, 8), widthB, b[i], table.Clip(p.LabelB, 8), p.Similarity)
	}
}
