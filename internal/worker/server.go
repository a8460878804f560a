package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nystrom"
)

// Protocol is the version of the protocol; both sides must speak the same.
const Protocol = 2

// fitted is what stands under a handle: a model, which need not have a learner, and for an
// embedding its landmarks.
type fitted struct {
	model   *model.Model
	basis   *nystrom.Basis
	workers int // 0 for all processors
}

// work returns the context of computations with what stands under a handle.
func (f *fitted) work(ctx context.Context) context.Context { return kernel.WithWorkers(ctx, f.workers) }

// server answers the requests of one parent.
type server struct {
	dir    string
	held   map[int64]*fitted
	next   int64
	serial int64
}

// operations by name. Each decodes its arguments and fills the answer.
var operations = map[string]func(s *server, ctx context.Context, q *request, a *answer) error{
	"hello":       (*server).hello,
	"fit":         (*server).fit,
	"gram":        (*server).gram,
	"cross":       (*server).cross,
	"diagonal":    (*server).diagonal,
	"save":        (*server).save,
	"load":        (*server).load,
	"embed-fit":   (*server).embedFit,
	"embed":       (*server).embed,
	"train":       (*server).train,
	"predict":     (*server).predict,
	"model-save":  (*server).modelSave,
	"model-load":  (*server).modelLoad,
	"read":        (*server).read,
	"fetch":       (*server).fetch,
	"smiles":      (*server).smiles,
	"similarity":  (*server).similarity,
	"decision":    (*server).decision,
	"draw":        (*server).draw,
	"draw-matrix": (*server).drawMatrix,
}

// Serve answers requests until the input ends, a frame cannot be read or ctx ends. The folder
// dir, shared with the parent, may be empty: then all bodies stand in frames. Serve removes
// it at the end.
func Serve(ctx context.Context, r io.Reader, w io.Writer, dir string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if dir != "" {
		defer os.RemoveAll(dir)
	}
	// The input is read while a request is worked on, so that its end cancels the work.
	requests, end := make(chan *request), make(chan error, 1)
	go func() {
		defer cancel()
		for {
			q, err := readRequest(r, dir)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					end <- err
				}
				return
			}
			select {
			case requests <- q:
			case <-ctx.Done():
				return
			}
		}
	}()
	s := &server{dir: dir, held: map[int64]*fitted{}}
	for {
		select {
		case <-ctx.Done():
			select {
			case err := <-end:
				return err
			default:
				return nil
			}
		case q := <-requests:
			a := s.answer(ctx, q)
			if ctx.Err() != nil {
				continue
			}
			s.serial++
			if err := writeAnswer(w, dir, s.serial, a); err != nil {
				return err
			}
		}
	}
}

// answer works on one request.
func (s *server) answer(ctx context.Context, q *request) (a *answer) {
	for _, h := range q.Release {
		delete(s.held, h)
	}
	defer func() {
		if p := recover(); p != nil {
			a = &answer{Error: fmt.Sprintf("%s: %v\n%s", q.Op, p, debug.Stack()), Kind: "internal"}
		}
	}()
	f, ok := operations[q.Op]
	if !ok {
		return &answer{Error: fmt.Sprintf("operation %q is not known", q.Op), Kind: "internal"}
	}
	a = &answer{}
	if err := f(s, ctx, q, a); err != nil {
		kind := "value"
		var path *fs.PathError
		var out outside
		switch {
		case errors.Is(err, fs.ErrNotExist):
			kind = "missing"
		case errors.As(err, &path), errors.As(err, &out):
			kind = "file"
		case errors.Is(err, errHandle):
			kind = "handle"
		}
		return &answer{Error: err.Error(), Kind: kind}
	}
	return a
}

var errHandle = errors.New("the worker does not hold this handle")

// keep puts something under a new handle.
func (s *server) keep(f *fitted) int64 {
	s.next++
	s.held[s.next] = f
	return s.next
}

// handle returns what stands under a handle.
func (s *server) handle(h int64) (*fitted, error) {
	f, ok := s.held[h]
	if !ok {
		return nil, fmt.Errorf("%w: %d", errHandle, h)
	}
	return f, nil
}

// arguments decodes the arguments of a request; a field that is not known is an error.
func arguments(q *request, v any) error {
	d := json.NewDecoder(bytes.NewReader(q.Args))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s: arguments: %w", q.Op, err)
	}
	return nil
}

func (s *server) hello(_ context.Context, _ *request, a *answer) error {
	a.Result = map[string]any{"protocol": Protocol, "pid": os.Getpid(), "go": runtime.Version()}
	return nil
}

