package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/param"
)

// Kernel is a graph kernel with all its parameters, a record as package param describes it. Fit never
// looks at targets.
type Kernel interface {
	// Name is the kind of kernel, as in "wl"; with Register it leads to the defaults.
	Name() string
	// String is the text that identifies the kernel; see Text.
	String() string
	// Validate names the first parameter with an impossible value, and what is wanted.
	Validate() error
	// Fit takes from the training graphs all that is needed to turn graphs into features and to
	// compare these.
	Fit(ctx context.Context, graphs []*graph.Graph) (*Fitted, error)
	// Decode returns the map that Map.AppendBinary wrote for this kernel. It trusts nothing in the
	// bytes, which it may keep.
	Decode(data []byte) (Map, error)
}

// Map is what fitting makes of a kernel: it turns graphs into features, and compares these. The
// features of a graph depend on the map and the graph alone, and a kernel value on the map and the
// two graphs alone, to the bit. Methods may be called concurrently.
type Map interface {
	// Transform returns the features of graphs.
	Transform(ctx context.Context, graphs []*graph.Graph) (Features, error)
	// Fill sets dst[(i−I0)·stride + (j−J0)] to the kernel of graph i of A and graph j of B for every
	// pair of a block. It runs in the calling goroutine, unless the map is Whole, and on the device
	// of the context.
	Fill(ctx context.Context, dst []float64, stride int, b Block) error
	// Join returns the features of one set of graphs after the other.
	Join(parts ...Features) Features
	// AppendBinary appends the map to b, for Kernel.Decode.
	AppendBinary(b []byte) ([]byte, error)
	// DecodeFeatures returns what Features.AppendBinary wrote. It trusts nothing in the bytes, which
	// it may keep.
	DecodeFeatures(data []byte) (Features, error)
}

// Features are what a map keeps of some graphs. They are never changed.
type Features interface {
	// Len returns the number of graphs.
	Len() int
	// Select returns the features of some graphs, by their positions.
	Select(at []int) Features
	// AppendBinary appends the features to b, for Map.DecodeFeatures.
	AppendBinary(b []byte) ([]byte, error)
}

// Range returns the features of the graphs lo … hi-1.
func Range(a Features, lo, hi int) Features {
	at := make([]int, hi-lo)
	for i := range at {
		at[i] = lo + i
	}
	return a.Select(at)
}

// UpTo returns 0 … n−1.
func UpTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// InPlace reports whether features are used where their bytes are: DecodeFeatures keeps the bytes, and
// little besides.
func InPlace(a Features) bool {
	x, ok := a.(interface{ InPlace() bool })
	return ok && x.InPlace()
}

// Block is a rectangle of a kernel matrix: the graphs I0 … I1-1 of A with the graphs J0 … J1-1 of B.
type Block struct {
	A      Features
	I0, I1 int
	B      Features
	J0, J1 int
}

// Square reports whether rows and columns are the same graphs, so that each pair is needed once.
func (b Block) Square() bool { return b.A == b.B && b.I0 == b.J0 && b.I1 == b.J1 }

// Whole is a Map that computes one large block faster than its parts, with the goroutines of the
// context. Its values may depend on the block by rounding.
type Whole interface{ Whole() }

// Fitted is a kernel fitted to training graphs: its map, and their features.
type Fitted struct {
	Map
	Train Features
}

// Fit fits a kernel to graphs, with their directions where some are directed. Kernel.Fit leaves directions out.
func Fit(ctx context.Context, k Kernel, graphs []*graph.Graph) (*Fitted, error) {
	if slices.ContainsFunc(graphs, (*graph.Graph).Directed) {
		return SumOf(k).Fit(ctx, graphs)
	}
	return k.Fit(ctx, graphs)
}

