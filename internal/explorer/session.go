package explorer

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/cluster"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/svm"
)

// Sessions that are kept: so many, and Gram matrices of so many bytes.
const (
	maxSessions  = 8
	sessionBytes = 320 << 20
)

// session is a kernel on the graphs with what follows from it, one result after the other.
type session struct {
	s      *Server
	key    string
	kernel mlg.Kernel // that is fitted,
	saved  bool       // or the one of the model, with its learner
	radii  []int      // of the scales that are shown

	progress atomic.Pointer[kernel.Progress]

	fit      result[*fitted]
	model    result[*model.Model]
	places   result[*placement]
	order    result[[]int]
	score    result[*evaluation]
	vertices []result[*vertexTable] // by level
}

// fitted is a kernel with the Gram matrix of its core.
type fitted struct {
	*model.Model // without a learner, unless it is the one of the data
	core         []int
	gram         *kernel.Matrix
	// scales is the multiscale kernel whose levels and vertices are shown, or nil.
	scales *kernel.FittedFactor
}

// compute runs work in the queue of long computations.
func compute[T any](ctx context.Context, x *session, stage string, work func(context.Context) (T, error)) (T, error) {
	if err := x.s.heavy.enter(ctx); err != nil {
		var none T
		return none, err
	}
	defer x.s.heavy.leave()
	x.report(stage, 0, 0)
	defer x.progress.Store(nil)
	return work(kernel.WithWork(ctx, kernel.Work{Workers: x.s.o.Workers, Progress: func(p kernel.Progress) { x.progress.Store(&p) }}))
}

func (x *session) report(stage string, done, total int) {
	x.progress.Store(&kernel.Progress{Stage: stage, Done: int64(done), Total: int64(total)})
}

// fitted returns the kernel.
func (x *session) fitted(ctx context.Context) (*fitted, error) {
	return x.fit.get(ctx, x.s.life, func(ctx context.Context) (*fitted, error) {
		f, err := compute(ctx, x, "fit", x.computeFit)
		if err != nil {
			return nil, asRequestError(ctx, err)
		}
		return f, nil
	})
}

// follows returns what work makes of the fitted kernel.
func follows[T any](ctx context.Context, x *session, r *result[T], stage string, work func(context.Context, *fitted) (T, error)) (T, error) {
	return r.get(ctx, x.s.life, func(ctx context.Context) (T, error) {
		f, err := x.fitted(ctx)
		if err != nil {
			var none T
			return none, err
		}
		return compute(ctx, x, stage, func(ctx context.Context) (T, error) { return work(ctx, f) })
	})
}

func (x *session) computeFit(ctx context.Context) (*fitted, error) {
	d := x.s.data
	f := &fitted{Model: d.Model, core: x.s.core}
	if !x.saved {
		sum, err := kernel.NewCollection(d.Graphs).Fit(ctx, x.kernel)
		if err != nil {
			return nil, err
		}
		f.Model = &model.Model{Kernel: sum, IDs: d.IDs, Targets: d.Targets, Graphs: d.Graphs, Reader: d.Reader}
	}
	for _, factor := range f.Kernel.Factors { // baselines of a model are fitted when they are needed
		if _, err := factor.Fitted(ctx); err != nil {
			return nil, err
		}
	}
	f.scales = scalesOf(f.Kernel)
	var err error
	if f.whole() {
		f.gram, err = f.Kernel.Gram(ctx)
	} else {
		f.gram, err = f.block(ctx, f.core, f.core)
	}
	return f, err
}

// whole reports whether the core is all there is.
func (f *fitted) whole() bool { return len(f.core) == f.Examples() }

// block returns the kernel of some graphs (rows) and others (columns; nil for all).
func (f *fitted) block(ctx context.Context, rows, cols []int) (*kernel.Matrix, error) {
	if f.whole() {
		return svm.Full(f.gram).Select(rows, cols).Matrix(), nil
	}
	out := kernel.NewMatrix(len(rows), len(cols))
	if cols == nil {
		out = kernel.NewMatrix(len(rows), f.Examples())
	}
	_, err := f.Kernel.Combine(ctx, out.Data, func(i int) ([]float64, error) {
		m, err := f.factorBlock(ctx, f.Kernel.Factors[i], rows, cols)
		if err != nil {
			return nil, err
		}
		return m.Data, nil
	})
	return out, err
}

// factorBlock is block for one factor. A model with other kernels than low-rank ones has its
// graphs.
func (f *fitted) factorBlock(ctx context.Context, factor *kernel.FittedFactor, rows, cols []int) (*kernel.Matrix, error) {
	low := model.LowRank(factor)
	if low == nil {
		m, err := factor.Cross(ctx, pick(f.Graphs, rows))
		if err != nil {
			return nil, err
		}
		return svm.Full(m).Select(nil, cols).Matrix(), nil
	}
	others := low.Train()
	if cols != nil {
		others = others.Select(cols)
	}
	return low.Between(ctx, low.Train().Select(rows), others)
}

