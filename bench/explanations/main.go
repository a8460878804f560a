// Command explanations measures how well contributions of vertices explain predictions:
//
//	go run ./bench/explanations -cause hydroxyl DATA      a class that a known structure causes
//	go run ./bench/explanations -model FILE -groups       what known structures contribute in a model
//	go run ./bench/explanations -model FILE               ways to explain a model, compared
//
// With -cause, molecules are of the class "yes" if they have the structure. A model is trained on two thirds
// of them (-kernel NAME, or the default candidates), and explains the class of others that have it. For each
// way to explain there is a row:
//
//	delete    rank correlation with leaving a vertex out
//	fragment  rank correlation of the sum over a connected fragment of 2 to 4 vertices with leaving it out
//	cause     probability that a vertex of the structure has more than another (AUROC)
//	graphs    how many graphs are compared with the training graphs
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/mlgkernel/mlg/choose"
	_ "github.com/mlgkernel/mlg/classic" // registers kernels
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

func main() {
	var c command
	flag.StringVar(&c.model, "model", "", "model file to explain")
	flag.StringVar(&c.cause, "cause", "", "structure that is to be learned")
	flag.StringVar(&c.kernel, "kernel", "", "kernel to train; the default candidates if empty")
	flag.StringVar(&c.class, "class", "", "class to explain with -model, instead of the predicted one")
	flag.IntVar(&c.n, "n", 25, "number of graphs to explain")
	flag.BoolVar(&c.groups, "groups", false, "what known structures contribute")
	flag.Parse()
	if err := c.run(context.Background(), os.Stdout, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "explanations:", err)
		os.Exit(1)
	}
}

type command struct {
	model, cause, kernel, class string
	n                           int
	groups                      bool
}

func (c *command) run(ctx context.Context, w io.Writer, data string) error {
	var find structure
	var m *model.Model
	var graphs []*graph.Graph
	var err error
	if c.model != "" {
		if m, err = model.Read(c.model); err == nil {
			graphs = m.Graphs
		}
	} else if find = structures[c.cause]; find == nil {
		return fmt.Errorf("-cause %q, want one of %v", c.cause, slices.Sorted(maps.Keys(structures)))
	} else {
		c.class = "yes"
		m, graphs, err = train(ctx, w, data, c.kernel, find)
	}
	if err != nil {
		return err
	}
	if c.groups {
		return groups(ctx, w, m, some(graphs, c.n), c.class)
	}
	return compare(ctx, w, m, some(graphs, c.n), c.class, find)
}

// train trains on two thirds of the molecules, and returns the others that have the structure.
func train(ctx context.Context, w io.Writer, data, name string, find structure) (*model.Model, []*graph.Graph, error) {
	d, err := dataset.Read(ctx, data, dataset.DefaultOptions())
	if err != nil {
		return nil, nil, err
	}
	part, having, with := &dataset.Dataset{Name: d.Name}, []*graph.Graph{}, 0
	for i, g := range d.Graphs {
		n := count(find(g))
		g = g.With(g.ID(), map[bool]string{true: "yes", false: "no"}[n > 0])
		switch {
		case i%3 > 0:
			part.Graphs = append(part.Graphs, g)
		case n > 0 && n < g.N():
			having = append(having, g)
		}
		with += min(n, 1)
	}
	o := model.DefaultLearnOptions()
	o.Folds = 5
	candidates := choose.DefaultCandidates(dataset.Info(part))
	if name == "" {
		o.ForCandidates()
	} else {
		k, err := kernel.Named(name)
		if err != nil {
			return nil, nil, err
		}
		o.ForSVM()
		candidates = choose.Each(k)
	}
	m, plan, err := model.Learn(ctx, part, candidates, o)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(w, "%d of %d have it, accuracy %.3f\n", with, len(d.Graphs), plan.Estimate.Value)
	return m, having, nil
}

// some returns at most n graphs, evenly spread.
func some(graphs []*graph.Graph, n int) (out []*graph.Graph) {
	n = min(n, len(graphs))
	for i := range n {
		out = append(out, graphs[i*len(graphs)/n])
	}
	return out
}

// groups tells what the vertices of known structures contribute, and the other vertices.
func groups(ctx context.Context, w io.Writer, m *model.Model, graphs []*graph.Graph, class string) error {
	type group struct {
		graphs, vertices, above int
		sum                     float64
	}
	all := map[string]*group{}
	for _, g := range graphs {
		e, err := explain.Prediction(ctx, m, g, explain.Options{Class: class})
		if err != nil {
			return err
		}
		mean, rest := e.Sum/float64(g.N()), slices.Repeat([]bool{true}, g.N())
		add := func(name string, in []bool) {
			x := all[name]
			if x == nil {
				x = &group{}
				all[name] = x
			}
			own := 0.0
			for v, yes := range in {
				if yes {
					own += e.Vertices[v]
					rest[v] = rest[v] && name == "others"
				}
			}
			if n := count(in); n > 0 {
				x.graphs++
				x.vertices += n
				x.sum += own
				if own/float64(n) > mean {
					x.above++
				}
			}
		}
		for name, find := range structures {
			add(name, find(g))
		}
		add("others", rest)
	}
	fmt.Fprintf(w, "%-12s %8s %8s %22s %22s\n", "group", "graphs", "vertices", "mean contribution", "above mean of graph")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if x := all[name]; x.vertices > 0 {
			share := 100 * float64(x.above) / float64(x.graphs)
			fmt.Fprintf(w, "%-12s %8d %8d %22.3f %20.0f %%\n", name, x.graphs, x.vertices, x.sum/float64(x.vertices), share)
		}
	}
	return nil
}

// compare compares ways to explain.
func compare(ctx context.Context, w io.Writer, m *model.Model, graphs []*graph.Graph, class string, find structure) error {
	type score struct{ deletion, fragment, cause, work mean }
	scores := make([]score, len(methods))
	for _, g := range graphs {
		if g.N() < 4 {
			continue
		}
		e, err := explain.Prediction(ctx, m, g, explain.Options{Class: class})
		if err != nil {
			return err
		}
		x := newGame(ctx, m, g, e)
		single, err := x.effects(singles(g.N()))
		if err != nil {
			return err
		}
		fragments := fragmentsOf(g, 30)
		effects, err := x.effects(fragments)
		if err != nil {
			return err
		}
		for i, method := range methods {
			x.asked = map[string]float64{}
			values, err := method.explain(x)
			if err != nil {
				continue // slopes, which some kernels do not have
			}
			sums := make([]float64, len(fragments))
			for k, f := range fragments {
				for _, v := range f {
					sums[k] += values[v]
				}
			}
			s := &scores[i]
			s.deletion.add(spearman(values, single))
			s.fragment.add(spearman(sums, effects))
			s.work.add(float64(len(x.asked)))
			if find != nil {
				s.cause.add(auroc(values, find(g)))
			}
		}
	}
	fmt.Fprintf(w, "%-26s %8s %8s %8s %8s\n", "", "delete", "fragment", "cause", "graphs")
	for i, method := range methods {
		if s := scores[i]; s.deletion.n > 0 {
			fmt.Fprintf(w, "%-26s %8.3f %8.3f %8.3f %8.0f\n",
				method.name, s.deletion.value(), s.fragment.value(), s.cause.value(), s.work.value())
		}
	}
	return nil
}

// mean is that of the numbers that were added and are numbers.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x float64) {
	if !math.IsNaN(x) {
		m.sum += x
		m.n++
	}
}

func (m *mean) value() float64 { return m.sum / float64(m.n) }
