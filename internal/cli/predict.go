package cli

import (
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/svm"
)

type predictCmd struct {
	placeFlags
	Model    string  `arg:"" help:"Model file."`
	Data     string  `arg:"" help:"Graphs: a dataset, a SMILES, or - for standard input, perhaps with --format."`
	Nearest  int     `help:"Number of nearest training graphs to name." default:"3" least:"0"`
	Interval float64 `help:"Per cent of measured values that are to lie in the intervals of predicted ones." default:"90" placeholder:"%%"`
	CSV      bool    `help:"Print a table as CSV, with the columns of the data if they are a table." name:"csv"`
	Out      string  `help:"Write to this file instead of standard output." short:"o" placeholder:"FILE" ends:""`
}

// defaultInterval is that of --interval.
const defaultInterval = 90

// predicted is what is said about one graph.
type predicted struct {
	ID          string             `json:"id"`
	Target      string             `json:"target,omitempty"` // as the data has it
	Class       string             `json:"class,omitempty"`
	Value       *float64           `json:"value,omitempty"`
	Deviation   *float64           `json:"deviation,omitempty"` // standard, of a measured value
	Interval    *interval          `json:"interval,omitempty"`
	Probability map[string]float64 `json:"probability,omitempty"`
	Margin      *float64           `json:"margin,omitempty"` // mean decision value for the class against the others
	Similarity  float64            `json:"similarity"`       // largest to a training graph
	Percentile  int                `json:"percentile"`
	Unlike      bool               `json:"unlike"`
	Nearest     []model.Neighbour  `json:"nearest"`

	classes []float64 // probabilities in the order of the classes
	columns dataset.Fields
}

