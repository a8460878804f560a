package worker

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/cuda"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nystrom"
	"github.com/mlgkernel/mlg/param"
	"github.com/mlgkernel/mlg/work"
)

// workArgs say how computations are carried out.
type workArgs struct {
	Workers   int     `json:"workers"`    // 0 for all processors
	MaxMemory float64 `json:"max_memory"` // GB for the tables of exact kernels, 0 for the default
	Device    string  `json:"device"`     // as cuda.Choose takes it, "" for the processor
}

// work returns how the computations of a request are carried out. A device is opened once.
func (s *server) work(a workArgs) (work.Options, error) {
	w := work.Options{Workers: a.Workers, Memory: int64(a.MaxMemory * 1e9), Device: s.devices[a.Device]}
	if a.Device == "" || w.Device != nil {
		return w, nil
	}
	if !slices.Contains(cuda.Names, a.Device) {
		return w, &param.Error{Name: "device", Value: a.Device, Want: "one of " + strings.Join(cuda.Names, ", ")}
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
	Endpoints []*learnerInfo `json:"endpoints,omitempty"` // of several
	Error     float64        `json:"error"`               // of an embedding
}

// fitsMemory returns an error unless there is memory for a matrix that is computed and sent.
func fitsMemory(rows, cols int) error {
	return work.CheckMatrices(2, rows, cols, "take fewer graphs at a time, or MLGEmbedding, whose vectors have the kernel as their dot products")
}

// fitKernel fits a kernel to the graphs of a request, whose number check sees before. The weight of a step of walks of any
// length becomes one for which their series converges.
func (c *call) fitKernel(args kernelArgs, check func(n int) error) (*fitted, *info, error) {
	work, err := c.work(args.workArgs)
	if err != nil {
		return nil, nil, err
	}
	c.carryOut(work)
	graphs, err := c.graphs()
	if err == nil {
		err = check(len(graphs))
	}
	if err != nil {
		return nil, nil, err
	}
	k, err := kernel.Parse(args.Kernel)
	if err != nil {
		return nil, nil, err
	}
	given := param.Get(k, "lambda")
	switch x := k.(type) {
	case classic.PlainWalk:
		k = x.Converging(graphs)
	case classic.RandomWalk:
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
	f, res, err := c.fitKernel(args.kernelArgs, func(n int) error {
		if !args.Gram {
			return nil
		}
		return fitsMemory(n, n)
	})
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

// cross returns the matrix between new graphs and the training graphs, and the number of new graphs for which the series
// of walks of any length diverges.
func (c *call) cross() (any, error) {
	graphs, err := c.graphs()
	if err != nil {
		return nil, err
	}
	if err := fitsMemory(len(graphs), c.fitted.model.Examples()); err != nil {
		return nil, err
	}
	m, err := c.fitted.model.Kernel.Cross(c.ctx, graphs)
	if err != nil {
		return nil, err
	}
	c.putMatrix("cross", m)
	var res struct {
		Damped int `json:"damped"`
	}
	switch k := c.fitted.model.Kernel.Factors[0].Kernel.(type) {
	case classic.PlainWalk:
		res.Damped = k.Diverging(graphs)
	case classic.RandomWalk:
		res.Damped, err = k.Diverging(c.ctx, graphs)
	}
	return res, err
}

// diagonal returns the kernel of graphs with themselves before normalisation, of the training graphs where the request
// has none. A sum, whose kernels are all normalised, has nothing before.
func (c *call) diagonal() (any, error) {
	k := c.fitted.model.Kernel
	a, err := k.Train(c.ctx)
	if len(c.body) > 0 {
		var graphs []*graph.Graph
		if graphs, err = c.graphs(); err == nil {
			a, err = k.Transform(c.ctx, graphs)
		}
	}
	if err != nil {
		return nil, err
	}
	var d []float64
	raw, ok := k.Factors[0].Known().Map.(interface {
		Diagonal(a kernel.Features) []float64
	})
	if ok && len(k.Factors) == 1 {
		d = raw.Diagonal(k.Factor(a, 0))
	} else if d, err = kernel.Self(c.ctx, k, a); err != nil {
		return nil, err
	}
	c.put("diagonal", d, len(d))
	return nil, nil
}

// save returns a model, or a kernel as one, as the bytes of a model file.
func (c *call) save() (any, error) {
	var b bytes.Buffer
	err := model.Encode(&b, c.fitted.model)
	c.putBytes("bytes", b.Bytes())
	return nil, err
}

// loadArgs may name one endpoint of a model of several targets.
type loadArgs struct {
	workArgs
	Target string `json:"target"`
}

// load keeps the model in the bytes of a model file, or one of its endpoints.
func (c *call) load(args loadArgs) (any, error) {
	m, err := model.Decode(c.body)
	if err != nil {
		return nil, err
	}
	if args.Target != "" {
		if m, err = m.Only(args.Target); err != nil {
			return nil, err
		}
	}
	work, err := c.work(args.workArgs)
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
	f, res, err := c.fitKernel(args.kernelArgs, func(n int) error { // vectors are widened, and sent
		return work.CheckMatrices(3, n, min(n, args.Rank), "take fewer components or fewer graphs")
	})
	if err != nil {
		return nil, err
	}
	k := f.model.Kernel
	train, err := k.Train(c.ctx)
	if err != nil {
		return nil, err
	}
	o := nystrom.Options{Dim: args.Rank, Tolerance: args.Tolerance, Pivots: nystrom.Greedy}
	e, rows, err := nystrom.Fit(c.ctx, k, train, o)
	if err != nil {
		return nil, err
	}
	f.embedding = e
	landmarks := make([]int64, e.Dim())
	for i, p := range e.Landmarks {
		landmarks[i] = int64(p)
	}
	c.putMatrix("vectors", rows)
	c.put("landmarks", landmarks, len(landmarks))
	res.Handle, res.Error = c.keep(f), slices.Max(e.Residual)
	return res, nil
}

// embed returns the vectors of new graphs.
func (c *call) embed() (any, error) {
	e := c.fitted.embedding
	if e == nil {
		return nil, errors.New("want the handle of an embedding")
	}
	graphs, err := c.graphs()
	if err != nil {
		return nil, err
	}
	a, err := c.fitted.model.Kernel.Transform(c.ctx, graphs)
	if err != nil {
		return nil, err
	}
	if err := work.CheckMatrices(2, len(graphs), e.Dim(), "transform fewer graphs at a time"); err != nil {
		return nil, err
	}
	x, err := e.Transform(c.ctx, a)
	if err == nil {
		c.put("vectors", x, len(graphs), e.Dim())
	}
	return nil, err
}
