package cli

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

type predictCmd struct {
	placeFlags
	Model   string `arg:"" help:"Model file."`
	Data    string `arg:"" help:"Graphs: a dataset, a SMILES, or - for standard input (with --format)."`
	Nearest int    `help:"Number of nearest training graphs to name." default:"3"`
	CSV     bool   `help:"Print a table as CSV." name:"csv"`
	Out     string `help:"Write to this file instead of standard output." short:"o" placeholder:"FILE"`
}

// predicted is what is said about one graph.
type predicted struct {
	ID          string             `json:"id"`
	Target      string             `json:"target,omitempty"` // as the data has it
	Class       string             `json:"class,omitempty"`
	Value       *float64           `json:"value,omitempty"`
	Probability map[string]float64 `json:"probability,omitempty"`
	Margin      *float64           `json:"margin,omitempty"` // mean decision value for the class against the others
	Similarity  float64            `json:"similarity"`       // largest to a training graph
	Percentile  int                `json:"percentile"`
	Unlike      bool               `json:"unlike"`
	Nearest     []neighbour        `json:"nearest"`

	classes []float64 // probabilities in the order of the classes
}

type neighbour struct {
	ID         string  `json:"id"`
	Target     string  `json:"target,omitempty"`
	Similarity float64 `json:"similarity"`
}

// Graphs are predicted in blocks of at most that many graphs and vertices, and kernel
// values.
const (
	blockGraphs   = 256
	blockVertices = 1 << 16
	blockValues   = 1 << 22
)

// Run predicts graphs as they are read.
func (c *predictCmd) Run(g *globals) error {
	if c.CSV && g.JSON {
		return usageError("--csv and --json exclude each other")
	}
	if c.Nearest < 0 {
		return usageError("--nearest: want 0 or more")
	}
	m, err := readModel(g, c.Model)
	if err != nil {
		return err
	}
	if m.Learner == nil {
		return fmt.Errorf("%s has no learner in it: it can be searched, not asked for predictions", c.Model)
	}
	next, done, err := c.graphs(g, c.like(m))
	if err != nil {
		return err
	}
	s := &score{classes: m.Classes, most: m.Kernel.Self()} // the largest value of normalised kernels
	if m.Nearest != nil && m.Nearest[100] > 1.001*s.most { // these are not
		s.most = math.Inf(1)
	}
	err = output(g, c.Out, func(w io.Writer) error { return c.stream(g, m, next, s, c.writer(g, m, w)) })
	done()
	if err != nil {
		return err
	}
	if s.graphs == 0 {
		return fmt.Errorf("%s: no graphs", c.Data)
	}
	s.print(g, c.Data, m)
	return nil
}

// graphs returns a function that gives one graph after the other, io.EOF at the end, and one
// that releases what it reads from.
func (c *predictCmd) graphs(g *globals, o dataset.Options) (next func() (*graph.Graph, error), done func(), err error) {
	d, err := openData(c.Data, o)
	if err != nil {
		list, listErr := readGraphs(g, c.Data, o) // a SMILES?
		if listErr != nil {
			return nil, nil, listErr
		}
		return func() (*graph.Graph, error) {
			if len(list) == 0 {
				return nil, io.EOF
			}
			x := list[0]
			list = list[1:]
			return x, nil
		}, func() {}, nil
	}
	return d.Next, func() { closeData(g, d) }, nil
}

// stream predicts block after block, in memory that does not grow with the data.
func (c *predictCmd) stream(g *globals, m *model.Model, next func() (*graph.Graph, error), s *score, write func(p []predicted) error) error {
	bar := newBar(g)
	defer bar.done()
	rows := max(1, min(blockGraphs, blockValues/max(1, m.Examples())))
	for more := true; more; {
		var block []*graph.Graph
		for vertices := 0; len(block) < rows && vertices < blockVertices; {
			x, err := next()
			if errors.Is(err, io.EOF) {
				more = false
				break
			}
			if err != nil {
				return err
			}
			if err := g.ctx.Err(); err != nil {
				return err
			}
			block = append(block, x)
			vertices += x.N()
		}
		if len(block) == 0 {
			break
		}
		p, err := m.Predict(g.ctx, block, max(1, c.Nearest))
		if err != nil {
			return fmt.Errorf("%s, after %d graphs: %w", c.Data, s.graphs, err)
		}
		out := make([]predicted, len(block))
		for i, x := range block {
			out[i] = describe(m, x, s.graphs+i, p[i], c.Nearest)
			s.add(&out[i])
		}
		s.graphs += len(block)
		if err := write(out); err != nil {
			return err
		}
		bar.show("predicted", int64(s.graphs), 0, "graphs")
	}
	return write(nil) // the end
}

