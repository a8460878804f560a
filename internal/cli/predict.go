package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

type predictCmd struct {
	placeFlags
	Model    string  `arg:"" help:"Model file."`
	Data     string  `arg:"" help:"Graphs: a dataset, a SMILES, or - for standard input, whose format --format names."`
	Nearest  int     `help:"Number of nearest training graphs to name." default:"3" least:"0"`
	Interval float64 `help:"Per cent of measured values that should lie in their interval." default:"90" placeholder:"PERCENT"`
	// Covariance is how far the errors of predictions go together.
	Covariance string `help:"For models of values: write the covariance of measured values of all graphs to this file (.npy or .csv), noise included." placeholder:"FILE" ends:".npy .csv"`
	CSV        bool   `help:"Print CSV. If the data are a table, its columns come first." name:"csv"`
	Out        string `help:"Write to this file instead of standard output." short:"o" placeholder:"FILE" ends:""`
}

// defaultInterval is that of --interval.
const defaultInterval = 90

// predicted is what is said about one graph, for one endpoint.
type predicted struct {
	model.Answer
	Error string `json:"-"` // why it cannot be read; nothing else is known then

	classes []float64 // probabilities in the order of the classes
	line    int       // of what cannot be read
	scores  []float64 // the same, or decision values where they are not known
	columns dataset.Fields
}

// Graphs are predicted in blocks of at most that many graphs and vertices, and kernel
// values. A neighbourhood that several graphs of a block have is looked at once.
const (
	blockGraphs   = 512
	blockVertices = 1 << 16
	blockValues   = 1 << 22
)

// Run predicts graphs as they are read.
func (c *predictCmd) Run(g *globals) error {
	m, err := readModel(c.Model)
	if err == nil {
		m, err = c.endpoints(m)
	}
	if err != nil {
		return err
	}
	if m.Task() == model.SearchOnly {
		return fmt.Errorf("%s has no learner: you can search it, but not predict with it; mlg train makes a model that predicts", c.Model)
	}
	if !(c.Interval >= 1 && c.Interval < 100) {
		return usageError(fmt.Sprintf("--interval %g: want at least 1 and less than 100 per cent", c.Interval))
	}
	classes := !slices.ContainsFunc(m.Endpoints(), func(e *model.Model) bool { return e.Task() == model.Regression })
	if c.Interval != defaultInterval && classes {
		return usageError(fmt.Sprintf("--interval is for values, but %s predicts classes", c.Model))
	}
	read := c.like(m)
	in, err := rows(g, c.Data, read, c.CSV, targetsOf(m)...)
	if err != nil {
		return err
	}
	var scores []*score
	for _, e := range m.Endpoints() {
		s := &score{classes: e.Classes, most: e.Kernel.Self()} // the largest value of normalised kernels
		if e.Nearest != nil && e.Nearest[100] > 1.001*s.most { // these are not
			s.most = math.Inf(1)
		}
		scores = append(scores, s)
	}
	var kept together
	if c.Covariance != "" {
		if m, err = c.endpoint(c.Model, m); err != nil {
			return err
		}
		if m.Learner.Process == nil {
			return usageError(fmt.Sprintf("--covariance is for models of values with deviations, and %s is none", c.Model))
		}
		if in, err = kept.read(in); err != nil {
			return err
		}
	}
	err = output(g, c.Out, func(w io.Writer) error {
		return c.stream(g, m, in, scores, c.writer(g, m, w))
	})
	if err == nil && c.Covariance != "" {
		err = kept.write(g, m, c.Covariance)
	}
	if err != nil {
		return err
	}
	for i, e := range m.Endpoints() {
		data := c.Data
		if len(scores) > 1 {
			data += ", " + e.Target
		}
		scores[i].print(g, data, e)
	}
	return nil
}

// row is a graph that is to be predicted, or a record that cannot be read.
type row struct {
	*graph.Graph // nil: bad says why
	bad          dataset.Skipped
	id           string
	targets      []string       // by endpoint
	columns      dataset.Fields // of a table
}

// vertices returns the number of vertices.
func (r row) vertices() int {
	if r.Graph == nil {
		return 0
	}
	return r.N()
}

// newRow returns the record that was read last, the one of a number. Its columns are kept where the output has them, with the
// identifier where no column has that. The values of several targets are in the columns of their names.
func newRow(d *dataset.Reader, x *graph.Graph, number int, columns bool, targets []string) row {
	f, roles := d.Fields(), d.Roles()
	out := row{Graph: x}
	target := f.Value(roles.Target())
	if x != nil {
		out.id, target = x.ID(), x.Target()
	} else {
		out.bad = d.Bad()
		out.id = f.Value(roles.ID.Column)
	}
	if out.targets = []string{target}; len(targets) > 1 {
		out.targets = nil
		for _, t := range targets {
			v := f.Value(t)
			if dataset.Missing(v) {
				v = ""
			}
			out.targets = append(out.targets, strings.TrimSpace(v))
		}
	}
	if out.id = cmp.Or(out.id, strconv.Itoa(number)); columns {
		names, values := slices.Clone(f.Names), slices.Clone(f.Values)
		if roles.ID.Column == "" && !slices.Contains(names, "id") {
			names, values = slices.Insert(names, 0, "id"), slices.Insert(values, 0, out.id)
		}
		out.columns = dataset.Fields{Names: names, Values: values}
	}
	return out
}