// fit fits a kernel to graphs, and computes their matrix where it is asked for.
func (s *server) fit(ctx context.Context, q *request, a *answer) error {
	var args struct {
		kernelArgs
		Gram bool `json:"gram"`
	}
	if err := arguments(q, &args); err != nil {
		return err
	}
	m, res, err := args.fit(ctx, q.body)
	if err != nil {
		return err
	}
	if args.Gram {
		k, err := m.Kernel.Gram(args.work(ctx))
		if err != nil {
			return err
		}
		a.put("gram", []int{k.Rows, k.Cols}, k.Data)
	}
	res.Handle = s.keep(&fitted{model: m, workers: args.Workers})
	a.Result = res
	return nil
}

// fitted returns what a request with nothing but a handle is about.
func (s *server) fitted(q *request) (*fitted, error) {
	var args struct {
		Handle int64 `json:"handle"`
	}
	if err := arguments(q, &args); err != nil {
		return nil, err
	}
	return s.handle(args.Handle)
}

// gram returns the matrix of the training graphs.
func (s *server) gram(ctx context.Context, q *request, a *answer) error {
	f, err := s.fitted(q)
	if err != nil {
		return err
	}
	m, err := f.model.Kernel.Gram(f.work(ctx))
	if err != nil {
		return err
	}
	a.put("gram", []int{m.Rows, m.Cols}, m.Data)
	return nil
}

// handleArgs are a handle and graphs.
type handleArgs struct {
	Handle int64       `json:"handle"`
	Batch  batchLayout `json:"batch"`
}

func (s *server) withGraphs(q *request) (*fitted, []*graph.Graph, error) {
	var args handleArgs
	if err := arguments(q, &args); err != nil {
		return nil, nil, err
	}
	f, err := s.handle(args.Handle)
	if err != nil {
		return nil, nil, err
	}
	graphs, _, err := decodeGraphs(args.Batch, q.body)
	return f, graphs, err
}

// cross returns the matrix between new graphs and the training graphs.
func (s *server) cross(ctx context.Context, q *request, a *answer) error {
	f, graphs, err := s.withGraphs(q)
	if err != nil {
		return err
	}
	m, err := f.model.Kernel.Cross(f.work(ctx), graphs)
	if err != nil {
		return err
	}
	a.put("cross", []int{m.Rows, m.Cols}, m.Data)
	return nil
}

// diagonal returns the raw kernel of graphs with themselves.
func (s *server) diagonal(ctx context.Context, q *request, a *answer) error {
	f, graphs, err := s.withGraphs(q)
	if err != nil {
		return err
	}
	d, err := diagonal(f.work(ctx), f.model, graphs)
	if err != nil {
		return err
	}
	a.put("diagonal", []int{len(d)}, d)
	return nil
}

// save returns a fitted low-rank kernel as the bytes of a model file without a learner.
func (s *server) save(_ context.Context, q *request, a *answer) error {
	f, err := s.fitted(q)
	if err != nil {
		return err
	}
	m := *f.model
	if _, ok := alone(&m); !ok {
		return errors.New("save: only the low-rank multiscale kernel is kept in bytes")
	}
	m.Graphs, m.Targets = nil, nil // not needed
	return a.putModel(&m)
}

// putModel answers with the bytes of a model file.
func (a *answer) putModel(m *model.Model) error {
	var b bytes.Buffer
	if err := model.Encode(&b, m); err != nil {
		return err
	}
	a.put("bytes", []int{b.Len()}, b.Bytes())
	return nil
}

// load is the inverse of save.
func (s *server) load(_ context.Context, q *request, a *answer) error {
	f, err := q.model()
	if err != nil {
		return err
	}
	if _, ok := alone(f.model); !ok || f.model.Learner != nil {
		return errors.New("load: want a model with one low-rank kernel and no learner")
	}
	a.Result = &fitResult{Handle: s.keep(f)}
	return nil
}

// model decodes the model file in the body of a request.
func (q *request) model() (*fitted, error) {
	var args struct {
		Workers int `json:"workers"`
	}
	if err := arguments(q, &args); err != nil {
		return nil, err
	}
	m, err := model.Decode(q.body)
	return &fitted{model: m, workers: args.Workers}, err
}

// alone returns the low-rank kernel of a model that has no other and gives it graphs as they are.
func alone(m *model.Model) (*mlg.Model, bool) {
	if len(m.Kernel.Sum.Terms) != 1 || len(m.Kernel.Sum.Terms[0].Factors) != 1 {
		return nil, false
	}
	f := m.Kernel.Factors[0]
	k := model.LowRank(f)
	return k, k != nil && !f.Standardize && !f.Subdivide
}