// row returns the kernel of graph i with all.
func (f *fitted) row(ctx context.Context, i int) ([]float64, error) {
	b, err := f.block(ctx, []int{i}, nil)
	if err != nil {
		return nil, err
	}
	return b.Row(0), nil
}

// scalesOf returns the multiscale kernel in the product of the largest weight that has one, nil
// for none. A kernel on graphs whose edges are vertices is none: its scales are not those of the
// graphs.
func scalesOf(sum *kernel.FittedSum) *kernel.FittedFactor {
	var best *kernel.FittedFactor
	weight := 0.0
	for t, term := range sum.Sum.Terms {
		for _, i := range sum.Positions(t) {
			if f := sum.Factors[i]; model.LowRank(f) != nil && !f.Subdivide && term.Weight > weight {
				best, weight = f, term.Weight
			}
		}
	}
	return best
}

// multiscale returns the kernel whose scales are shown, and graphs as it wants them.
func (f *fitted) multiscale(graphs ...*graph.Graph) (*mlg.Model, []*graph.Graph, error) {
	if f.scales == nil {
		return nil, nil, cannot("the model has no multiscale kernel of the graphs themselves, whose scales could be shown")
	}
	prepared, err := f.scales.Prepare(graphs)
	return model.LowRank(f.scales), prepared, err
}

// ordered returns the positions in the core in the order of the matrix view.
func (x *session) ordered(ctx context.Context) ([]int, error) {
	return follows(ctx, x, &x.order, "order", func(_ context.Context, f *fitted) ([]int, error) {
		return cluster.Order(f.gram, pick(x.s.data.class, f.core))
	})
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
	return follows(ctx, x, &x.vertices[level], "vertices", func(ctx context.Context, f *fitted) (*vertexTable, error) {
		m, graphs, err := f.multiscale(x.s.data.Graphs...)
		if err != nil {
			return nil, err
		}
		t := &vertexTable{dim: m.Rank(level), start: make([]int, len(graphs)+1)}
		for i, g := range graphs {
			t.start[i+1] = t.start[i] + g.N()
		}
		vertices := t.start[len(graphs)]
		if vertices*t.dim > maxTable {
			return nil, cannot("%d vertices with %d features are too many to search", vertices, t.dim)
		}
		t.data = make([]float32, vertices*t.dim)
		meter := kernel.NewMeter(ctx, "vertices", len(graphs))
		return t, kernel.Each(ctx, len(graphs), 1, func(_, i int) error {
			q, err := m.VertexFeatures(ctx, graphs[i], level)
			if err != nil {
				return err
			}
			narrow(t.data[t.start[i]*t.dim:], q.Data)
			meter.Add(1)
			return nil
		})
	})
}

// narrow writes q to dst.
func narrow(dst []float32, q []float64) {
	for i, v := range q {
		dst[i] = float32(v)
	}
}

// sessions keeps the sessions that were used last, the latest first.
type sessions struct {
	mu     sync.Mutex
	most   int
	recent []*session
}

func (c *sessions) find(key string) int {
	return slices.IndexFunc(c.recent, func(x *session) bool { return x.key == key })
}

// choose returns the kernel that parameters say, whether it is the one of the model, and the key
// of its session.
func (s *Server) choose(p parameters) (k mlg.Kernel, saved bool, key string, err error) {
	if p == nil {
		return s.data.kernel, s.data.saved(), s.data.key, nil
	}
	k, err = p.kernel(s.data.kernel, len(s.data.IDs))
	return k, false, k.String(), err
}

// session returns the session of the parameters; without any a model answers as it is.
func (s *Server) session(p parameters) (*session, error) {
	k, saved, key, err := s.choose(p)
	if err != nil {
		return nil, err
	}
	if !saved && s.data.Graphs == nil {
		return nil, cannot("the model file holds no graphs, so that its parameters are fixed")
	}
	c := &s.sessions
	c.mu.Lock()
	defer c.mu.Unlock()
	var x *session
	if i := c.find(key); i >= 0 {
		x = c.recent[i]
		c.recent = slices.Delete(c.recent, i, i+1)
	} else {
		x = &session{s: s, key: key, kernel: k, saved: saved, radii: k.Radii}
		if saved && scalesOf(s.data.Kernel) == nil {
			x.radii = nil
		}
		x.vertices = make([]result[*vertexTable], len(x.radii)+1)
	}
	c.recent = slices.Insert(c.recent, 0, x)
	c.recent = slices.Delete(c.recent, min(c.most, len(c.recent)), len(c.recent))
	return x, nil
}

// computed returns a result of the session of the parameters, and the session.
func computed[T any](q *request, p parameters, get func(*session, context.Context) (T, error)) (*session, T, error) {
	x, err := q.s.session(p)
	if err != nil {
		var none T
		return nil, none, err
	}
	v, err := get(x, q.Context())
	return x, v, err
}

// lookup returns the session of the parameters, nil if there is none, and leaves its age as it is.
func (s *Server) lookup(p parameters) (*session, error) {
	_, _, key, err := s.choose(p)
	c := &s.sessions
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.find(key); i >= 0 {
		return c.recent[i], err
	}
	return nil, err
}
