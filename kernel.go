package mlg

import (
	"context"

	"github.com/mlgkernel/mlg/graph"
)

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

// Kernel is a graph kernel with all its parameters: something that can be fitted to a
// collection of graphs. Fit never looks at targets.
type Kernel interface {
	// String names the kernel and its parameters, as in "wl h=5".
	String() string
	// Fit takes from the training graphs all that is needed to compare them with each
	// other and with new graphs.
	Fit(ctx context.Context, graphs []*graph.Graph) (Fitted, error)
}

// Fitted is a kernel fitted to training graphs. What it computes for training graphs does
// not depend on the new graphs that it is asked about.
type Fitted interface {
	// Gram returns the kernel matrix of the training graphs.
	Gram(ctx context.Context) (*Matrix, error)
	// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
	Cross(ctx context.Context, graphs []*graph.Graph) (*Matrix, error)
}
