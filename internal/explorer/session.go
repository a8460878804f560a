package explorer

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/cluster"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

// Sessions that are kept: so many, and Gram matrices of so many bytes.
const (
	maxSessions  = 8
	sessionBytes = 320 << 20
)

// session is a kernel on the graphs with what follows from it, one result after the other.
type session struct {
	s      *source
	key    string
	kernel kernel.Kernel // that is fitted, nil for the chosen one,
	saved  bool          // or the one of the model, with its learner

	fit       result[*fitted]
	training  result[*training]
	early     result[*training]  // of some graphs, until there is that of all
	sketch    result[*placement] // without the map of neighbours
	places    result[*placement]
	structure result[*structureAnswer]
	order     result[[]int]
	sooner    result[*evaluation]      // of the early learner
	score     result[*evaluation]      // by cross-validation, without baselines
	beside    result[*evaluation]      // with baselines
	everyone  result[*predictions]     // by cross-validation
	known     result[*predictions]     // by a model of its training graphs
	measured  result[*measuredModel]   // of measured graphs alone
	several   byColumn[*measuredModel] // by the names of several targets
	vertices  result[[]vertexTable]    // by level
	trainings byColumn[*training]
	clusters  result[*clustering]
	trusted   [3]result[*tested] // by splits

	mu        sync.Mutex
	explained map[explainedKey]*explain.Explanation // of graphs of the data
}

// name is what the results of the kernel are called.
func (x *session) name() string {
	if _, sum := x.kernel.(kernel.Sum); sum || x.kernel == nil {
		return "the kernel"
	}
	return x.kernel.String()
}

// maxExplained bounds the explanations that a session keeps.
const maxExplained = 500

// explainedKey is what an explanation of a graph of the data depends on.
type explainedKey struct {
	index   int
	learner *learn.Learner
	explain.Options
}

// explanation returns that of a graph of the data, which is computed once.
func (x *session) explanation(key explainedKey, find func() (*explain.Explanation, error)) (*explain.Explanation, error) {
	x.mu.Lock()
	known := x.explained[key]
	x.mu.Unlock()
	if known != nil {
		return known, nil
	}
	e, err := find()
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.explained == nil || len(x.explained) == maxExplained {
		x.explained = map[explainedKey]*explain.Explanation{}
	}
	x.explained[key] = e
	return e, nil
}

// fitted is a kernel with the Gram matrix of its core.
type fitted struct {
	*model.Model // without a learner, unless it comes from learned or is the one of the data
	core         []int
	gram         *kernel.Matrix
	scales       *explain.Scales // nil for none
	training     *training       // of its learner, where that was trained here
}

// compute returns a result of the session, which find computes from all graphs in their lane.
func compute[T any](
	ctx context.Context, x *session, r *result[T], stage string, find func(context.Context) (T, error),
) (T, error) {
	return computeAt(ctx, x, x.s.pace(), r, stage, find)
}

// computeAt is compute at another pace.
func computeAt[T any](
	ctx context.Context, x *session, p pace, r *result[T], stage string, find func(context.Context) (T, error),
) (T, error) {
	return r.get(ctx, x.s.life, func(ctx context.Context) (v T, err error) {
		l, err := x.s.heavy.enter(ctx, p)
		if err != nil {
			return v, err
		}
		defer l.leave()
		report := func(p work.Progress) { l.working.Store(&working{x.key, p}) }
		report(work.Progress{Stage: stage})
		v, err = find(work.With(ctx, work.Options{Workers: x.s.o.Workers, Device: x.s.o.Device, Progress: report}))
		return v, asRequestError(ctx, err)
	})
}

// fitted returns the kernel.
func (x *session) fitted(ctx context.Context) (*fitted, error) {
	k, err := x.kernelOf(ctx)
	if err != nil {
		return nil, err
	}
	return compute(ctx, x, &x.fit, "fit", func(ctx context.Context) (*fitted, error) { return x.computeFit(ctx, k) })
}

