package cuda

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/spd"
)

// Names are those of what Choose returns.
var Names = []string{"cpu", "cuda", "auto"}

// Choose returns a device by its name. "cpu" is the processor. "cuda" is the first GPU; it is an
// error if there is none. "auto" is the GPU for work that is large enough, and the processor where
// there is no GPU or it fails; note, if it is not nil, is told why. Close gives the GPU back.
func Choose(name string, note func(string)) (spd.Device, io.Closer, error) {
	switch name {
	case "cpu":
		return spd.CPU{}, nobody{}, nil
	case "cuda":
		d, err := Open()
		if err != nil {
			return nil, nil, err
		}
		return d, d, nil
	case "auto":
		a := &auto{note: note}
		return a, a, nil
	}
	return nil, nil, fmt.Errorf("device %q, want one of %q", name, Names)
}

type nobody struct{}

func (nobody) Close() error { return nil }

// auto is a GPU that is opened when there is work for it. What it does not do, the processor does.
type auto struct {
	note func(string)

	mu     sync.Mutex
	done   float64 // work in seconds of one core
	tried  bool
	device spd.Device // nil where there is none, or after a failure
	close  func() error
}

// openSeconds is the least time that the processor would need for work for which a GPU is opened. To
// open it takes about half a second.
const openSeconds = 2

// callSeconds is about the time that a call of a GPU takes however little it computes.
const callSeconds = 1e-4

// seconds is about the time in which one core computes so many kernel values of matrices of order p.
// It does sixteen multiply-adds in a nanosecond, as AVX2 does at 2 GHz; what is left takes as long as 64.
func seconds(pairs, p int) float64 {
	x := float64(p)
	return float64(pairs) * ((x*x*x-x)/6 + x*(x-1)/2 + 64) / 16e9
}

// factorSeconds is seconds for spd.Factors.Cross.
func factorSeconds(f *spd.Factors, a []spd.Thin) float64 {
	sum := 0.0
	for i := range a {
		sum += f.Cost(len(a[i].Rows))
	}
	return sum * float64(f.Len()) / 16e9
}

// fits reports whether the GPU can compare matrices of low rank.
func fits(f *spd.Factors, a []spd.Thin) bool {
	return f.Order() <= maxOrder && !slices.ContainsFunc(a, func(x spd.Thin) bool { return len(x.Rows) > maxOrder })
}

// enough reports whether work of so many seconds of one core is worth opening a GPU.
func enough(work float64) bool { return work > openSeconds*float64(runtime.GOMAXPROCS(0)) }

// Block implements spd.Device.
func (a *auto) Block(rows, columns int, same bool, p int) (height, width int) {
	pairs := rows * columns
	if same {
		pairs /= 2
	}
	work := seconds(pairs, p)
	if d := a.open(p <= maxOrder && enough(work)); d != nil && work >= callSeconds {
		return d.Block(rows, columns, same, p)
	}
	return spd.CPU{}.Block(rows, columns, same, p)
}

// open returns the GPU, nil if there is none. It tries to open it once, when that is wanted.
func (a *auto) open(wanted bool) spd.Device {
	a.mu.Lock()
	defer a.mu.Unlock()
	if wanted && !a.tried {
		a.tried = true
		d, err := Open()
		if err != nil {
			a.say(fmt.Sprintf("computing on the processor: %v", err))
			return nil
		}
		a.say("computing on " + d.String())
		a.device, a.close = d, d.Close
	}
	return a.device
}

// count adds to the work that was done, which may come in pieces, and reports whether it is enough.
func (a *auto) count(work float64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done += work
	return enough(a.done)
}

func (a *auto) say(text string) {
	if a.note != nil {
		a.note(text)
	}
}

// Cross implements spd.Device.
func (a *auto) Cross(ctx context.Context, dst []float64, stride int, x *spd.Batch, i0, i1 int, y *spd.Batch, j0, j1 int) error {
	p := x.Order()
	return a.compute(ctx, p <= maxOrder && a.count(seconds((i1-i0)*(j1-j0), p)), func(d spd.Device) error {
		return d.Cross(ctx, dst, stride, x, i0, i1, y, j0, j1)
	})
}

// CrossFactors implements spd.Device.
func (a *auto) CrossFactors(ctx context.Context, dst []float64, stride int, f *spd.Factors, q []float64, x []spd.Thin) error {
	return a.compute(ctx, fits(f, x) && a.count(factorSeconds(f, x)), func(d spd.Device) error {
		return d.CrossFactors(ctx, dst, stride, f, q, x)
	})
}

// compute calls f with the GPU, which is opened if that is wanted. Without a GPU, or if it fails, it
// calls f with the processor.
func (a *auto) compute(ctx context.Context, wanted bool, f func(spd.Device) error) error {
	if d := a.open(wanted); d != nil {
		err := f(d)
		if err == nil || errors.Is(err, ctx.Err()) {
			return err
		}
		a.fail(err)
	}
	return f(spd.CPU{})
}

// fail gives the GPU up, which is told once.
func (a *auto) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.device != nil {
		a.say(fmt.Sprintf("going on with the processor: %v", err))
		a.device = nil
	}
}

// Close gives the GPU back.
func (a *auto) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.device = nil
	if a.close == nil {
		return nil
	}
	return a.close()
}