// rows gives one record of some data after the other, or the molecule of a SMILES, with the columns of a table where
// these are wanted. targets are the endpoints of a model.
func rows(g *globals, data string, o dataset.Options, columns bool, targets ...string) (iter.Seq2[row, error], error) {
	d, err := openData(data, o)
	if err == nil {
		columns := columns && slices.Contains([]dataset.Format{dataset.CSV, dataset.TSV, dataset.Parquet, dataset.SDF}, d.Format())
		return func(yield func(row, error) bool) {
			defer closeData(g, d)
			for n := 1; ; n++ {
				x, err := d.Try()
				if errors.Is(err, io.EOF) {
					return
				}
				if err == nil {
					err = g.ctx.Err()
				}
				if err != nil {
					yield(row{}, err)
					return
				}
				if !yield(newRow(d, x, n, columns, targets), nil) {
					return
				}
			}
		}, nil
	} else if data == "-" {
		return nil, fmt.Errorf("%w; name its format with --format", err)
	}
	list, err := readGraphs(g, data, o)
	return func(yield func(row, error) bool) {
		for i, x := range list {
			known := make([]string, max(1, len(targets)))
			known[0] = x.Target()
			if !yield(row{Graph: x, id: graphName(x, i), targets: known}, nil) {
				return
			}
		}
	}, err
}

// stream predicts block after block, two at a time on all processors, in memory that does not grow with the data.
func (c *predictCmd) stream(g *globals, m *model.Model, in iter.Seq2[row, error], scores []*score, write func(p []predicted) error) error {
	type answer struct {
		out []predicted
		err error
	}
	s, workers := scores[0], work.Workers(g.ctx)
	most := max(1, min(blockGraphs, blockValues/max(1, m.Examples())))
	two := workers > 1 && workers >= runtime.GOMAXPROCS(0) // or they would take more than --threads
	predict := c.predictor(m)
	all := ahead(g.ctx, two, blocks(in, most, blockVertices, row.vertices), func(ctx context.Context, block []row) (a answer) {
		a.out, a.err = predict(ctx, block)
		return a
	})
	for a, err := range all {
		if err != nil {
			return err
		}
		if a.err != nil {
			return fmt.Errorf("%s, after %s: %w", c.Data, agree(s.graphs, "graph", "graphs"), a.err)
		}
		for i := range a.out {
			scores[i%len(scores)].add(&a.out[i])
		}
		if err := write(a.out); err != nil {
			return err
		}
		g.bar.show("predicted", int64(s.graphs), 0, "graphs")
	}
	if s.graphs == 0 {
		return noGraphs(c.Data, s.bad)
	}
	return nil
}

// predictor returns what predicts some rows: for each one after the other, what all endpoints say.
func (c *predictCmd) predictor(m *model.Model) func(context.Context, []row) ([]predicted, error) {
	all := m.Endpoints()
	return func(ctx context.Context, block []row) ([]predicted, error) {
		out := make([]predicted, len(block)*len(all))
		var graphs []*graph.Graph
		var at []int
		for i, x := range block {
			for e := range all {
				p := predicted{Answer: model.Answer{ID: x.id, Target: x.targets[e]}, Error: x.bad.Reason, line: x.bad.Line, columns: x.columns}
				if len(all) > 1 {
					p.Endpoint = all[e].Target
				}
				out[i*len(all)+e] = p
			}
			if x.Graph != nil {
				graphs, at = append(graphs, x.Graph), append(at, i)
			}
		}
		if len(graphs) == 0 {
			return out, nil
		}
		said, err := m.PredictAll(ctx, graphs, model.PredictOptions{Nearest: c.Nearest, Deviations: true, Level: c.Interval / 100})
		if err != nil {
			return nil, err
		}
		for e := range all {
			for k, i := range at {
				out[i*len(all)+e].describe(all[e], &said[e][k])
			}
		}
		return out, nil
	}
}

// describe adds what is printed of a prediction.
func (p *predicted) describe(m *model.Model, said *model.Prediction) {
	p.Tell(m, said)
	if p.classes = said.Probability; m.Task() == model.Classification {
		p.scores = said.Decision
	}
	if said.Probability != nil {
		p.scores = said.Probability
	}
}

// score compares predictions with the targets of the data.
type score struct {
	classes               []string
	most                  float64 // kernel of a graph with itself
	graphs, unlike        int
	same, isomers         int         // graphs that are a training molecule, and those that differ from one in stereochemistry
	clipped               int         // graphs whose variance is below 0
	trained               int         // graphs with a target that are like a training graph in everything
	known, right, foreign int         // graphs with a target; those with a class that the model does not know
	labels                []int       // of those that the model knows, in place of the class
	said                  []int       // and what is predicted
	scores                [][]float64 // for every class
	truth, values         []float64
	bad                   dataset.LeftOut // records that cannot be read
	deviations            []float64       // of values, nil where they are not known
	level                 float64         // of intervals
}

