package mlg

import (
	"context"
	"fmt"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// NewKernel returns the low-rank MLG kernel as a Kernel; its Fitted is a *Model. Without
// radii it is the low-rank FLG kernel.
func NewKernel(o Options) Kernel { return lowRank{o} }

type lowRank struct{ o Options }

func (k lowRank) String() string {
	return fmt.Sprintf("%s samples=%d rank=%d landmarks=%s", k.o.describe(), k.o.Samples, k.o.Rank, k.o.Landmarks)
}

func (k lowRank) Fit(ctx context.Context, graphs []*graph.Graph) (Fitted, error) {
	m, err := Fit(ctx, graphs, k.o)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// describe names the kernel and the parameters that the exact and the low-rank form share.
func (o *Options) describe() string {
	var b strings.Builder
	name := "mlg"
	if len(o.Radii) == 0 {
		name = "flg"
	}
	fmt.Fprintf(&b, "%s eta=%v gamma=%v", name, o.Eta, o.Gamma)
	if len(o.Radii) > 0 {
		fmt.Fprintf(&b, " radii=%s", strings.Trim(strings.Join(strings.Fields(fmt.Sprint(o.Radii)), ","), "[]"))
	}
	if o.Base != nil {
		fmt.Fprintf(&b, " base=%s", o.Base)
	}
	if o.Combine != Top {
		fmt.Fprintf(&b, " combine=%s", o.Combine)
	}
	if o.Power != 1 {
		fmt.Fprintf(&b, " power=%d", o.Power)
	}
	if o.Discount {
		b.WriteString(" discount")
	}
	return b.String()
}

// NewExactKernel returns the exact MLG kernel as a Kernel. Without radii it is the FLG
// kernel of the base kernel.
func NewExactKernel(o Options) Kernel { return exactKernel{o} }

type exactKernel struct{ o Options }

func (k exactKernel) String() string {
	s := k.o.describe() + " exact"
	if k.o.PairRank > 0 {
		s += fmt.Sprintf(" pair-rank=%d", k.o.PairRank)
	}
	return s
}

func (k exactKernel) Fit(ctx context.Context, graphs []*graph.Graph) (Fitted, error) {
	o := k.o
	if o.Base == nil {
		o.Base = ChooseBase(graphs) // the same for new graphs
	}
	e, err := NewExact(ctx, graphs, o)
	if err != nil {
		return nil, err
	}
	return &fittedExact{e}, nil
}

type fittedExact struct{ e *Exact }

func (f *fittedExact) Gram(ctx context.Context) (*Matrix, error) { return f.e.Gram(ctx) }

// Cross compares the graphs with the training graphs on demand, pair by pair, where that is
// less work, and otherwise computes the Gram matrix of all of them.
func (f *fittedExact) Cross(ctx context.Context, graphs []*graph.Graph) (*Matrix, error) {
	train := len(f.e.graphs)
	all := append(append(make([]*graph.Graph, 0, train+len(graphs)), f.e.graphs...), graphs...)
	e, err := NewExact(ctx, all, f.e.o)
	if err != nil {
		return nil, err
	}
	out := NewMatrix(len(graphs), train)
	if e.demand(train) {
		for i := range graphs {
			for j := range train {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				k, err := e.Kernel(train+i, j)
				if err != nil {
					return nil, err
				}
				out.Set(i, j, k)
			}
		}
		return out, nil
	}
	k, err := e.Gram(ctx)
	if err != nil {
		return nil, err
	}
	for i := range graphs {
		copy(out.Row(i), k.Row(train + i)[:train])
	}
	return out, nil
}

// demand reports whether the kernels between the first graphs and the others take less work
// pair by pair than level by level. A pair on demand costs about ten times one of a table,
// which shares its factorisations and is computed in batches.
func (e *Exact) demand(first int) bool {
	const factor = 10
	var lazy, full float64
	for l := 1; l < len(e.scales); l++ {
		s := e.scales[l]
		seen := make([]int32, s.classes()) // 1: among the first, 2: among the others
		var inside float64
		for g, row := range s.class {
			side := int32(1)
			if g >= first {
				side = 2
			}
			for _, c := range row {
				seen[c] |= side
			}
			inside += float64(len(row)) * float64(len(row)) / 2
		}
		var a, b float64
		for _, x := range seen {
			a += float64(x & 1)
			b += float64(x >> 1)
		}
		n := float64(len(seen))
		lazy += factor * (a*b + inside)
		full += n * n / 2
	}
	return lazy < full
}

// LGKernel is the Laplacian graph kernel as a Kernel, for graphs of one size.
type LGKernel struct {
	Eta, Gamma float64
	Workers    int
}

func (k LGKernel) String() string { return fmt.Sprintf("lg eta=%v gamma=%v", k.Eta, k.Gamma) }

// Fit checks that the graphs have one size.
func (k LGKernel) Fit(_ context.Context, graphs []*graph.Graph) (Fitted, error) {
	if err := checkFLG(k.Eta, k.Gamma); err != nil {
		return nil, err
	}
	for i, g := range graphs {
		if g.N() != graphs[0].N() {
			return nil, fmt.Errorf("the LG kernel needs graphs of one size: %s has %d vertices, %s has %d; the FLG kernel has no such limit",
				graphName(graphs, 0), graphs[0].N(), graphName(graphs, i), g.N())
		}
	}
	return &fittedLG{k, graphs}, nil
}

type fittedLG struct {
	k      LGKernel
	graphs []*graph.Graph
}

func (f *fittedLG) Gram(ctx context.Context) (*Matrix, error) { return f.Cross(ctx, f.graphs) }

func (f *fittedLG) Cross(ctx context.Context, graphs []*graph.Graph) (*Matrix, error) {
	out := NewMatrix(len(graphs), len(f.graphs))
	err := parallel(ctx, max(1, f.k.Workers), len(graphs), 1, func(_, i int) error {
		for j, h := range f.graphs {
			k, err := LG(graphs[i], h, f.k.Eta, f.k.Gamma)
			if err != nil {
				return fmt.Errorf("%s: %w", graphName(graphs, i), err)
			}
			if graphs[i] == h {
				k = 1
			}
			out.Set(i, j, k)
		}
		return nil
	})
	return out, err
}
