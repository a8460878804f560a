package explorer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/suggest"
	"github.com/mlgkernel/mlg/work"
)

// suggestRequest asks what to measure next.
type suggestRequest struct {
	Batch       string   `json:"batch,omitempty" help:"the batch to choose from, as POST batch names it; without it, graphs of the data that have no target"`
	K           int      `json:"k,omitempty" default:"12" want:"1 to 100" help:"number of graphs"`
	Goal        string   `json:"goal,omitempty" default:"max" want:"1 to 60" help:"for values: max, min, a number to reach, a range such as 1:3, 1: or :3, or learn"`
	Goals       []string `json:"goals,omitempty" want:"0 to 10" help:"for values of several targets: what is wanted of each, such as logD=1:3 or sol=max. The names are those of the targets and of columns of numbers. A range is a limit, and several other goals make a front; goal then has no meaning"`
	Class       string   `json:"class,omitempty" help:"for classes: the wanted one; without it, graphs whose class is uncertain"`
	Acquisition string   `json:"acquisition,omitempty" help:"how graphs are compared, as for mlg suggest; by default the first that suits the goal"`
	Similarity  float64  `json:"similarity,omitempty" default:"0" want:"0 to 1" help:"least similarity to a measured graph"`
	Vertices    int      `json:"vertices,omitempty" default:"0" help:"largest number of vertices; 0 for any"`
	Without     []int    `json:"without,omitempty" want:"0 to 10000" help:"graphs of the pool that are not wanted, by their positions"`
	kernelRequest
}

// options returns those of package suggest.
func (in *suggestRequest) options(d *Data) (suggest.PoolOptions, error) {
	o := suggest.DefaultPoolOptions()
	o.K, o.Class, o.Acquisition = in.K, in.Class, suggest.Acquisition(in.Acquisition)
	var err error
	switch {
	case len(in.Goals) > 0:
		o.Goals, err = in.wanted(d)
		return o, err
	case d.task == classification:
		return o, nil // the class says what is wanted
	}
	if o.Goal, err = suggest.ParseGoal(in.Goal); err != nil {
		return o, badRequest("goal", "goal: %v", err)
	}
	return o, nil
}

// wanted reads the goals of several targets.
func (in *suggestRequest) wanted(d *Data) (out []suggest.Wanted, err error) {
	for k, text := range in.Goals {
		field := fmt.Sprintf("goals[%d]", k)
		w, err := suggest.ParseWanted(text)
		if err != nil {
			return nil, badRequest(field, "%v", err)
		}
		if c, err := d.column(w.Target); !(w.Target == d.quantity() && d.task == regression) && (err != nil || !c.numeric) {
			return nil, badRequest(field, "goal %q: %.100q is neither the target nor a column of numbers", text, w.Target)
		}
		if slices.ContainsFunc(out, func(o suggest.Wanted) bool { return o.Target == w.Target }) {
			return nil, badRequest(field, "two goals for the target %s, want one", w.Target)
		}
		out = append(out, w)
	}
	return out, nil
}

// valuesOf returns the values of the targets, or those of a column of numbers.
func (d *Data) valuesOf(name string) []string {
	if d.task == regression && name == d.quantity() {
		return d.Targets
	}
	c, err := d.column(name)
	if err != nil {
		return make([]string, len(d.IDs))
	}
	values, _ := dataset.Learnable(c.values)
	return values
}

// suggestAnswer is what to measure next, with what it was chosen from.
type suggestAnswer struct {
	Goal        string      `json:"goal"`
	Acquisition string      `json:"acquisition"`
	Best        *float64    `json:"best" help:"best of the predictions for measured graphs; null where the goal has none"`
	Pool        int         `json:"pool" help:"graphs to choose from"`
	Measured    int         `json:"measured" help:"those of them that are measured already"`
	Limited     int         `json:"limited" help:"those of them that are beyond the limits"`
	Batch       []suggested `json:"batch" help:"the best first"`
}