// Gram returns the kernel matrix of the training graphs.
func (f *Fitted) Gram(ctx context.Context) (*Matrix, error) {
	return Between(ctx, f.Map, f.Train, f.Train)
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
func (f *Fitted) Cross(ctx context.Context, graphs []*graph.Graph) (*Matrix, error) {
	a, err := f.Transform(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return Between(ctx, f.Map, a, f.Train)
}

// Resolver is a Kernel whose value for two graphs does not depend on the other graphs that it is
// fitted to, except through parameters that these decide.
type Resolver interface {
	// Resolve returns the kernel with these parameters as the graphs decide them. It fits nothing.
	Resolve(graphs []*graph.Graph) (Kernel, error)
}

// Levelled is a Kernel that compares graphs at several scales, one after the other.
type Levelled interface {
	// Levels returns a kernel for each scale, none for a kernel that has no scales after all.
	Levels() []Level
}

// Level is a kernel that compares graphs at one scale and those below it.
type Level struct {
	Name   string
	Kernel Kernel
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
	switch x := self(k); {
	case math.Abs(x-1) <= normalTolerance:
		return nil
	case param.Get(k, "normalize") == false:
		return param.Wrong(k.Name(), k, "normalize", "true: only normalised kernels can be combined", nil)
	default:
		return fmt.Errorf("%s: only normalised kernels can be combined", k)
	}
}

// self returns the kernel of a graph with itself, NaN where it is not the same for all graphs.
func self(k Kernel) float64 {
	switch k := k.(type) {
	case Precomputed:
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
	if param.Get(k, "normalize") == false {
		return math.NaN()
	}
	return 1
}

// Precomputed is a kernel whose matrix is known before it is fitted. The features of a graph are its row.
type Precomputed struct {
	Kernel
	Matrix *Matrix
}

// Fit implements Kernel. It computes nothing.
func (k Precomputed) Fit(context.Context, []*graph.Graph) (*Fitted, error) {
	rows := rowNumbers(UpTo(k.Matrix.Rows))
	return &Fitted{precomputedMap{k}, &rows}, nil
}

// Semidefinite reports whether the kernel is positive semi-definite.
func (k Precomputed) Semidefinite() bool { return Semidefinite(k.Kernel) }

type precomputedMap struct{ Precomputed }

func (m precomputedMap) Transform(context.Context, []*graph.Graph) (Features, error) {
	return nil, fmt.Errorf("%s: the matrix is given, so there are no values for other graphs", m)
}

func (m precomputedMap) Fill(_ context.Context, dst []float64, stride int, b Block) error {
	rows, cols := *b.A.(*rowNumbers), *b.B.(*rowNumbers)
	for i, r := range rows[b.I0:b.I1] {
		for j, c := range cols[b.J0:b.J1] {
			dst[i*stride+j] = m.Matrix.At(r, c)
		}
	}
	return nil
}

func (m precomputedMap) Join(parts ...Features) Features {
	var out rowNumbers
	for _, p := range parts {
		out = append(out, *p.(*rowNumbers)...)
	}
	return &out
}

func (m precomputedMap) AppendBinary([]byte) ([]byte, error)     { return nil, errPrecomputed }
func (m precomputedMap) DecodeFeatures([]byte) (Features, error) { return nil, errPrecomputed }
func (r *rowNumbers) AppendBinary(b []byte) ([]byte, error)      { return nil, errPrecomputed }

var errPrecomputed = errors.New("a given matrix cannot be kept as features")

// rowNumbers are the features of Precomputed: rows of its matrix.
type rowNumbers []int

func (r *rowNumbers) Len() int { return len(*r) }

func (r *rowNumbers) Select(at []int) Features {
	out := make(rowNumbers, len(at))
	for k, i := range at {
		out[k] = (*r)[i]
	}
	return &out
}

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

// GraphError is an error about a graph of a collection, which its text names.
type GraphError struct {
	Graph int // its place
	Err   error
}

// Error implements error.
func (e *GraphError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *GraphError) Unwrap() error { return e.Err }

// AboutGraph names graph i of a collection in an error.
func AboutGraph(graphs []*graph.Graph, i int, err error) error {
	return &GraphError{i, fmt.Errorf("%s: %w", GraphName(graphs, i), err)}
}

// GraphName names graph i of a collection in messages.
func GraphName(graphs []*graph.Graph, i int) string {
	if id := graphs[i].ID(); id != "" {
		return fmt.Sprintf("graph %d (%s)", i, id)
	}
	return fmt.Sprintf("graph %d", i)
}