func (s *score) add(p *predicted) {
	if p.Error != "" {
		s.bad.Count++
		s.bad.First = append(s.bad.First, dataset.Skipped{Line: p.line, Reason: p.Error})[:1]
		return
	}
	s.graphs++
	if p.Unlike {
		s.unlike++
	}
	switch {
	case p.Known == nil:
	case p.Known.Same == dataset.SameMolecule:
		s.same++
	default:
		s.isomers++
	}
	if p.Clipped {
		s.clipped++
	}
	if p.Target == "" {
		return
	}
	const rounding = 1e-12
	if p.Known != nil && p.Known.Same == dataset.SameMolecule || p.Known == nil && p.Similarity >= s.most*(1-rounding) {
		s.trained++
	}
	if p.Value == nil {
		s.known++
		if dataset.SameClass(p.Target, p.Class) {
			s.right++
		}
		label := slices.IndexFunc(s.classes, func(c string) bool { return dataset.SameClass(p.Target, c) })
		if label < 0 {
			s.foreign++
			return
		}
		s.labels, s.said = append(s.labels, label), append(s.said, slices.Index(s.classes, p.Class))
		s.scores = append(s.scores, p.scores)
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

// classText says how good classes are, and where accuracy says little what says more first, as an evaluation does.
func (s *score) classText() string {
	text := fmt.Sprintf("%d of %d right, accuracy %s", s.right, s.known, figure("accuracy", float64(s.right)/float64(s.known)))
	t := choose.Targets{Classes: s.classes, Labels: s.labels}
	if !t.Uneven() {
		return text
	}
	balanced := metrics.NewConfusion(s.labels, s.said, len(s.classes)).BalancedAccuracy()
	text = fmt.Sprintf("balanced accuracy %s, %s", figure("balanced accuracy", balanced), text)
	if auc, ok := metrics.MacroAUC(s.labels, s.scores, len(s.classes)); ok {
		text = fmt.Sprintf("AUC %s, %s", figure("AUC", auc), text)
	}
	for _, f := range t.Rare(kernel.UpTo(len(s.labels)), s.scores) {
		text += fmt.Sprintf(", %s %s", f.Measure, figure(f.Measure, f.Value))
	}
	return text
}

// print says how good the predictions are, if that is known, and which ones to doubt.
func (s *score) print(g *globals, data string, m *model.Model) {
	switch {
	case s.known == 0:
	case m.Task() == model.Classification:
		g.note("%s", table.Wrap(data+": "+s.classText(), 0, 2))
	default:
		x := metrics.ScoreValues(s.truth, s.values, nil)
		line := fmt.Sprintf("%s: rmse %s, mae %s, R² %.3f", data, figure("", x.RMSE), figure("", x.MAE), x.R2)
		if s.deviations != nil {
			line += fmt.Sprintf(", %.1f %% in their intervals", 100*metrics.Covered(s.truth, s.values, s.deviations, s.level))
		}
		g.note("%s", table.Wrap(line+", "+agree(s.known, "graph", "graphs"), 0, 2))
	}
	if m.Task() == model.Regression && m.Learner.Process == nil {
		g.note("%s", table.Wrap(noDeviations, 0, 2))
	}
	const little = ": the score on them says little about new graphs"
	switch {
	case s.same > 0:
		text := agree(s.same, "graph is the same molecule as a training graph", "graphs are the same molecules as training graphs")
		if s.trained > 0 {
			text += little
		}
		g.note("= %s", table.Wrap(text, 2, 2))
	case s.trained > 0:
		g.note("%s", table.Wrap(agree(s.trained, "of these graphs is", "of these graphs are")+" the same as a training graph"+little, 0, 2))
	}
	if s.foreign > 0 {
		what := "not a number"
		if m.Task() == model.Classification {
			what = "a class that the model does not know"
		}
		g.note("%s: %s %s", data, agree(s.foreign, "target is", "targets are"), what)
	}
	if s.clipped > 0 {
		g.note("%s", table.Wrap(clippedText(s.clipped), 0, 2))
	}
	if s.isomers > 0 {
		g.note("~ %s", table.Wrap(agree(s.isomers, "graph is the same molecule as a training graph, with other stereochemistry",
			"graphs are the same molecules as training graphs, with other stereochemistry"), 2, 2))
	}
	if s.unlike > 0 {
		g.note("%s", table.Wrap(fmt.Sprintf("! %s unlike the training graphs: the similarity to the nearest one is below %.3f. 99 %% of the training graphs have a nearer one. Treat the prediction as a guess",
			agree(s.unlike, "graph is", "graphs are"), m.Nearest[1]), 0, 2))
	}
}

// noDeviations says why a model of values has none.
const noDeviations = "no deviations: the model is not a Gaussian process. For values, train --learner ridge makes one"

// agree writes a number with the word that agrees with it.
func agree(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
