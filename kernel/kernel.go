package kernel

import (
	"context"
	"fmt"
	"math"
	"reflect"

	"github.com/mlgkernel/mlg/graph"
)

// Kernel is a graph kernel with all its parameters, a struct as record.go describes it. Fit never
// looks at targets.
type Kernel interface {
	// Name is the kind of kernel, as in "wl"; with Register it leads to the defaults.
	Name() string
	// String is the text that identifies the kernel; see Text.
	String() string
	// Validate names the first parameter with an impossible value, and what is wanted.
	Validate() error
	// Fit takes from the training graphs all that is needed to compare them with each
	// other and with new graphs.
	Fit(ctx context.Context, graphs []*graph.Graph) (Fitted, error)
}

// Fitted is a kernel fitted to training graphs. What it computes for training graphs does
// not depend on the new graphs that it is asked about. Matrices belong to the caller.
type Fitted interface {
	// Gram returns the kernel matrix of the training graphs.
	Gram(ctx context.Context) (*Matrix, error)
	// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
	Cross(ctx context.Context, graphs []*graph.Graph) (*Matrix, error)
}

// Sampler is a Fitted that computes the kernel matrix of some training graphs without that of all.
type Sampler interface {
	GramOf(ctx context.Context, graphs []int) (*Matrix, error)
}

// Comparer is a Fitted that compares two new graphs.
type Comparer interface {
	Compare(ctx context.Context, g, h *graph.Graph) (float64, error)
}

// Resolver is a Kernel whose value for two graphs does not depend on the other graphs that it is
// fitted to, except through parameters that these decide.
type Resolver interface {
	// Resolve returns the kernel with these parameters as the graphs decide them. It fits nothing.
	Resolve(graphs []*graph.Graph) (Kernel, error)
}

// Semidefinite reports whether a kernel is positive semi-definite for every collection of
// graphs. Records with parameters for which it is not have a method Semidefinite.
func Semidefinite(k Kernel) bool {
	p, ok := k.(interface{ Semidefinite() bool })
	return !ok || p.Semidefinite()
}

const normalTolerance = 1e-9 // for weights and values that round

// CheckNormalized returns an error unless k(G, G) = 1 for every graph G. Only such kernels can be
// combined. The parameters show that a kernel is normalised: it has no parameter "normalize" that
// is false, and the weights of a sum add up to 1. Gram matrices are checked as well.
func CheckNormalized(k Kernel) error {
	if x := self(k); !(math.Abs(x-1) <= normalTolerance) {
		return fmt.Errorf("%s: only normalised kernels can be combined", k)
	}
	return nil
}

// self returns the kernel of a graph with itself, NaN where it is not the same for all graphs.
func self(k Kernel) float64 {
	switch k := k.(type) {
	case Given:
		return self(k.Kernel)
	case Sum:
		sum := 0.0
		for _, t := range k.Terms {
			product := t.Weight
			for _, f := range t.Factors {
				product *= self(f.Kernel)
			}
			sum += product
		}
		return sum
	}
	for _, p := range parametersOf(reflect.ValueOf(k)) {
		if p.name == "normalize" && p.value.IsZero() {
			return math.NaN()
		}
	}
	return 1
}

// Given is a kernel whose matrix is known before it is fitted.
type Given struct {
	Kernel
	Matrix *Matrix
}

// Fit implements Kernel. It computes nothing.
func (k Given) Fit(context.Context, []*graph.Graph) (Fitted, error) { return k, nil }

// Gram implements Fitted.
func (k Given) Gram(context.Context) (*Matrix, error) { return k.Matrix, nil }

// Cross implements Fitted: there are no values of other graphs.
func (k Given) Cross(context.Context, []*graph.Graph) (*Matrix, error) {
	return nil, fmt.Errorf("%s: the matrix is given, so there are no values for other graphs", k)
}

// Semidefinite reports whether the kernel is positive semi-definite.
func (k Given) Semidefinite() bool { return Semidefinite(k.Kernel) }

// Matrix is a dense matrix in row-major order.
type Matrix struct {
	Rows, Cols int
	Data       []float64 // Rows×Cols
}

// NewMatrix returns a zero matrix.
func NewMatrix(rows, cols int) *Matrix {
	return &Matrix{Rows: rows, Cols: cols, Data: make([]float64, rows*cols)}
}

// At returns the entry in row i and column j.
func (m *Matrix) At(i, j int) float64 { return m.Data[i*m.Cols+j] }

// Set changes the entry in row i and column j.
func (m *Matrix) Set(i, j int, v float64) { m.Data[i*m.Cols+j] = v }

// Row returns row i, a view.
func (m *Matrix) Row(i int) []float64 { return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols] }

// Select returns the matrix of some rows and columns.
func (m *Matrix) Select(rows, cols []int) *Matrix {
	out := NewMatrix(len(rows), len(cols))
	for a, i := range rows {
		from, to := m.Row(i), out.Row(a)
		for b, j := range cols {
			to[b] = from[j]
		}
	}
	return out
}

// GraphName names graph i of a collection in messages.
func GraphName(graphs []*graph.Graph, i int) string {
	if id := graphs[i].ID(); id != "" {
		return fmt.Sprintf("graph %d (%s)", i, id)
	}
	return fmt.Sprintf("graph %d", i)
}
