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
	"sync"
	"time"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nystrom"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/work"
)

// protocol is the version of the protocol; both sides must speak the same (PROTOCOL in _engine.py).
const protocol = 10

// fitted is what stands under a handle: a model, which need not have a learner, or an embedding.
type fitted struct {
	model     *model.Model
	embedding *nystrom.Embedding // nil for none
	work      work.Options
}

// server answers the requests of one parent.
type server struct {
	held    map[int64]*fitted
	next    int64
	devices map[string]spd.Device

	mu   sync.Mutex
	said []string // by devices, since the last answer
}

// keep puts something under a new handle.
func (s *server) keep(f *fitted) int64 {
	s.next++
	s.held[s.next] = f
	return s.next
}

// call is a request that is worked on, and the answer to it.
type call struct {
	*server
	answer
	ctx      context.Context
	fitted   *fitted // what stands under the handle of the request, nil if it has none
	body     []byte
	progress func(work.Progress) // nil where nobody asked
}

// carryOut says how the computations of a call are carried out.
func (c *call) carryOut(w work.Options) {
	w.Progress = c.progress
	c.ctx = work.With(c.ctx, w)
}

// operation works on a request with the given arguments and returns the result.
type operation func(c *call, args json.RawMessage) (any, error)

// operations by name.
var operations = map[string]operation{
	"hello":       op(struct{}{}, (*call).hello),
	"fit":         op(fitArgs{}, (*call).fit),
	"train":       op(trainArgs{Options: choose.DefaultOptions()}, (*call).train),
	"embed-fit":   op(embedArgs{}, (*call).embedFit),
	"load":        op(loadArgs{}, (*call).load),
	"save":        about((*call).save),
	"cross":       about((*call).cross),
	"diagonal":    about((*call).diagonal),
	"embed":       about((*call).embed),
	"predict":     aboutWith(predictArgs{}, (*call).predict),
	"nearest":     aboutWith(nearestArgs{}, (*call).nearest),
	"suggest":     aboutWith(suggestArgs{Class: -1}, (*call).suggest),
	"similarity":  aboutWith(similarityArgs{Picture: draw.DefaultOptions()}, (*call).similarity),
	"decision":    aboutWith(decisionArgs{Picture: draw.DefaultOptions()}, (*call).decision),
	"read":        op(readArgs{Options: dataset.DefaultOptions()}, (*call).read),
	"smiles":      op(smilesArgs{Options: dataset.DefaultOptions()}, (*call).smiles),
	"scaffolds":   op(struct{}{}, (*call).scaffolds),
	"fetch":       op(fetchArgs{}, (*call).fetch),
	"draw":        op(drawArgs{Picture: draw.DefaultOptions()}, (*call).draw),
	"draw-matrix": op(matrixArgs{Size: draw.DefaultSize}, (*call).drawMatrix),
}

// op turns a function into an operation. A missing argument has its default. An unknown argument is
// an error.
func op[A any](defaults A, f func(*call, A) (any, error)) operation {
	return func(c *call, text json.RawMessage) (any, error) {
		args := defaults
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&args); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
		return f(c, args)
	}
}

// aboutWith is op for what needs a handle.
func aboutWith[A any](defaults A, f func(*call, A) (any, error)) operation {
	return op(defaults, func(c *call, args A) (any, error) {
		if c.fitted == nil {
			return nil, failure{"handle", errors.New("no handle")}
		}
		return f(c, args)
	})
}

// about is aboutWith without arguments.
func about(f func(*call) (any, error)) operation {
	return aboutWith(struct{}{}, func(c *call, _ struct{}) (any, error) { return f(c) })
}

// failure is an error with its kind.
type failure struct {
	kind string
	error
}

// ballast is memory that is never touched, and so takes none of the machine's. It counts for the
// collector of garbage, which therefore runs once for so many bytes that a small request allocates,
// and not for every 4 MB.
const ballast = 32 << 20