// interval is where a measured value lies with a probability.
type interval struct {
	Level float64 `json:"level"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
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
	m, err := readModel(c.Model)
	if err != nil {
		return err
	}
	if m.Learner == nil {
		return fmt.Errorf("%s has no learner in it: it can be searched, not asked for predictions", c.Model)
	}
	if !(c.Interval >= 1 && c.Interval < 100) {
		return usageError(fmt.Sprintf("--interval %g: want at least 1 and less than 100 per cent", c.Interval))
	}
	if c.Interval != defaultInterval && m.Classes != nil {
		return usageError(fmt.Sprintf("--interval is for values, and %s has classes", c.Model))
	}
	in, err := c.open(g, c.like(m))
	if err != nil {
		return err
	}
	s := &score{classes: m.Classes, most: m.Kernel.Self()} // the largest value of normalised kernels
	if m.Nearest != nil && m.Nearest[100] > 1.001*s.most { // these are not
		s.most = math.Inf(1)
	}
	if err := output(g, c.Out, func(w io.Writer) error { return c.stream(g, m, in, s, w) }); err != nil {
		return err
	}
	if s.graphs == 0 {
		return fmt.Errorf("%s: no graphs", c.Data)
	}
	s.print(g, c.Data, m)
	return nil
}

// input is what is predicted, with the columns of the graphs that were read and not yet written.
type input struct {
	graphs  iter.Seq2[*graph.Graph, error]
	columns []dataset.Fields
}

// add keeps the columns of the graph that was read last, with its identifier where no column has that.
func (in *input) add(d *dataset.Reader, id string) {
	f := d.Fields()
	names, values := slices.Clone(f.Names), slices.Clone(f.Values)
	if d.Roles().ID.Column == "" && !slices.Contains(names, "id") {
		names, values = slices.Insert(names, 0, "id"), slices.Insert(values, 0, id)
	}
	in.columns = append(in.columns, dataset.Fields{Names: names, Values: values})
}

// open gives one graph after the other, or the molecule of a SMILES.
func (c *predictCmd) open(g *globals, o dataset.Options) (*input, error) {
	in := &input{}
	d, err := openData(c.Data, o)
	if err == nil {
		in.graphs = each(g, d)
		if c.CSV && slices.Contains([]dataset.Format{dataset.CSV, dataset.TSV, dataset.Parquet, dataset.SDF}, d.Format()) {
			in.graphs = func(yield func(*graph.Graph, error) bool) {
				n := 0
				for x, err := range each(g, d) {
					if err == nil {
						in.add(d, graphName(x, n))
						n++
					}
					if !yield(x, err) {
						return
					}
				}
			}
		}
		return in, nil
	} else if c.Data == "-" {
		return nil, fmt.Errorf("%w; --format says what it is", err)
	}
	list, err := readGraphs(g, c.Data, o)
	in.graphs = func(yield func(*graph.Graph, error) bool) {
		for _, x := range list {
			if !yield(x, nil) {
				return
			}
		}
	}
	return in, err
}

// stream predicts block after block, in memory that does not grow with the data.
func (c *predictCmd) stream(g *globals, m *model.Model, in *input, s *score, w io.Writer) error {
	write := c.writer(g, m, w)
	var posterior *model.Posterior
	rows := max(1, min(blockGraphs, blockValues/max(1, m.Examples())))
	for block, err := range blocks(in.graphs, rows, blockVertices) {
		if err != nil {
			return err
		}
		cross, err := m.Kernel.Cross(g.ctx, block)
		if err != nil {
			return fmt.Errorf("%s, after %d graphs: %w", c.Data, s.graphs, err)
		}
		p, err := m.PredictCross(cross, max(1, c.Nearest))
		if err != nil {
			return fmt.Errorf("%s, after %d graphs: %w", c.Data, s.graphs, err)
		}
		var deviations []float64
		if m.Learner.Process != nil {
			if posterior == nil {
				if posterior, err = m.Posterior(g.ctx); err != nil {
					return err
				}
			}
			if deviations, err = posterior.Deviations(g.ctx, block, cross); err != nil {
				return fmt.Errorf("%s, after %d graphs: %w", c.Data, s.graphs, err)
			}
		}
		out := make([]predicted, len(block))
		for i, x := range block {
			out[i] = describe(m, x, s.graphs+i, p[i], c.Nearest)
			if deviations != nil {
				out[i].spread(deviations[i], c.Interval/100)
			}
			if in.columns != nil {
				out[i].columns, in.columns = in.columns[0], in.columns[1:]
			}
			s.add(&out[i])
		}
		s.graphs += len(block)
		if err := write(out); err != nil {
			return err
		}
		g.bar.show("predicted", int64(s.graphs), 0, "graphs")
	}
	return nil
}

// describe returns what is printed of a prediction.
func describe(m *model.Model, x *graph.Graph, i int, p model.Prediction, nearest int) predicted {
	out := predicted{ID: graphName(x, i), Target: x.Target(), Class: p.Class, Percentile: p.Percentile, classes: p.Probability}
	if len(p.Nearest) > 0 {
		out.Similarity = p.Nearest[0].Similarity
		out.Unlike = m.Unlike(out.Similarity)
	}
	out.Nearest = p.Nearest[:min(nearest, len(p.Nearest))]
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

// spread adds the deviation of a value, and its interval.
func (p *predicted) spread(deviation, level float64) {
	half := metrics.HalfWidth(level) * deviation
	p.Deviation, p.Interval = &deviation, &interval{level, *p.Value - half, *p.Value + half}
}

// score compares predictions with the targets of the data.
type score struct {
	classes               []string
	most                  float64 // kernel of a graph with itself
	graphs, unlike        int
	trained               int // graphs with a target that are like a training graph in everything
	known, right, foreign int // graphs with a target; those with a class that the model does not know
	truth, values         []float64
	deviations            []float64 // of values, nil where they are not known
	level                 float64   // of intervals
}

// sameClass reports whether two texts name one class: 1 and 1.0 do.
func sameClass(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	if err != nil || a == b {
		return a == b
	}
	y, err := strconv.ParseFloat(b, 64)
	return err == nil && x == y
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
		if sameClass(p.Target, p.Class) {
			s.right++
		} else if !slices.ContainsFunc(s.classes, func(c string) bool { return sameClass(p.Target, c) }) {
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
	s.truth, s.values = append(s.truth, y), append(s.values, *p.Value)
	if p.Deviation != nil {
		s.deviations, s.level = append(s.deviations, *p.Deviation), p.Interval.Level
	}
}

// print says how good predictions are, where that can be told, and what to doubt.
func (s *score) print(g *globals, data string, m *model.Model) {
	switch {
	case s.known == 0:
	case m.Classes != nil:
		g.note("%s: %d of %d right, accuracy %.1f %%", data, s.right, s.known, 100*float64(s.right)/float64(s.known))
	default:
		x := metrics.ScoreValues(s.truth, s.values, nil)
		line := fmt.Sprintf("%s: rmse %s, mae %s, R² %.3f", data, figure("", x.RMSE), figure("", x.MAE), x.R2)
		if s.deviations != nil {
			line += fmt.Sprintf(", %.1f %% in their intervals", 100*metrics.Covered(s.truth, s.values, s.deviations, s.level))
		}
		g.note("%s", table.Wrap(fmt.Sprintf("%s, %d graphs", line, s.known), 0, 2))
	}
	if m.Classes == nil {
		switch p := m.Learner.Process; {
		case p == nil:
			g.note("%s", table.Wrap(noDeviations, 0, 2))
		case p.Excess > 0:
			g.note("%s", table.Wrap(fmt.Sprintf("deviations look at %d of %d training graphs, and are too large by %.2g %% on average",
				p.Basis, m.Examples(), 100*p.Excess), 0, 2))
		}
	}
	if s.trained > 0 {
		g.note("%s", table.Wrap(agree(s.trained, "of these graphs is", "of these graphs are")+" just like one in training: what is right for them says little about new graphs", 0, 2))
	}
	if s.foreign > 0 {
		what := "not a number"
		if m.Classes != nil {
			what = "a class that the model does not know"
		}
		g.note("%s: %s %s", data, agree(s.foreign, "target is", "targets are"), what)
	}
	if s.unlike > 0 {
		g.note("%s", table.Wrap(fmt.Sprintf("! %s unlike anything in training (nearest below %.3f, the first percentile of what training graphs have among themselves): a guess at best",
			agree(s.unlike, "graph is", "graphs are"), m.Nearest[1]), 0, 2))
	}
}

// noDeviations says why a model of values has none.
var noDeviations = fmt.Sprintf("no deviations: the model is not a Gaussian process, which train makes for values with --learner ridge,"+
	" up to %d graphs", svm.MostExamples)

// agree writes a number with the word that agrees with it.
func agree(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