// follows returns what find makes of the fitted kernel.
func follows[T any](
	ctx context.Context, x *session, r *result[T], stage string, find func(context.Context, *fitted) (T, error),
) (T, error) {
	f, err := x.fitted(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return compute(ctx, x, r, stage, func(ctx context.Context) (T, error) { return find(ctx, f) })
}

func (x *session) computeFit(ctx context.Context, k kernel.Kernel) (*fitted, error) {
	d := x.s.data
	n := len(x.s.core)
	if err := work.CheckMatrices(2, n, n, "show fewer graphs"); err != nil { // with what is made of it
		return nil, err
	}
	if !x.saved {
		if err := d.foreseen(ctx, k); err != nil {
			return nil, err
		}
	}
	f := &fitted{Model: d.Model, core: x.s.core}
	var err error
	if c, ok := x.s.best.peek(); ok && x.kernel == nil && c.training != nil {
		unlearned := *c.training.Model
		unlearned.Learner, f.Model = learn.Learner{}, &unlearned
	} else if x.saved { // other kernels of a model are fitted when they are needed
		_, err = f.Kernel.In.Fit(ctx, f.Kernel.Asked)
	} else if f.Model, err = model.New(ctx, d.Graphs, k); err == nil {
		f.ReadBy(d.read)
		f.Targets = d.Targets // without texts among numbers
	}
	if err != nil {
		return nil, err
	}
	f.scales = explain.ScalesOf(f.Kernel)
	if f.whole() {
		f.gram, err = f.Kernel.Gram(ctx)
	} else {
		f.gram, err = f.block(ctx, f.core, f.core)
	}
	return f, err
}

// whole reports whether the core is all there is.
func (f *fitted) whole() bool { return len(f.core) == f.Examples() }

// wholeGram returns the matrix of all graphs, nil where there is none.
func (f *fitted) wholeGram() *kernel.Matrix {
	if !f.whole() {
		return nil
	}
	return f.gram
}

// block returns the kernel of some graphs (rows) and others (columns; nil for all).
func (f *fitted) block(ctx context.Context, rows, cols []int) (*kernel.Matrix, error) {
	return f.against(cols)(ctx, rows)
}

// against returns what computes the kernel of graphs (rows) and some others (columns; nil for all), which are prepared once.
func (f *fitted) against(cols []int) func(ctx context.Context, rows []int) (*kernel.Matrix, error) {
	if f.whole() {
		return func(_ context.Context, rows []int) (*kernel.Matrix, error) {
			return learn.Full(f.gram).Select(rows, cols).Matrix(), nil
		}
	}
	var others kernel.Features
	return func(ctx context.Context, rows []int) (*kernel.Matrix, error) {
		train, err := f.Kernel.Train(ctx)
		if err != nil {
			return nil, err
		}
		if others == nil {
			if others = train; cols != nil {
				others = train.Select(cols)
			}
		}
		return kernel.Between(ctx, f.Kernel, train.Select(rows), others)
	}
}

// unseen says what is compared but not shown by scales and vertices.
func (f *fitted) unseen(molecules bool) string {
	edges := slices.ContainsFunc(f.Kernel.Factors, func(k *kernel.FittedFactor) bool { return k.Edges() })
	switch {
	case f.scales == nil || f.scales.Subdivide || !edges:
		return ""
	case molecules:
		return "The similarity of molecules counts the orders of bonds. Similar and matched atoms leave them out."
	}
	return "The similarity of graphs counts the labels of edges. Similar and matched vertices leave them out."
}

// ordered returns the positions in the core in the order of the matrix view.
func (x *session) ordered(ctx context.Context) ([]int, error) {
	return follows(ctx, x, &x.order, "order", func(ctx context.Context, f *fitted) ([]int, error) {
		return cluster.Order(ctx, f.gram, choose.Pick(x.s.data.class, f.core))
	})
}

// maxTable bounds the numbers in a vertexTable.
const maxTable = 64 << 20

// vertexTable has the vertices of all graphs at a level. Vertices with the same rounded features
// are in one class.
type vertexTable struct {
	class    [][]int32 // by graph and vertex
	features []float32 // a row for each class
	width    int
}

// vertexTables returns the vertices of all graphs at all levels.
func (x *session) vertexTables(ctx context.Context) ([]vertexTable, error) {
	return follows(ctx, x, &x.vertices, "vertices", func(ctx context.Context, f *fitted) ([]vertexTable, error) {
		graphs, err := f.scales.Prepare(x.s.data.Graphs)
		if err != nil {
			return nil, err
		}
		m := f.scales.Model()
		if n, rank := x.s.data.info.Vertices, m.Kernel().Rank*len(f.scales.Radii()); n*rank > maxTable {
			return nil, cannot("%d vertices with %d features are too many to search", n, rank)
		}
		levels, err := m.Vertices(ctx, graphs)
		if err != nil {
			return nil, err
		}
		out := make([]vertexTable, len(levels))
		for l, v := range levels {
			out[l] = vertexTable{v.Class, rounded(v.Features.Data), v.Features.Cols}
		}
		return out, nil
	})
}

func rounded(q []float64) []float32 {
	out := make([]float32, len(q))
	for i, v := range q {
		out[i] = float32(v)
	}
	return out
}

// savedKey is the key of the session of a model as it was trained.
const savedKey = "saved"

// choose returns the kernel of a text, and the key of its session. Without a text a model answers as
// it was trained. The kernel of chosenText is nil, as it may not be known yet.
func (s *source) choose(text string) (k kernel.Kernel, key string, err error) {
	k = s.data.Kernel.Asked
	switch {
	case text == chosenText:
		return nil, s.id + " " + chosenText, nil
	case text != "":
		k, err = s.data.chosen(text)
	case s.data.saved:
		return k, s.id + " " + savedKey, nil
	}
	if err != nil {
		return nil, "", err
	}
	return k, s.id + " " + k.String(), nil
}

// session returns the session of the kernel of a text.
func (s *source) session(text string) (*session, error) {
	k, key, err := s.choose(text)
	if err != nil {
		return nil, err
	}
	saved := strings.HasSuffix(key, " "+savedKey)
	s.mu.Lock()
	defer s.mu.Unlock()
	x := &session{s: s, key: key, kernel: k, saved: saved}
	if i := slices.IndexFunc(s.recent, func(x *session) bool { return x.s == s && x.key == key }); i >= 0 {
		x = s.recent[i]
		s.recent = slices.Delete(s.recent, i, i+1)
	}
	if !slices.Contains(s.sources, s) { // it was let go meanwhile
		return x, nil
	}
	s.recent = slices.Insert(s.recent, 0, x)
	bytes := 0
	for i, old := range s.recent {
		bytes += 8 * len(old.s.core) * len(old.s.core)
		if i > 0 && (i == maxSessions || bytes > sessionBytes) {
			s.recent = slices.Delete(s.recent, i, len(s.recent))
			break
		}
	}
	return x, nil
}
