package explorer

import (
	"cmp"
	"context"
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// chosenText is what requests say in place of the text of a kernel to have the kernels that mlg train would choose.
const chosenText = "chosen"

// choice is what is chosen for the graphs that have targets.
type choice struct {
	kernel   kernel.Sum
	plan     *choose.Plan // without matrices
	training *training    // nil where some graphs have no targets, so that the kernels are fitted again
	changes  []string
}

// chosen returns what mlg train would choose, which is computed once for the data. It takes a minute or more, so it keeps nobody
// else waiting.
func (x *session) chosen(ctx context.Context) (*choice, error) {
	return computeAt(ctx, x, background, &x.s.best, "choosing", func(ctx context.Context) (*choice, error) {
		d := x.s.data
		known := d.labelled(kernel.UpTo(len(d.IDs)))
		ds := &dataset.Dataset{Name: d.Name}
		var targets []string
		for _, i := range known {
			if d.Graphs[i] == nil {
				return nil, cannot("the model does not have its graphs, so nothing can be chosen for them")
			}
			targets = append(targets, d.Targets[i])
			ds.Graphs = append(ds.Graphs, d.Graphs[i].With(d.IDs[i], d.Targets[i]))
		}
		if len(targets) < 3 || slices.Min(targets) == slices.Max(targets) {
			return nil, errNoLearner
		}
		candidates, changes := choose.Afford(ds.Graphs, choose.DefaultCandidates(dataset.Info(ds)))
		o := x.learning()
		o.ForCandidates()
		o.Created = map[string]string{"command": "mlg serve", "data": d.Name, "kernel": chosenText}
		m, plan, err := model.Learn(ctx, ds, candidates, o)
		if err != nil {
			return nil, err
		}
		plan.Gram, plan.Collection = nil, nil // the session has its own
		out := &choice{plan.Kernel(), plan, nil, changes}
		if len(known) == len(d.IDs) {
			m.ReadBy(d.read)
			m.Targets = d.Targets
			out.training = &training{m, plan, known, ""}
		}
		return out, nil
	})
}

// kernelOf returns the kernel of a session.
func (x *session) kernelOf(ctx context.Context) (kernel.Kernel, error) {
	if x.kernel != nil {
		return x.kernel, nil
	}
	c, err := x.chosen(ctx)
	if err != nil {
		return nil, err
	}
	return c.kernel, nil
}

// accounted has a training of the chosen kernels tell of graphs what was predicted by weights that have not seen them.
func (c *choice) accounted(t *training) {
	t.plan = c.plan
	t.Estimates = c.plan.Estimates()
}

// chosenAnswer says what was chosen.
type chosenAnswer struct {
	Combination string            `json:"combination" help:"how the candidates were combined"`
	Kernels     []chosenKernel    `json:"kernels" help:"the largest weight first"`
	Estimates   []choose.Estimate `json:"estimates" help:"how good predictions are"`
	Changes     []string          `json:"changes" help:"candidates that are left out or smaller, and why"`
}

type chosenKernel struct {
	Candidate string  `json:"candidate" help:"its name"`
	Kernel    string  `json:"kernel"`
	Weight    float64 `json:"weight"`
}

// getChosen chooses.
func getChosen(q *request, _ *struct{}) (*chosenAnswer, error) {
	x, err := q.s.session(chosenText)
	if err != nil {
		return nil, err
	}
	c, err := x.chosen(q.Context())
	if err != nil {
		return nil, err
	}
	out := &chosenAnswer{Combination: c.plan.Combination.String(), Estimates: c.plan.Estimates(), Changes: append([]string{}, c.changes...)}
	for _, s := range c.plan.Settings {
		out.Kernels = append(out.Kernels, chosenKernel{s.Candidate, s.Kernel.String(), s.Weight})
	}
	slices.SortStableFunc(out.Kernels, func(a, b chosenKernel) int { return cmp.Compare(b.Weight, a.Weight) })
	return out, nil
}
