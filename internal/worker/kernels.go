package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/cuda"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nystrom"
	"github.com/mlgkernel/mlg/param"
)

// workArgs say how computations are carried out.
type workArgs struct {
	Workers   int     `json:"workers"`    // 0 for all processors
	MaxMemory float64 `json:"max_memory"` // GB for the tables of exact kernels, 0 for the default
	Device    string  `json:"device"`     // as cuda.Choose takes it, "" for the processor
}

// work returns how the computations of a request are carried out. A device is opened once.
func (s *server) work(a workArgs) (kernel.Work, error) {
	w := kernel.Work{Workers: a.Workers, Memory: int64(a.MaxMemory * 1e9), Device: s.devices[a.Device]}
	if a.Device == "" || w.Device != nil {
		return w, nil
	}
	d, _, err := cuda.Choose(a.Device, s.note) // until the process ends
	if err != nil {
		return w, &param.Error{Name: "device", Value: a.Device, Err: err}
	}
	s.devices[a.Device], w.Device = d, d
	return w, nil
}

// note keeps what a device says for the next answer.
func (s *server) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, text)
}

// kernelArgs say which kernel is fitted, and how.
type kernelArgs struct {
	Kernel string `json:"kernel"` // its text
	workArgs
}

// info describes the object of a handle.
type info struct {
	Handle int64  `json:"handle"`
	Kernel string `json:"kernel"`
	// Compared is what the kernel compares of graphs, in words.
	Compared string `json:"compared"`
	// Lambda is the weight of a step of walks, where the one that was given is too large.
	Lambda float64 `json:"lambda,omitempty"`
	*learnerInfo
	Error float64 `json:"error"` // of an embedding
}

// fitKernel fits a kernel to the graphs of a request. The weight of a step of walks of any length becomes
// one for which their series converges.
func (c *call) fitKernel(args kernelArgs) (*fitted, *info, error) {
	work, err := c.work(args.workArgs)
	if err != nil {
		return nil, nil, err
	}
	c.carryOut(work)
	graphs, err := c.graphs()
	if err != nil {
		return nil, nil, err
	}
	k, err := kernel.Parse(args.Kernel)
	if err != nil {
		return nil, nil, err
	}
	given := param.Get(k, "lambda")
	switch x := k.(type) {
	case baseline.PlainWalk:
		k = x.Converging(graphs)
	case baseline.RandomWalk:
		if k, err = x.Converging(c.ctx, graphs); err != nil {
			return nil, nil, err
		}
	}
	f := &fitted{work: work}
	if f.model, err = model.New(c.ctx, graphs, k); err != nil {
		return nil, nil, err
	}
	res := &info{Kernel: k.String(), Compared: f.model.Compared()}
	if used, ok := param.Get(k, "lambda").(float64); ok && used != given {
		res.Lambda = used
	}
	return f, res, nil
}

type fitArgs struct {
	kernelArgs
	Gram bool `json:"gram"`
}

// fit fits a kernel to graphs, and computes their matrix where it is asked for.
func (c *call) fit(args fitArgs) (any, error) {
	f, res, err := c.fitKernel(args.kernelArgs)
	if err != nil {
		return nil, err
	}
	if args.Gram {
		m, err := f.model.Kernel.Gram(c.ctx)
		if err != nil {
			return nil, err
		}
		c.putMatrix("gram", m)
	}
	res.Handle = c.keep(f)
	return res, nil
}

// crossed returns the graphs of the request, and the matrix between them and the training graphs.
func (c *call) crossed() ([]*graph.Graph, *kernel.Matrix, error) {
	graphs, err := c.graphs()
	if err != nil {
		return nil, nil, err
	}
	m, err := c.fitted.model.Kernel.Cross(c.ctx, graphs)
	return graphs, m, err
}

// cross returns the matrix between new graphs and the training graphs, and the number of new graphs for which the series
// of walks of any length diverges.
func (c *call) cross() (any, error) {
	graphs, m, err := c.crossed()
	if err != nil {
		return nil, err
	}
	c.putMatrix("cross", m)
	var res struct {
		Damped int `json:"damped"`
	}
	switch k := c.fitted.model.Kernel.Factors[0].Kernel.(type) {
	case baseline.PlainWalk:
		res.Damped = k.Diverging(graphs)
	case baseline.RandomWalk:
		res.Damped, err = k.Diverging(c.ctx, graphs)
	}
	return res, err
}

