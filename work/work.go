package work

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/mlgkernel/mlg/spd"
)

// Options say how a computation is carried out. No result depends on it, so it is no part of a
// kernel and travels in the context.
type Options struct {
	// Workers is the number of goroutines that compute; 0 means one for each processor.
	Workers int
	// Device computes the values of low-rank kernels; nil means DefaultDevice.
	Device spd.Device
	// Memory bounds the bytes of the tables that exact kernels keep; 0 means 16 GB, or what is
	// Available where that is less.
	Memory int64
	// Progress, when set, is called as work proceeds: by one goroutine at a time for a stage, but
	// stages may run concurrently.
	Progress func(Progress)
	// Trace, when set, is called at the start of a piece of work of a stage ("classes",
	// "landmarks", "gram", …), concurrently. It returns a function, which is called at the end. It
	// lets a caller with a clock measure where the time goes.
	Trace func(stage string) (end func())
}

// Progress tells how far a stage of a computation has come.
type Progress struct {
	Stage string `json:"stage"` // as in "classes 2/3"
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}

// DefaultDevice computes where a context names no device.
var DefaultDevice spd.Device = spd.CPU{}

type workKey struct{}

// With returns a context whose computations are carried out as w says.
func With(ctx context.Context, w Options) context.Context {
	return context.WithValue(ctx, workKey{}, w)
}

// WithWorkers returns a context with another number of goroutines.
func WithWorkers(ctx context.Context, n int) context.Context {
	w := Of(ctx)
	w.Workers = n
	return With(ctx, w)
}

// Quiet returns a context of whose computations nobody is told how far they have come.
func Quiet(ctx context.Context) context.Context {
	w := Of(ctx)
	w.Progress = nil
	return With(ctx, w)
}

// Of returns how computations of a context are carried out, with defaults filled in.
func Of(ctx context.Context) Options {
	w, _ := ctx.Value(workKey{}).(Options)
	if w.Workers <= 0 {
		w.Workers = runtime.GOMAXPROCS(0)
	}
	if w.Device == nil {
		w.Device = DefaultDevice
	}
	return w
}

// Memory returns how many bytes the tables of exact kernels may have.
func Memory(ctx context.Context) int64 {
	if most := Of(ctx).Memory; most > 0 {
		return most
	}
	const most = 16e9
	return min(most, cmp.Or(Available(), most))
}

// Workers returns the number of goroutines of a context.
func Workers(ctx context.Context) int { return Of(ctx).Workers }

// Device returns what computes the values of low-rank kernels.
func Device(ctx context.Context) spd.Device { return Of(ctx).Device }

// Trace begins a piece of work of a stage and returns what ends it.
func Trace(ctx context.Context, stage string) (end func()) {
	if w, _ := ctx.Value(workKey{}).(Options); w.Trace != nil {
		return w.Trace(stage)
	}
	return func() {}
}

// Each calls f(worker, i) for i = 0 … n-1 from the goroutines of the context, in chunks handed out
// in order. worker is below Workers(ctx), so f may keep buffers for each worker. Each stops at an
// error or when ctx is done, and returns the error of the smallest i that has one. What f writes
// must depend on i only.
func Each(ctx context.Context, n, chunk int, f func(worker, i int) error) error {
	workers := max(1, min(Workers(ctx), (n+chunk-1)/chunk))
	var next atomic.Int64
	var failed atomic.Bool
	var mu sync.Mutex
	var first error
	at := n // the chunk of first
	run := func(w int) {
		for !failed.Load() {
			lo := int(next.Add(int64(chunk))) - chunk
			if lo >= n {
				return
			}
			err := ctx.Err()
			for i := lo; i < min(n, lo+chunk) && err == nil; i++ {
				err = f(w, i)
			}
			if err != nil { // chunks before this one still run to their end
				failed.Store(true)
				mu.Lock()
				if lo < at {
					first, at = err, lo
				}
				mu.Unlock()
			}
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { run(w) })
	}
	run(0)
	wg.Wait()
	return first
}

// Tasks calls f for i = 0 … n-1 as Each does. It shares out the goroutines of the context: where there
// are fewer tasks, a task computes with several.
func Tasks(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	workers := Workers(ctx)
	lanes := max(1, min(workers, n))
	inner := WithWorkers(ctx, workers/lanes)
	return Each(WithWorkers(ctx, lanes), n, 1, func(_, i int) error { return f(inner, i) })
}

// Meter reports the progress of one stage, not more often than every hundredth of the way.
type Meter struct {
	report func(Progress)
	stage  string
	total  int64
	done   atomic.Int64
	mu     sync.Mutex
	shown  int64
}

// NewMeter begins a stage of so many steps.
func NewMeter(ctx context.Context, stage string, total int) *Meter {
	m := &Meter{report: Of(ctx).Progress, stage: stage, total: int64(total), shown: -1}
	m.Add(0)
	return m
}

// Add reports that n more steps are done. It may be called concurrently.
func (m *Meter) Add(n int) {
	if m.report == nil {
		return
	}
	done := m.done.Add(int64(n))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shown >= 0 && done < m.total && done-m.shown < max(1, m.total/100) || done <= m.shown {
		return
	}
	m.shown = done
	m.report(Progress{Stage: m.stage, Done: done, Total: m.total})
}