// Serve answers requests until the input ends, a frame cannot be read or ctx ends. It removes the
// folder dir, which is shared with the parent, at the end.
func Serve(ctx context.Context, r io.Reader, w io.Writer, dir string) error {
	weight := make([]byte, ballast)
	defer runtime.KeepAlive(weight)
	defer os.RemoveAll(dir)
	folder, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The input is read while a request is worked on, so that its end cancels the work.
	requests := make(chan *request)
	go func() {
		for {
			q, err := readRequest(r, folder)
			if err != nil {
				cancel(err)
				return
			}
			select {
			case requests <- q:
			case <-ctx.Done():
				return
			}
		}
	}()
	s := &server{held: map[int64]*fitted{}, devices: map[string]spd.Device{}}
	for serial := int64(1); ; serial++ {
		select {
		case <-ctx.Done():
			if err := context.Cause(ctx); !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		case q := <-requests:
			var progress func(work.Progress)
			if q.Progress {
				progress = reporter(w, folder)
			}
			a := s.answer(ctx, q, progress)
			if ctx.Err() != nil {
				continue
			}
			s.mu.Lock()
			a.Said, s.said = s.said, nil
			s.mu.Unlock()
			if err := writeAnswer(w, folder, serial, a); err != nil {
				return err
			}
		}
	}
}

// reporter returns what writes frames of progress, not more than ten in a second, but always the end of a stage.
// A frame that cannot be written is left to the answer to complain about.
func reporter(w io.Writer, folder *os.Root) func(work.Progress) {
	var mu sync.Mutex
	var last time.Time
	return func(p work.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); p.Done == p.Total || now.Sub(last) > 100*time.Millisecond {
			last = now
			writeAnswer(w, folder, 0, &answer{Progress: &p})
		}
	}
}

// answer works on one request.
func (s *server) answer(ctx context.Context, q *request, progress func(work.Progress)) (a *answer) {
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
	c := &call{server: s, ctx: ctx, body: q.body, fitted: s.held[q.Handle], progress: progress}
	if c.fitted != nil {
		c.carryOut(c.fitted.work)
	} else if q.Handle != 0 {
		return &answer{Error: fmt.Sprintf("the worker does not hold the handle %d", q.Handle), Kind: "handle"}
	}
	result, err := f(c, q.Args)
	if err == nil {
		c.Result = result
		return &c.answer
	}
	kind := "value"
	var path *fs.PathError
	var known failure
	var memory *work.MemoryError
	switch {
	case errors.As(err, &known):
		kind = known.kind
	case errors.As(err, &memory):
		kind = "memory"
	case errors.Is(err, fs.ErrNotExist):
		kind = "missing"
	case errors.As(err, &path):
		kind = "file"
	}
	return &answer{Error: err.Error(), Kind: kind, Wrong: wrongOf(err)}
}

// notes count what was changed in graphs to make them simple. All are numbers of edges, except Directed.
type notes struct {
	Loops    int `json:"loops"`    // self-loops that were left out
	Directed int `json:"directed"` // graphs with edges in both directions and others in one only, which became directed
	Parallel int `json:"parallel"` // joined with others
	Weights  int `json:"weights"`  // with the mean of different weights
	Labels   int `json:"labels"`   // with several labels, joined
}

func (n *notes) add(g graph.Given) {
	n.Parallel += g.Parallel
	if g.Mixed() {
		n.Directed++
		return // nothing else was changed
	}
	n.Loops += g.Loops
	n.Weights += g.Weights
	n.Labels += g.Labels
}

// graphs returns the graphs in the body of the request. The answer will say what was changed in
// them.
func (c *call) graphs() ([]*graph.Graph, error) {
	b, err := graph.Decode(c.body)
	if err != nil {
		return nil, fmt.Errorf("graphs: %w", err)
	}
	out, given := make([]*graph.Graph, b.Len()), make([]graph.Given, b.Len())
	err = work.Each(c.ctx, b.Len(), 64, func(_, i int) (err error) {
		out[i], given[i], err = b.Merged(i)
		return err
	})
	if err != nil {
		return nil, err
	}
	var n notes
	for _, g := range given {
		n.add(g)
	}
	if n != (notes{}) {
		c.Notes = &n
	}
	return out, nil
}

// exactly returns the graphs of a request that must have the given number.
func (c *call) exactly(n int) ([]*graph.Graph, error) {
	graphs, err := c.graphs()
	if err == nil && len(graphs) != n {
		err = fmt.Errorf("%d graphs, want %d", len(graphs), n)
	}
	return graphs, err
}

func (c *call) hello(struct{}) (any, error) {
	return map[string]int64{"protocol": protocol, "memory": work.Available()}, nil
}