// suggested is a graph to measure next.
type suggested struct {
	Index       int               `json:"index" help:"position in the data, or in the batch"`
	ID          string            `json:"id"`
	SMILES      string            `json:"smiles" help:"empty for a graph that is no molecule"`
	Class       string            `json:"class" help:"predicted; empty for values"`
	Probability *float64          `json:"probability" help:"of the wanted class, or else of the predicted one; null for values"`
	Value       *float64          `json:"value" help:"predicted; null for classes"`
	Deviation   *float64          `json:"deviation" help:"standard deviation of a measured value; null if it is not known"`
	Interval    *metrics.Interval `json:"interval" help:"where a measured value lies with a probability; null if that is not known"`
	Targets     []expected        `json:"targets" help:"what is predicted for each of several targets, in the order of the goals; empty for one. probability is then that all limits hold, null without limits"`
	Front       bool              `json:"front" help:"of several targets: no graph of the pool is predicted to be better in one and as good in the others"`
	Gain        float64           `json:"gain" help:"the acquisition function of the graph when it was chosen"`
	Why         string            `json:"why" help:"good: the prediction is better than all that is known, or hits; uncertain: it may be; new: no measured graph is like it"`
	Similarity  float64           `json:"similarity" help:"to the most similar measured graph"`
	Nearest     int               `json:"nearest" help:"that graph"`
	Place       place             `json:"place"`
}

// expected is what is predicted for one of several targets.
type expected struct {
	Target    string            `json:"target"`
	Value     float64           `json:"value"`
	Deviation *float64          `json:"deviation" help:"standard deviation of a measured value; null if it is not known"`
	Interval  *metrics.Interval `json:"interval" help:"where a measured value lies with a probability; null if that is not known"`
}

// pool is what to choose from. A graph without one is left out.
type pool struct {
	graphs []*graph.Graph
	at     []int // their positions in the data or the batch
}

// pool returns the graphs of a batch or, without one, those of the data that lack a wanted target.
func (s *source) pool(name string, wanted []suggest.Wanted) (*pool, error) {
	out := &pool{}
	if name != "" {
		b, err := s.batch(name)
		if err != nil {
			return nil, err
		}
		return &pool{b.graphs, kernel.UpTo(len(b.graphs))}, nil
	}
	values := [][]string{s.data.Targets}
	if len(wanted) > 0 {
		values = nil
		for _, w := range wanted {
			values = append(values, s.data.valuesOf(w.Target))
		}
	}
	for i, g := range s.data.Graphs {
		if g != nil && slices.ContainsFunc(values, func(of []string) bool { return of[i] == "" }) {
			out.graphs, out.at = append(out.graphs, g.With(s.data.IDs[i], "")), append(out.at, i)
		}
	}
	if len(out.at) == 0 {
		return nil, cannot("all graphs here have a target, so there is none to measure next: send others")
	}
	return out, nil
}

// measuredModel is a model of measured graphs alone.
type measuredModel struct {
	*model.Model
	known []int // where its graphs are in the data, nil for there
}

// knows returns the position in the data of a graph of the model.
func (m *measuredModel) knows(i int) int {
	if m.known == nil {
		return i
	}
	return m.known[i]
}

// suggesting returns the model that suggests: the learner of the session if all graphs have targets, and else one whose kernel
// is fitted to those that have one, so that the others are new to it.
func (x *session) suggesting(ctx context.Context) (*measuredModel, error) {
	d := x.s.data
	known := d.labelled(kernel.UpTo(len(d.IDs)))
	if x.saved || len(known) == len(d.IDs) {
		f, err := x.learned(ctx)
		if err != nil {
			return nil, err
		}
		if f.Task() == model.SearchOnly {
			return nil, errNoLearner
		}
		return &measuredModel{Model: f.Model}, nil
	}
	k, err := x.kernelOf(ctx)
	if err != nil {
		return nil, err
	}
	return compute(ctx, x, &x.measured, "learn", func(ctx context.Context) (*measuredModel, error) {
		if len(known) < 3 {
			return nil, errNoLearner
		}
		ds := &dataset.Dataset{Name: d.Name}
		for _, i := range known {
			ds.Graphs = append(ds.Graphs, d.Graphs[i].With(d.IDs[i], d.Targets[i]))
		}
		m, _, err := model.Learn(ctx, ds, choose.Each(k), x.learningKernel())
		return &measuredModel{m, known}, err
	})
}

