package explorer

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
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

// life is that of computations. One that nobody waits for goes on for a while.
type life struct {
	context.Context
	patience time.Duration
	crowded  func() bool // when set, whether somebody waits for a place

	mu        sync.Mutex
	abandoned map[int]func() // what ends them
	next      int
}

// abandon ends a computation after a while.
func (l *life) abandon(end func()) {
	if l.patience == 0 || l.crowded != nil && l.crowded() {
		end()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.abandoned == nil {
		l.abandoned = map[int]func(){}
	}
	k := l.next
	l.next++
	l.abandoned[k] = end
	time.AfterFunc(l.patience, func() {
		l.mu.Lock()
		delete(l.abandoned, k)
		l.mu.Unlock()
		end()
	})
}

// hurry ends what nobody waits for.
func (l *life) hurry() {
	l.mu.Lock()
	ends := slices.Collect(maps.Values(l.abandoned))
	clear(l.abandoned)
	l.mu.Unlock()
	for _, end := range ends {
		end()
	}
}

// result is computed when it is first needed, by one computation at a time, and kept. Errors are
// not kept.
type result[T any] struct {
	mu   sync.Mutex
	last *computation[T] // that is running or has succeeded
}

// computation has those who wait for it.
type computation[T any] struct {
	waiters int
	cancel  context.CancelFunc
	ready   chan struct{} // closed when value and err are there
	value   T
	err     error
}

// peek returns the result if it is there.
func (r *result[T]) peek() (value T, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil {
		select {
		case <-r.last.ready:
			return r.last.value, true
		default:
		}
	}
	return value, false
}

// get returns the result, computing it if nobody else does. The computation runs in life,
// and is abandoned when the last one who waits for it has gone away.
func (r *result[T]) get(ctx context.Context, life *life, work func(context.Context) (T, error)) (T, error) {
	r.mu.Lock()
	c := r.last
	if c == nil {
		inner, cancel := context.WithCancel(life)
		c = &computation[T]{cancel: cancel, ready: make(chan struct{})}
		r.last = c
		go r.run(inner, c, work)
	}
	c.waiters++
	r.mu.Unlock()

	select {
	case <-c.ready:
		return c.value, c.err
	case <-ctx.Done():
		r.mu.Lock()
		c.waiters--
		alone := c.waiters == 0
		r.mu.Unlock()
		if alone {
			life.abandon(func() { r.end(c) })
		}
		var zero T
		return zero, ctx.Err()
	}
}

// end cancels a computation unless somebody waits for it.
func (r *result[T]) end(c *computation[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.waiters > 0 {
		return
	}
	c.cancel()
	select {
	case <-c.ready: // it had come to its end
	default:
		if r.last == c {
			r.last = nil // who asks now starts anew
		}
	}
}

func (r *result[T]) run(ctx context.Context, c *computation[T], work func(context.Context) (T, error)) {
	defer c.cancel()
	c.value, c.err = safely(ctx, work)
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.err != nil && r.last == c {
		r.last = nil
	}
	close(c.ready)
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
