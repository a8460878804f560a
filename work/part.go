package work

import "context"

// Part is a share of the steps of a Meter for one object whose work is long: a large graph. What works on
// it says how far it has come (Reached), without knowing the meter. One goroutine works on a part.
type Part struct {
	meter       *Meter
	steps, told int
}

// window is the share of a part that a computation is.
type window struct {
	*Part
	from, width float64
}

type partKey struct{}

// Part returns a context in which Reached advances the meter by up to a number of steps. End adds those
// that are left.
func (m *Meter) Part(ctx context.Context, steps int) (context.Context, *Part) {
	p := &Part{meter: m, steps: steps}
	if m.report == nil {
		return ctx, p
	}
	return context.WithValue(ctx, partKey{}, window{p, 0, 1}), p
}

// End ends a part.
func (p *Part) End() { p.tell(1) }

// tell notes that a share of the part is done.
func (p *Part) tell(share float64) {
	if now := min(p.steps, int(share*float64(p.steps))); now > p.told {
		p.meter.Add(now - p.told)
		p.told = now
	}
}

// Reached tells that a number of equal pieces of the part of a context are done. It does nothing where there
// is none.
func Reached(ctx context.Context, done, of int) {
	if w, ok := ctx.Value(partKey{}).(window); ok {
		w.tell(w.from + w.width*float64(done)/float64(max(1, of)))
	}
}

// Within returns the context of piece i of several equal pieces of a part.
func Within(ctx context.Context, i, of int) context.Context {
	w, ok := ctx.Value(partKey{}).(window)
	if !ok {
		return ctx
	}
	width := w.width / float64(of)
	return context.WithValue(ctx, partKey{}, window{w.Part, w.from + width*float64(i), width})
}
