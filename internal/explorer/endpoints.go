package explorer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// byColumn are results by the names of columns that are predicted in place of the target.
type byColumn[T any] struct {
	mu      sync.Mutex
	results map[string]*result[T]
	names   []string // those that were asked for last come last
}

// of returns the result of a column. It keeps so many, and forgets those that nobody has asked for since.
func (e *byColumn[T]) of(name string, most int) *result[T] {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.results == nil {
		e.results = map[string]*result[T]{}
	}
	r := e.results[name]
	if r == nil {
		r = &result[T]{}
		e.results[name] = r
	}
	e.names = append(slices.DeleteFunc(e.names, func(n string) bool { return n == name }), name)
	for len(e.names) > most {
		delete(e.results, e.names[0])
		e.names = e.names[1:]
	}
	return r
}

// learnedOf returns the kernel with a learner of a column, which a model has or which is trained here: of its numbers, or of classes as for a
// target. Without a name it is that of the target.
func (x *session) learnedOf(ctx context.Context, name string) (*fitted, error) {
	if name == "" {
		return x.learned(ctx)
	}
	c, err := x.s.data.column(name)
	if err != nil {
		return nil, within("endpoint", err)
	}
	f, err := x.fitted(ctx)
	if err != nil {
		return nil, err
	}
	if x.saved { // it has all that it can predict
		e, err := f.Endpoint(name)
		if err != nil {
			return nil, badRequest("endpoint", "endpoint: %v", err)
		}
		out := *f
		out.Model = e
		return &out, nil
	}
	t, err := compute(ctx, x, x.trainings.of(name, len(x.s.data.columns)+1), "learn", func(ctx context.Context) (*training, error) {
		m, o := *f.Model, x.learning()
		values, _ := dataset.Learnable(c.values)
		if m.Targets, o.Task = values, choose.Regression; dataset.ValueRange(values) == nil {
			o.Task = choose.Classification
			if n := len(c.classes(maxClasses)); n > maxClasses {
				return nil, cannot("%s has more than %d different texts, which are too many for classes", name, maxClasses)
			}
		}
		learned, plan, known, err := m.Learn(ctx, f.wholeGram(), kernel.UpTo(f.Examples()), o)
		if errors.Is(err, model.ErrNoTargets) {
			return nil, cannot("%s cannot be predicted: %v", name, err)
		}
		return &training{learned, plan, known, ""}, err
	})
	if err != nil {
		return nil, err
	}
	return f.with(t), nil
}

// classes returns the different texts of a column, at most one more than a number.
func (c *column) classes(most int) map[string]bool {
	out := map[string]bool{}
	for _, v := range c.values {
		if v != "" && len(out) <= most {
			out[v] = true
		}
	}
	return out
}

// further returns the names of what is told of an endpoint, and for a row their texts.
func (a *batchAnswer) further(name string) (names []string, texts func(i int) []string) {
	names = []string{"predicted " + name}
	if len(a.Probability) > 0 {
		names = append(names, name+" probability")
	}
	if a.Level != nil {
		names = append(names, name+" deviation", fmt.Sprintf("%s low %g %%", name, 100**a.Level), fmt.Sprintf("%s high %g %%", name, 100**a.Level))
	}
	return names, func(i int) []string {
		number := func(v float64) string { return fmt.Sprintf("%.6g", v) }
		var out []string
		if len(a.Classes) > 0 {
			out = append(out, a.Classes[i])
		}
		if len(a.Values) > 0 {
			out = append(out, number(a.Values[i]))
		}
		if len(a.Probability) > 0 {
			out = append(out, number(a.Probability[i]))
		}
		if a.Level != nil {
			out = append(out, number(a.Deviations[i]), number(a.Low[i]), number(a.High[i]))
		}
		return out
	}
}
