package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// semidefinite reports whether a kernel is positive semi-definite: those that implement
// PositiveSemidefinite say so themselves, all others are.
func semidefinite(k mlg.Kernel) bool {
	p, ok := k.(interface{ PositiveSemidefinite() bool })
	return !ok || p.PositiveSemidefinite()
}

// Indefinite marks a kernel as not positive semi-definite, so that the negative eigenvalues
// of its matrices are set to 0 on every training part.
func Indefinite(k mlg.Kernel) mlg.Kernel { return indefinite{k} }

type indefinite struct{ mlg.Kernel }

func (indefinite) PositiveSemidefinite() bool { return false }

// Product is the product of kernels with unit diagonal, which has one as well.
func Product(kernels ...mlg.Kernel) mlg.Kernel {
	return &composite{kernels, true}
}

// Mean is the mean of kernels with unit diagonal.
func Mean(kernels ...mlg.Kernel) mlg.Kernel {
	return &composite{kernels, false}
}

// OverSeeds is the mean of the low-rank MLG kernels with seeds o.Seed … o.Seed+n-1: the
// accident of the sample averages out.
func OverSeeds(o mlg.Options, n int) mlg.Kernel {
	kernels := make([]mlg.Kernel, n)
	for i := range kernels {
		kernels[i] = mlg.NewKernel(o)
		o.Seed++
	}
	return &overSeeds{composite{kernels, false}, o.Seed - uint64(n)}
}

type overSeeds struct {
	composite
	first uint64
}

func (k *overSeeds) String() string {
	return fmt.Sprintf("%s seeds=%d..%d", k.kernels[0], k.first, k.first+uint64(len(k.kernels))-1)
}

// composite combines kernels entry by entry.
type composite struct {
	kernels []mlg.Kernel
	product bool
}

func (c *composite) String() string {
	names := make([]string, len(c.kernels))
	for i, k := range c.kernels {
		names[i] = "(" + k.String() + ")"
	}
	if c.product {
		return strings.Join(names, "*")
	}
	return "mean" + strings.Join(names, "+")
}

// PositiveSemidefinite reports whether all the kernels are.
func (c *composite) PositiveSemidefinite() bool {
	return !slices.ContainsFunc(c.kernels, func(k mlg.Kernel) bool { return !semidefinite(k) })
}

func (c *composite) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	if len(c.kernels) == 0 {
		return nil, fmt.Errorf("no kernels to combine")
	}
	f := &fittedComposite{product: c.product}
	for _, k := range c.kernels {
		fitted, err := k.Fit(ctx, graphs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k, err)
		}
		f.parts = append(f.parts, fitted)
		f.names = append(f.names, k.String())
	}
	return f, nil
}

type fittedComposite struct {
	parts   []mlg.Fitted
	names   []string
	product bool
}

func (f *fittedComposite) Gram(ctx context.Context) (*mlg.Matrix, error) {
	return f.combine(func(k mlg.Fitted, name string) (*mlg.Matrix, error) {
		m, err := k.Gram(ctx)
		if err != nil {
			return nil, err
		}
		return m, unitDiagonal(m, name)
	})
}

func (f *fittedComposite) Cross(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	return f.combine(func(k mlg.Fitted, _ string) (*mlg.Matrix, error) { return k.Cross(ctx, graphs) })
}

func (f *fittedComposite) combine(matrix func(mlg.Fitted, string) (*mlg.Matrix, error)) (*mlg.Matrix, error) {
	var out *mlg.Matrix
	for i, k := range f.parts {
		m, err := matrix(k, f.names[i])
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = mlg.NewMatrix(m.Rows, m.Cols)
			copy(out.Data, m.Data) // m may belong to the kernel
			continue
		}
		for j, v := range m.Data {
			if f.product {
				out.Data[j] *= v
			} else {
				out.Data[j] += v
			}
		}
	}
	if !f.product {
		for j := range out.Data {
			out.Data[j] /= float64(len(f.parts))
		}
	}
	return out, nil
}

// unitDiagonal returns an error unless a Gram matrix has ones on its diagonal. Normalised
// kernels in this module have them exactly; the tolerance admits others that round.
func unitDiagonal(m *mlg.Matrix, name string) error {
	const tolerance = 1e-9
	for i := range m.Rows {
		if !(math.Abs(m.At(i, i)-1) <= tolerance) {
			return fmt.Errorf("%s: the kernel of graph %d with itself is %v: only normalised kernels can be combined", name, i, m.At(i, i))
		}
	}
	return nil
}

// Share remembers the last graphs that a kernel was fitted to, with the fitted kernel and
// its Gram matrix, so that a kernel that occurs several times, as in products, is computed
// once. The Gram matrix must not be changed by those who get it.
func Share(k mlg.Kernel) mlg.Kernel { return &shared{Kernel: k} }

type shared struct {
	mlg.Kernel
	mu     sync.Mutex
	graphs []*graph.Graph
	fitted *sharedFit
}

type sharedFit struct {
	mlg.Fitted
	mu   sync.Mutex
	gram *mlg.Matrix
}

func (s *shared) PositiveSemidefinite() bool { return semidefinite(s.Kernel) }

func (s *shared) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fitted != nil && slices.Equal(s.graphs, graphs) {
		return s.fitted, nil
	}
	f, err := s.Kernel.Fit(ctx, graphs)
	if err != nil {
		return nil, err
	}
	s.graphs, s.fitted = slices.Clone(graphs), &sharedFit{Fitted: f}
	return s.fitted, nil
}

func (f *sharedFit) Gram(ctx context.Context) (*mlg.Matrix, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.gram == nil {
		m, err := f.Fitted.Gram(ctx)
		if err != nil {
			return nil, err
		}
		f.gram = m
	}
	return f.gram, nil
}

// Subdivided gives a kernel graphs whose edges have become vertices (graph.Subdivide), so that
// it sees the labels of edges.
func Subdivided(k mlg.Kernel) mlg.Kernel { return &subdivided{k} }

type subdivided struct{ inner mlg.Kernel }

func (k *subdivided) String() string             { return k.inner.String() + " subdivided" }
func (k *subdivided) PositiveSemidefinite() bool { return semidefinite(k.inner) }

func (k *subdivided) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	f, err := k.inner.Fit(ctx, subdivide(graphs))
	if err != nil {
		return nil, err
	}
	return fittedSubdivided{f}, nil
}

type fittedSubdivided struct{ mlg.Fitted }

func (f fittedSubdivided) Cross(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	return f.Fitted.Cross(ctx, subdivide(graphs))
}

func subdivide(graphs []*graph.Graph) []*graph.Graph {
	out := make([]*graph.Graph, len(graphs))
	for i, g := range graphs {
		out[i] = g.Subdivide()
	}
	return out
}