// describe returns what is printed of a prediction.
func describe(m *model.Model, x *graph.Graph, i int, p model.Prediction, nearest int) predicted {
	out := predicted{ID: graphName(x, i), Target: x.Target(), Class: p.Class, Percentile: p.Percentile, classes: p.Probability, Nearest: []neighbour{}}
	if len(p.Nearest) > 0 {
		out.Similarity = p.Nearest[0].Similarity
		out.Unlike = m.Unlike(out.Similarity)
	}
	for _, n := range p.Nearest[:min(nearest, len(p.Nearest))] {
		out.Nearest = append(out.Nearest, neighbour{n.ID, n.Target, n.Similarity})
	}
	if m.Classes == nil {
		v := p.Value
		out.Value = &v
		return out
	}
	if p.Probability != nil {
		out.Probability = map[string]float64{}
		for k, name := range m.Classes {
			out.Probability[name] = p.Probability[k]
		}
	}
	out.Margin = &p.Decision[slices.Index(m.Classes, p.Class)]
	return out
}

// writer returns the function that prints predictions; nil marks the end.
func (c *predictCmd) writer(g *globals, m *model.Model, w io.Writer) func(p []predicted) error {
	switch {
	case g.JSON:
		e := json.NewEncoder(w)
		return func(p []predicted) error {
			for i := range p {
				if err := e.Encode(&p[i]); err != nil {
					return err
				}
			}
			return nil
		}
	case c.CSV:
		return c.csvWriter(m, csv.NewWriter(w))
	}
	return textWriter(m, w)
}

func (c *predictCmd) csvWriter(m *model.Model, w *csv.Writer) func(p []predicted) error {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	first := true
	return func(p []predicted) error {
		if first {
			first = false
			head := []string{"id", "target"}
			if m.Classes == nil {
				head = append(head, "value")
			} else {
				head = append(head, "class", "margin")
				if m.Learner.Sigmoids != nil {
					for _, name := range m.Classes {
						head = append(head, "p("+name+")")
					}
				}
			}
			head = append(head, "similarity", "percentile", "unlike")
			for i := range c.Nearest {
				n := strconv.Itoa(i + 1)
				head = append(head, "nearest"+n, "target"+n, "similarity"+n)
			}
			w.Write(head) // an error is that of Flush
		}
		for _, x := range p {
			row := []string{x.ID, x.Target}
			if x.Value != nil {
				row = append(row, number(*x.Value))
			} else {
				row = append(row, x.Class, number(*x.Margin))
				for _, v := range x.classes {
					row = append(row, number(v))
				}
			}
			row = append(row, number(x.Similarity), strconv.Itoa(x.Percentile), strconv.FormatBool(x.Unlike))
			for i := range c.Nearest {
				if i < len(x.Nearest) {
					n := x.Nearest[i]
					row = append(row, n.ID, n.Target, number(n.Similarity))
				} else {
					row = append(row, "", "", "")
				}
			}
			w.Write(row)
		}
		w.Flush()
		return w.Error()
	}
}

