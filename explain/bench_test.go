package explain_test

import (
	"fmt"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

// collection returns 200 graphs of a collection and one of n vertices that is not among them.
func collection(b *testing.B, name string, n int) (train []*graph.Graph, query *graph.Graph) {
	b.Helper()
	d, err := dataset.Read(b.Context(), graphtest.Dataset(b, name), dataset.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	for i, g := range d.Graphs {
		switch {
		case query == nil && g.N() == n:
			query = g
		case i*200/len(d.Graphs) >= len(train):
			train = append(train, g)
		}
	}
	if query == nil || len(train) < 200 {
		b.Fatalf("%s: %d graphs, want 200 and one with %d vertices", name, len(d.Graphs), n)
	}
	return train[:200], query
}

// BenchmarkPrediction explains the decision on a molecule of 40 atoms, and on the largest graph of
// PROTEINS, by 200 training graphs, on one thread. "cross" is the row of kernel values alone.
func BenchmarkPrediction(b *testing.B) {
	changes := []struct {
		name   string
		change func(o *mlg.Kernel)
	}{
		{"top", func(*mlg.Kernel) {}},
		{"sum", func(o *mlg.Kernel) { o.Combine = mlg.Sum }},
		{"rank=30", func(o *mlg.Kernel) { o.Rank = 30 }},
	}
	for _, data := range []struct {
		name string
		n    int
	}{{"NCI1", 40}, {"PROTEINS", 620}} {
		train, g := collection(b, data.name, data.n)
		for _, c := range changes {
			o := mlg.Default()
			o.Base = "labels"
			c.change(&o)
			ctx := work.WithWorkers(b.Context(), 1)
			var f learn.Function
			for i := range train {
				f.Coefficients = append(f.Coefficients, float64(i%3)-0.9)
			}
			m := model.Of(nil, sum(b, train, o))
			m.Learner = learn.Learner{Functions: []learn.Function{f}, Examples: len(f.Coefficients)}
			for _, slopes := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/%s/slopes=%v", data.name, c.name, slopes), func(b *testing.B) {
					for b.Loop() {
						if _, err := explain.Prediction(ctx, m, g, explain.Options{Slopes: slopes}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			b.Run(data.name+"/"+c.name+"/cross", func(b *testing.B) {
				for b.Loop() {
					if _, err := m.Kernel.Cross(ctx, []*graph.Graph{g}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