// diagonal returns the raw kernel of graphs with themselves, of the training graphs where the
// request has none.
func (c *call) diagonal() (any, error) {
	m := c.fitted.model
	graphs, n := m.Graphs, m.Examples()
	if len(c.body) > 0 {
		var err error
		if graphs, err = c.graphs(); err != nil {
			return nil, err
		}
		n = len(graphs)
	}
	d, err := diagonal(c.ctx, m, graphs, n)
	if err == nil {
		c.put("diagonal", d, len(d))
	}
	return nil, err
}

// diagonal returns the kernel of n graphs with themselves before normalisation.
func diagonal(ctx context.Context, m *model.Model, graphs []*graph.Graph, n int) ([]float64, error) {
	if len(m.Kernel.Factors) != 1 && normalized(m) { // the mean of two multiscale kernels, with bonds
		return slices.Repeat([]float64{m.Kernel.Self()}, n), nil
	}
	if len(m.Kernel.Factors) != 1 {
		return nil, fmt.Errorf("%s: only single kernels have raw values", m.Kernel.Sum)
	}
	a, err := m.Kernel.Transform(ctx, graphs)
	if err != nil {
		return nil, err
	}
	if d, ok := m.Kernel.Factors[0].Known().Map.(interface {
		Diagonal(a kernel.Features) []float64
	}); ok {
		return d.Diagonal(m.Kernel.Factor(a, 0)), nil
	}
	return slices.Repeat([]float64{1}, n), nil // multiscale kernels are normalised by definition
}

// save returns a model, or a kernel as one, as the bytes of a model file.
func (c *call) save() (any, error) {
	var b bytes.Buffer
	err := model.Encode(&b, c.fitted.model)
	c.putBytes("bytes", b.Bytes())
	return nil, err
}

// load keeps the model in the bytes of a model file.
func (c *call) load(args workArgs) (any, error) {
	m, err := model.Decode(c.body)
	if err != nil {
		return nil, err
	}
	work, err := c.work(args)
	if err != nil {
		return nil, err
	}
	return c.describe(&fitted{model: m, work: work}), nil
}

type embedArgs struct {
	kernelArgs
	Rank      int     `json:"components"`
	Tolerance float64 `json:"tolerance"`
}

// embedFit fits a kernel to graphs and chooses landmarks among them (package nystrom): always the
// graph that is represented worst, at most so many, and fewer when none is further off than
// tolerance times the largest k(G, G). It takes a row of the kernel matrix for each.
func (c *call) embedFit(args embedArgs) (any, error) {
	if args.Rank < 1 {
		return nil, fmt.Errorf("components = %d, want at least 1", args.Rank)
	}
	if !(args.Tolerance >= 0 && args.Tolerance < 1) {
		return nil, fmt.Errorf("tolerance = %v, want 0 or more and less than 1", args.Tolerance)
	}
	f, res, err := c.fitKernel(args.kernelArgs)
	if err != nil {
		return nil, err
	}
	m := f.model
	self := slices.Repeat([]float64{1}, len(m.Graphs))
	if !normalized(m) {
		if self, err = diagonal(c.ctx, m, m.Graphs, len(m.Graphs)); err != nil {
			return nil, err
		}
	}
	rowOnly := kernel.WithWork(c.ctx, f.work) // nystrom tells how far it has come
	b, rows, err := nystrom.Choose(c.ctx, self, func(p int, dst []float64) error {
		k, err := m.Kernel.Cross(rowOnly, m.Graphs[p:p+1])
		if err == nil {
			copy(dst, k.Row(0))
		}
		return err
	}, nystrom.Options{Dim: args.Rank, Tolerance: args.Tolerance, Pivots: nystrom.Greedy})
	if err != nil {
		return nil, err
	}
	f.basis = b
	landmarks := make([]int64, b.Dim())
	for i, p := range b.Landmarks {
		landmarks[i] = int64(p)
	}
	c.putMatrix("vectors", rows)
	c.put("landmarks", landmarks, len(landmarks))
	res.Handle, res.Error = c.keep(f), slices.Max(b.Residual)
	return res, nil
}

// normalized reports whether the kernel of a model has k(G, G) = 1 for all graphs.
func normalized(m *model.Model) bool {
	for _, f := range m.Kernel.Factors {
		for _, p := range param.Of(f.Kernel) {
			if p.Name == "normalize" && p.Default != true {
				return false
			}
		}
	}
	return true
}

// embed returns the vectors of new graphs.
func (c *call) embed() (any, error) {
	if c.fitted.basis == nil {
		return nil, errors.New("want the handle of an embedding")
	}
	_, k, err := c.crossed()
	if err != nil {
		return nil, err
	}
	x, err := c.fitted.basis.Vectors(c.ctx, k)
	if err == nil {
		c.putMatrix("vectors", x)
	}
	return nil, err
}
