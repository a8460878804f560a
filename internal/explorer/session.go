package explorer

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/explain/draw"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

// Sessions that are kept: so many, and Gram matrices of so many bytes.
const (
	maxSessions  = 8
	sessionBytes = 320 << 20
)

// session is what follows from one set of parameters, part by part.
type session struct {
	s      *Server
	params Parameters
	saved  bool // the model as its file has it, whatever params say
	order  int64

	progress atomic.Pointer[Progress]

	fit      part[*fitted]
	learn    part[*model.Model]
	place    part[*placement]
	matrix   part[*ordered]
	score    part[*Evaluation]
	vertices []part[*vertexTable] // by level
}

// Progress says what a session computes at the moment.
type Progress struct {
	Stage string `json:"stage"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}

// fitted is a kernel with the Gram matrix of its core.
type fitted struct {
	// kernel holds the fitted kernels, without learner. The multiscale ones compute with one worker.
	kernel *model.Model
	core   []int // positions of the graphs that the Gram matrix is about, ascending
	gram   *mlg.Matrix
	// main is the multiscale kernel whose levels and vertices are shown.
	main    model.Factor
	hasMain bool
}

// whole reports whether the core is all there is.
func (f *fitted) whole() bool { return len(f.core) == f.kernel.Examples() }

// most returns k(G, G), the largest value of the kernel.
func (f *fitted) most() float64 {
	sum := 0.0
	for _, k := range f.kernel.Kernels {
		sum += k.Weight
	}
	return sum
}

// compute runs work in the queue of long computations.
func compute[T any](ctx context.Context, x *session, stage string, work func(context.Context) (T, error)) (T, error) {
	if err := x.s.heavy.enter(ctx); err != nil {
		var zero T
		return zero, err
	}
	defer x.s.heavy.leave()
	x.report(stage, 0, 0)
	defer x.progress.Store(nil)
	return work(ctx)
}

func (x *session) report(stage string, done, total int64) {
	x.progress.Store(&Progress{stage, done, total})
}

// fitted returns the kernel.
func (x *session) fitted(ctx context.Context) (*fitted, error) {
	return x.fit.get(ctx, x.s.life, func(ctx context.Context) (*fitted, error) {
		return compute(ctx, x, "fit", x.computeFit)
	})
}

func (x *session) computeFit(ctx context.Context) (*fitted, error) {
	src := x.s.src
	f := &fitted{core: x.s.core, kernel: &model.Model{IDs: src.IDs, Targets: src.Targets, Graphs: src.Graphs}}
	fast := &model.Model{IDs: src.IDs, Targets: src.Targets, Graphs: src.Graphs} // the same with all workers
	if x.saved {
		fast.Kernels = src.Model.Kernels
	} else {
		m, err := x.fitNew(ctx)
		if err != nil {
			return nil, asRequestError(ctx, err)
		}
		fast.Kernels = []model.Kernel{model.NewKernel(1, m)}
	}
	single := map[*mlg.Model]*mlg.Model{}
	for _, k := range fast.Kernels {
		one := model.Kernel{Weight: k.Weight}
		for _, factor := range k.Factors {
			if m := factor.Fitted; m != nil {
				if single[m] == nil {
					var err error
					if single[m], err = withWorkers(m, 1, nil); err != nil {
						return nil, err
					}
				}
				factor.Fitted = single[m]
			}
			one.Factors = append(one.Factors, factor)
		}
		f.kernel.Kernels = append(f.kernel.Kernels, one)
	}
	f.main, f.hasMain = mainFactor(f.kernel)
	var err error
	if len(f.core) == len(src.IDs) {
		f.gram, err = fast.Gram(ctx)
	} else {
		f.gram, err = f.block(ctx, f.core, f.core)
	}
	if err != nil {
		return nil, asRequestError(ctx, err)
	}
	return f, nil
}

// fitNew fits the kernel of the parameters.
func (x *session) fitNew(ctx context.Context) (*mlg.Model, error) {
	graphs := x.s.src.Graphs
	o, err := x.params.options(x.s.o.Workers)
	if err != nil {
		return nil, err
	}
	if n := int64(len(graphs)) * int64(o.Rank) * int64(o.Rank+1) / 2 * 8; n > maxCovariance {
		return nil, badRequest("parameter rank: %d on %d graphs needs %d MB, want at most %d", o.Rank, len(graphs), n>>20, maxCovariance>>20)
	}
	o.Progress = func(p mlg.Progress) { x.report(p.Stage, p.Done, p.Total) }
	return mlg.Fit(ctx, graphs, o)
}

// coreOf chooses the core: all graphs, or every so many-th of each class.
func (s *Source) coreOf(limit, sample int) []int {
	n := len(s.IDs)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if n <= limit {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int { return s.class[a] - s.class[b] })
	core := every(order, sample)
	slices.Sort(core)
	return core
}

// withWorkers returns a model that gives the same values with the given number of workers
// and no progress. With some it knows these training graphs only.
func withWorkers(m *mlg.Model, workers int, some []int) (*mlg.Model, error) {
	s, err := m.Snapshot()
	if err != nil {
		return nil, err
	}
	if some != nil {
		for l, data := range s.Train {
			size := len(data) / s.Graphs
			cut := make([]float64, 0, size*len(some))
			for _, i := range some {
				cut = append(cut, data[i*size:(i+1)*size]...)
			}
			s.Train[l] = cut
		}
		s.Graphs = len(some)
	}
	return mlg.FromSnapshot(s, workers)
}

// block returns the kernel of some training graphs (rows) and others (columns; nil for all).
func (f *fitted) block(ctx context.Context, rows, cols []int) (*mlg.Matrix, error) {
	var out *mlg.Matrix
	for _, k := range f.kernel.Kernels {
		var product *mlg.Matrix
		for _, factor := range k.Factors {
			m, err := f.factorBlock(ctx, factor, rows, cols)
			if err != nil {
				return nil, err
			}
			if product == nil {
				product = m
				continue
			}
			for i, v := range m.Data {
				product.Data[i] *= v
			}
		}
		if out == nil {
			out = mlg.NewMatrix(product.Rows, product.Cols)
		}
		for i, v := range product.Data {
			out.Data[i] += k.Weight * v
		}
	}
	return out, nil
}

// factorBlock is block for one factor. A model with baselines has its training graphs.
func (f *fitted) factorBlock(ctx context.Context, factor model.Factor, rows, cols []int) (*mlg.Matrix, error) {
	if factor.Fitted == nil {
		m, err := f.kernel.CrossFactor(ctx, factor, pick(f.kernel.Graphs, rows))
		if err != nil || cols == nil {
			return m, err
		}
		out := mlg.NewMatrix(len(rows), len(cols))
		for i := range rows {
			copy(out.Row(i), pick(m.Row(i), cols))
		}
		return out, nil
	}
	a, err := withWorkers(factor.Fitted, runtime.GOMAXPROCS(0), rows)
	if err != nil {
		return nil, err
	}
	b := factor.Fitted.Train()
	if cols != nil {
		c, err := withWorkers(factor.Fitted, 1, cols)
		if err != nil {
			return nil, err
		}
		b = c.Train()
	}
	return a.Compare(ctx, a.Train(), b)
}

// row returns the kernel of training graph i with all.
func (f *fitted) row(ctx context.Context, i int) ([]float64, error) {
	if f.whole() {
		return f.gram.Row(i), nil
	}
	b, err := f.block(ctx, []int{i}, nil)
	if err != nil {
		return nil, err
	}
	return b.Row(0), nil
}

// mainFactor returns the multiscale kernel in the product of the largest weight that has one. A
// kernel on graphs whose edges are vertices is none: its scales are not those of the graphs.
func mainFactor(m *model.Model) (model.Factor, bool) {
	var best model.Factor
	weight := 0.0
	for _, k := range m.Kernels {
		for _, f := range k.Factors {
			if f.Fitted != nil && !f.Subdivided && k.Weight > weight {
				best, weight = f, k.Weight
			}
		}
	}
	return best, weight > 0
}

// multiscale returns the main kernel and graphs as it wants them.
func (f *fitted) multiscale(graphs ...*graph.Graph) (*mlg.Model, []*graph.Graph, error) {
	if !f.hasMain {
		return nil, nil, &apiError{422, "the model has no multiscale kernel of the graphs themselves, whose scales could be shown"}
	}
	out := make([]*graph.Graph, len(graphs))
	for i, g := range graphs {
		var err error
		if out[i], err = f.main.Prepare(g); err != nil {
			return nil, nil, err
		}
	}
	return f.main.Fitted, out, nil
}

// levels returns the number of levels above 0.
func (x *session) levels() int {
	if !x.saved {
		return len(x.params.Radii)
	}
	if f, ok := mainFactor(x.s.src.Model); ok {
		return len(f.Fitted.Options().Radii)
	}
	return 0
}

// ordered is the core in the order of the matrix view.
type ordered struct {
	order []int // positions in the core
}

func (x *session) ordered(ctx context.Context) (*ordered, error) {
	return x.matrix.get(ctx, x.s.life, func(ctx context.Context) (*ordered, error) {
		f, err := x.fitted(ctx)
		if err != nil {
			return nil, err
		}
		return compute(ctx, x, "order", func(context.Context) (*ordered, error) {
			order, err := draw.Order(f.gram, x.s.src.classNames(f.core))
			return &ordered{order}, err
		})
	})
}

// classNames returns the targets of graphs as classes, nil unless they are classes.
func (s *Source) classNames(of []int) []string {
	if s.task != classification {
		return nil
	}
	out := make([]string, len(of))
	for i, g := range of {
		out[i] = s.Targets[g]
	}
	return out
}

// vertexTable has the features of all vertices of all graphs at a level.
type vertexTable struct {
	dim   int
	start []int // of each graph, and the end
	data  []float32
}

// maxTable bounds the numbers in a vertexTable.
const maxTable = 64 << 20

func (x *session) vertexTable(ctx context.Context, level int) (*vertexTable, error) {
	return x.vertices[level].get(ctx, x.s.life, func(ctx context.Context) (*vertexTable, error) {
		f, err := x.fitted(ctx)
		if err != nil {
			return nil, err
		}
		return compute(ctx, x, "vertices", func(ctx context.Context) (*vertexTable, error) { return x.tabulate(ctx, f, level) })
	})
}

func (x *session) tabulate(ctx context.Context, f *fitted, level int) (*vertexTable, error) {
	m, graphs, err := f.multiscale(x.s.src.Graphs...)
	if err != nil {
		return nil, err
	}
	t := &vertexTable{dim: m.Rank(level), start: make([]int, len(graphs)+1)}
	for i, g := range graphs {
		t.start[i+1] = t.start[i] + g.N()
	}
	if n := t.start[len(graphs)] * t.dim; n > maxTable {
		return nil, &apiError{422, fmt.Sprintf("%d vertices with %d features are too many to search", t.start[len(graphs)], t.dim)}
	}
	t.data = make([]float32, t.start[len(graphs)]*t.dim)
	var next, done atomic.Int64
	var wait sync.WaitGroup
	var failed atomic.Pointer[error]
	for range x.s.o.Workers {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(graphs) || failed.Load() != nil {
					return
				}
				q, err := m.VertexFeatures(ctx, graphs[i], level)
				if err != nil {
					failed.Store(&err)
					return
				}
				for v := range graphs[i].N() {
					narrow(t.data[(t.start[i]+v)*t.dim:][:t.dim], q.Row(v))
				}
				x.report("vertices", done.Add(1), int64(len(graphs)))
			}
		})
	}
	wait.Wait()
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	return t, nil
}

// sessions keeps the sessions that were used last.
type sessions struct {
	mu    sync.Mutex
	clock int64
	most  int
	byKey map[string]*session
}

// session returns the session of the parameters; saved asks for the model as it is.
func (s *Server) session(p Parameters, saved bool) (*session, error) {
	key := "saved"
	if !saved {
		if _, err := p.options(1); err != nil {
			return nil, err
		}
		if s.src.Graphs == nil {
			return nil, &apiError{422, "the model file holds no graphs, so that its parameters are fixed"}
		}
		key = p.key()
	}
	c := &s.sessions
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	x := c.byKey[key]
	if x == nil {
		for len(c.byKey) >= c.most {
			oldest := ""
			for k, y := range c.byKey {
				if oldest == "" || y.order < c.byKey[oldest].order {
					oldest = k
				}
			}
			delete(c.byKey, oldest)
		}
		x = &session{s: s, params: p, saved: saved}
		x.vertices = make([]part[*vertexTable], x.levels()+1)
		c.byKey[key] = x
	}
	x.order = c.clock
	return x, nil
}

// lookup returns the session of the parameters if there is one, and leaves its age as it is.
func (s *Server) lookup(p Parameters, saved bool) *session {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	if saved {
		return s.sessions.byKey["saved"]
	}
	return s.sessions.byKey[p.key()]
}

// similar returns the kernel of a graph with all training graphs.
func (f *fitted) similar(ctx context.Context, g *graph.Graph) ([]float64, error) {
	m, err := f.kernel.Cross(ctx, []*graph.Graph{g})
	if err != nil {
		return nil, asRequestError(ctx, err)
	}
	return m.Row(0), nil
}