// textWriter prints a table of 80 columns.
func textWriter(m *model.Model, w io.Writer) func(p []predicted) error {
	first, targets := true, false
	return func(p []predicted) error {
		if first && len(p) > 0 {
			first = false
			targets = slices.ContainsFunc(p, func(x predicted) bool { return x.Target != "" })
			head := "class"
			if m.Classes == nil {
				head = "value"
			}
			score := "margin"
			if p[0].Probability != nil {
				score = "p"
			}
			if m.Classes == nil {
				score = ""
			}
			if targets {
				fmt.Fprintf(w, "%-16s %-15s %-15s %6s  %-16s %s\n", "id", head, "target", score, "nearest", "like")
			} else {
				fmt.Fprintf(w, "%-20s %-18s %6s  %-22s %s\n", "id", head, score, "nearest", "like")
			}
		}
		for _, x := range p {
			said, score := x.Class, ""
			switch {
			case x.Value != nil:
				said = figure("", *x.Value)
			case x.Probability != nil:
				score = fmt.Sprintf("%.3f", x.Probability[x.Class])
			default:
				score = fmt.Sprintf("%.3f", *x.Margin)
			}
			near := ""
			if len(x.Nearest) > 0 {
				near = x.Nearest[0].ID
			}
			mark := ""
			if x.Unlike {
				mark = " !"
			}
			var err error
			if targets {
				_, err = fmt.Fprintf(w, "%-16s %-15s %-15s %6s  %-16s %.3f%s\n", clip(x.ID, 16), clip(said, 15), clip(x.Target, 15), score, clip(near, 16), x.Similarity, mark)
			} else {
				_, err = fmt.Fprintf(w, "%-20s %-18s %6s  %-22s %.3f%s\n", clip(x.ID, 20), clip(said, 18), score, clip(near, 22), x.Similarity, mark)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// score compares predictions with the targets of the data.
type score struct {
	classes                []string
	most                   float64 // kernel of a graph with itself
	graphs, unlike         int
	trained                int // graphs with a target that are like a training graph in everything
	known, right, foreign  int // graphs with a target; those with a class that the model does not know
	squares, absolute, sum float64
	sumSquares             float64
}

func (s *score) add(p *predicted) {
	if p.Unlike {
		s.unlike++
	}
	if p.Target == "" {
		return
	}
	const rounding = 1e-12
	if p.Similarity >= s.most*(1-rounding) {
		s.trained++
	}
	if p.Value == nil {
		s.known++
		if p.Target == p.Class {
			s.right++
		} else if !slices.Contains(s.classes, p.Target) {
			s.foreign++
		}
		return
	}
	y, err := strconv.ParseFloat(strings.TrimSpace(p.Target), 64)
	if err != nil || math.IsNaN(y) || math.IsInf(y, 0) {
		s.foreign++
		return
	}
	s.known++
	d := *p.Value - y
	s.squares += d * d
	s.absolute += math.Abs(d)
	s.sum += y
	s.sumSquares += y * y
}

// print says how good predictions are, where that can be told, and what to doubt.
func (s *score) print(g *globals, data string, m *model.Model) {
	n := float64(s.known)
	switch {
	case s.known == 0:
	case m.Classes != nil:
		g.note("%s: %d of %d right, accuracy %.1f %%", data, s.right, s.known, 100*float64(s.right)/n)
	default:
		line := fmt.Sprintf("%s: rmse %s, mae %s", data, figure("", math.Sqrt(s.squares/n)), figure("", s.absolute/n))
		if v := s.sumSquares - s.sum*s.sum/n; v > 0 {
			line += fmt.Sprintf(", R² %.3f", 1-s.squares/v)
		}
		g.note("%s, %d graphs", line, s.known)
	}
	if s.trained > 0 {
		g.note("%s", breakLines(agree(s.trained, "of these graphs is", "of these graphs are")+" just like one in training: what is right for them says little about new graphs", 0, 2))
	}
	if s.foreign > 0 && m.Classes != nil {
		g.note("%s: %s a class that the model does not know", data, agree(s.foreign, "target is", "targets are"))
	} else if s.foreign > 0 {
		g.note("%s: %s not a number", data, agree(s.foreign, "target is", "targets are"))
	}
	if s.unlike > 0 {
		g.note("%s", breakLines(fmt.Sprintf("! %s unlike anything in training (nearest below %.3f, the first percentile of what training graphs have among themselves): a guess at best",
			agree(s.unlike, "graph is", "graphs are"), m.Nearest[1]), 0, 2))
	}
}

// agree writes a number with the word that agrees with it.
func agree(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