// mostSeveral is the number of models of several targets that are kept.
const mostSeveral = 4

// suggestingSeveral returns the model of several targets that suggests: that of the data, or one of all graphs that have a
// value of some of them.
func (x *session) suggestingSeveral(ctx context.Context, wanted []suggest.Wanted) (*measuredModel, error) {
	if x.saved {
		f, err := x.learned(ctx)
		if err != nil {
			return nil, err
		}
		return &measuredModel{Model: f.Model}, nil
	}
	k, err := x.kernelOf(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, w := range wanted {
		names = append(names, w.Target)
	}
	slices.Sort(names) // the order of goals makes no other model
	return compute(ctx, x, x.several.of(strings.Join(names, "\x00"), mostSeveral), "learn", func(ctx context.Context) (*measuredModel, error) {
		d, ds := x.s.data, &dataset.Dataset{Name: x.s.data.Name}
		endpoints := make([]choose.Endpoint, len(names))
		values := make([][]string, len(names))
		for j, name := range names {
			endpoints[j], values[j] = choose.Endpoint{Name: name, Data: &dataset.Dataset{}, At: []int{}}, d.valuesOf(name)
		}
		var known []int
		for i, g := range d.Graphs {
			some := false
			for j := range names {
				if v := values[j][i]; v != "" {
					some = true
					endpoints[j].At, endpoints[j].Data.Graphs = append(endpoints[j].At, len(known)), append(endpoints[j].Data.Graphs, g.With(d.IDs[i], v))
				}
			}
			if some {
				known, ds.Graphs = append(known, i), append(ds.Graphs, g.With(d.IDs[i], ""))
			}
		}
		for j, name := range names {
			if t := endpoints[j].Data.Targets(); len(t) < 3 || slices.Min(t) == slices.Max(t) {
				return nil, cannot("%s cannot be predicted: %v", name, model.ErrNoTargets)
			}
		}
		o := x.learning()
		o.Task = choose.Regression
		m, _, err := model.LearnAll(ctx, ds, endpoints, choose.Each(k), o)
		return &measuredModel{m, known}, err
	})
}

// postSuggest says what to measure next.
func postSuggest(q *request, in *suggestRequest) (*suggestAnswer, error) {
	x, err := q.s.session(in.Kernel)
	if err != nil {
		return nil, err
	}
	o, err := in.options(q.s.data)
	if err != nil {
		return nil, err
	}
	from, err := q.s.pool(in.Batch, o.Goals)
	if err != nil {
		return nil, err
	}
	var m *measuredModel
	if len(o.Goals) > 0 {
		m, err = x.suggestingSeveral(q.Context(), o.Goals)
	} else {
		m, err = x.suggesting(q.Context())
	}
	if err != nil {
		return nil, err
	}
	some := *m
	if some.Model, err = o.Wants(m.Model); err != nil {
		return nil, err
	}
	m = &some
	p, err := x.placed(q.Context())
	if err != nil {
		return nil, err
	}
	f, err := x.fitted(q.Context())
	if err != nil {
		return nil, err
	}
	var answer result[*suggestAnswer] // of this request alone
	return compute(q.Context(), x, &answer, "suggest", func(ctx context.Context) (*suggestAnswer, error) {
		limited, r, err := m.search(ctx, from, in, o)
		if err != nil {
			return nil, err
		}
		out := &suggestAnswer{Goal: r.Goal, Acquisition: string(r.Acquisition), Best: r.Best, Pool: len(from.at),
			Measured: r.Measured, Limited: limited, Batch: []suggested{}}
		for _, c := range r.Batch {
			out.Batch = append(out.Batch, m.told(c))
		}
		return out, x.placeAll(ctx, f, p, from, in.Batch == "", r.Batch, out.Batch)
	})
}

// search looks at a pool, and returns how many graphs are beyond the limits.
func (m *measuredModel) search(ctx context.Context, from *pool, in *suggestRequest, o suggest.PoolOptions) (int, *suggest.Result, error) {
	s, err := suggest.NewSearch(ctx, m.Model, o)
	if err != nil {
		return 0, nil, err
	}
	limited := 0
	meter := work.NewMeter(ctx, "suggest", len(from.at))
	for some := range slices.Chunk(kernel.UpTo(len(from.at)), rowsAtATime) {
		b := suggest.Block{First: some[0]}
		for _, k := range some {
			b.IDs, b.Graphs = append(b.IDs, from.graphs[k].ID()), append(b.Graphs, from.graphs[k])
		}
		scored, err := s.Score(work.Quiet(ctx), b)
		if err != nil {
			return 0, nil, err
		}
		wanted := slices.DeleteFunc(scored, func(c suggest.Scored) bool {
			return slices.Contains(in.Without, from.at[c.Index]) || c.Similarity < in.Similarity || in.Vertices > 0 && c.Graph.N() > in.Vertices
		})
		limited += len(some) - len(wanted)
		s.Add(wanted)
		meter.Add(len(some))
	}
	r, err := s.Result(ctx, nil)
	if err != nil {
		return 0, nil, fmt.Errorf("suggestions: %w", err)
	}
	return limited, r, nil
}

// told returns what is said about a suggestion, but its position.
func (m *measuredModel) told(c suggest.Suggestion) suggested {
	out := suggested{ID: c.ID, SMILES: c.Graph.SMILES(), Class: c.Class, Probability: c.Probability, Value: c.Value,
		Deviation: c.Deviation, Targets: []expected{}, Front: c.Front != nil && *c.Front, Gain: c.Acquisition, Why: c.Why, Similarity: c.Similarity, Nearest: -1}
	if c.Value != nil && c.Deviation != nil {
		said := newAnswer()
		said.setValue(*c.Value)
		said.setDeviation(*c.Deviation)
		out.Interval = said.Interval
	}
	for _, e := range c.Targets {
		said := newAnswer()
		if said.setValue(e.Value); e.Deviation != nil {
			said.setDeviation(*e.Deviation)
		}
		out.Targets = append(out.Targets, expected{e.Target, e.Value, said.Deviation, said.Interval})
	}
	if len(c.Nearest) > 0 {
		out.Nearest = m.knows(c.Nearest[0].Index)
	}
	return out
}

// placeAll says where suggestions are: in the pool, and on the maps.
func (x *session) placeAll(ctx context.Context, f *fitted, p *placement, from *pool, data bool, batch []suggest.Suggestion, out []suggested) error {
	var graphs []*graph.Graph
	for k, c := range batch {
		i := from.at[c.Index]
		out[k].Index = i
		if graphs = append(graphs, c.Graph); data {
			out[k].Place = place{[2]float64{p.pca[0][i], p.pca[1][i]}, [2]float64{p.neighbours[0][i], p.neighbours[1][i]}}
		}
	}
	if data || len(batch) == 0 {
		return nil
	}
	features, err := f.Kernel.Transform(work.Quiet(ctx), graphs)
	if err != nil {
		return err
	}
	train, err := f.Kernel.Train(ctx)
	if err != nil {
		return err
	}
	cross, err := kernel.Between(work.Quiet(ctx), f.Kernel, features, train)
	if err != nil {
		return err
	}
	for k := range out {
		out[k].Place = *p.place(row{values: cross.Row(k), graph: graphs[k], index: -1})
	}
	return nil
}
