package explorer

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// gate lets a number of computations run at a time and a number of others wait.
type gate struct {
	slots   chan struct{}
	waiting atomic.Int64
	limit   int64
}

func newGate(running, waiting int) *gate {
	return &gate{slots: make(chan struct{}, running), limit: int64(waiting)}
}

var errBusy = errors.New("too many computations are waiting; try again in a moment")

// enter waits for a place; leave gives it back. The error is errBusy when too many wait.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.slots <- struct{}{}:
		return nil
	default:
	}
	defer g.waiting.Add(-1)
	if g.waiting.Add(1) > g.limit {
		return errBusy
	}
	select {
	case g.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) leave() { <-g.slots }

// part is a result that is computed at most once at a time, when it is first asked for, and
// kept. Errors are not kept.
type part[T any] struct {
	mu     sync.Mutex
	done   bool
	value  T
	flight *flight[T]
}

// flight is a computation with those who wait for it.
type flight[T any] struct {
	waiters int
	cancel  context.CancelFunc
	ready   chan struct{}
	value   T
	err     error
}

// peek returns the result if it is there.
func (p *part[T]) peek() (T, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.value, p.done
}

// get returns the result, computing it if nobody else does. The computation runs in life,
// and is cancelled when the last one who waits for it has gone away.
func (p *part[T]) get(ctx, life context.Context, work func(context.Context) (T, error)) (T, error) {
	p.mu.Lock()
	if p.done {
		defer p.mu.Unlock()
		return p.value, nil
	}
	f := p.flight
	if f == nil {
		inner, cancel := context.WithCancel(life)
		f = &flight[T]{cancel: cancel, ready: make(chan struct{})}
		p.flight = f
		go p.run(inner, f, work)
	}
	f.waiters++
	p.mu.Unlock()

	select {
	case <-f.ready:
		return f.value, f.err
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		if f.waiters--; f.waiters == 0 {
			f.cancel()
			if p.flight == f {
				p.flight = nil // who asks now starts anew
			}
		}
		var zero T
		return zero, ctx.Err()
	}
}

func (p *part[T]) run(ctx context.Context, f *flight[T], work func(context.Context) (T, error)) {
	defer f.cancel()
	f.value, f.err = safely(ctx, work)
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.err == nil {
		p.value, p.done = f.value, true
	}
	if p.flight == f {
		p.flight = nil
	}
	close(f.ready)
}

// safely turns a panic of work, which would end the server, into an error.
func safely[T any](ctx context.Context, work func(context.Context) (T, error)) (value T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic in a computation: %v\n%s", r, debug.Stack())
		}
	}()
	return work(ctx)
}
