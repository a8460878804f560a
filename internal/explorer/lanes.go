package explorer

import (
	"context"
	"sync/atomic"

	"github.com/mlgkernel/mlg/work"
)

// pace says how long a computation may take. One of each pace runs at a time, beside those of other paces. A brief one also
// runs where no long one does.
type pace int

const (
	long pace = iota
	brief
	beside     // somebody looks at it while a learner is being trained
	background // nobody waits for it
	paces
)

// What is brief: work on so many graphs, with so many vertices and edges together. It takes a few seconds.
const (
	briefGraphs = earlyGraphs * 3 / 2
	briefItems  = 150_000
)

// pace is that of what is computed from all graphs.
func (s *source) pace() pace {
	if len(s.data.IDs) <= briefGraphs && s.data.info.Vertices+s.data.info.Edges <= briefItems {
		return brief
	}
	return long
}

// paceOf is that of work on so many new graphs.
func paceOf(graphs int) pace {
	if graphs <= briefGraphs {
		return brief
	}
	return long
}

// working is what a lane computes at the moment.
type working struct {
	session string // its key
	work.Progress
}

// lane runs one computation at a time.
type lane struct {
	slot    chan struct{}
	working atomic.Pointer[working] // nil while nothing is computed
}

func (l *lane) leave() {
	l.working.Store(nil)
	<-l.slot
}

// lanes have one lane for each pace, and let a number of computations wait.
type lanes struct {
	of      [paces]lane
	waiting atomic.Int64
	limit   int64
	crowded func() // is called when somebody has to wait
}

func newLanes(waiting int, crowded func()) *lanes {
	l := &lanes{limit: int64(waiting), crowded: crowded}
	for p := range l.of {
		l.of[p].slot = make(chan struct{}, 1)
	}
	return l
}

// enter waits for a lane, which has to be left. The error is errBusy when too many wait.
func (l *lanes) enter(ctx context.Context, p pace) (*lane, error) {
	own, other := &l.of[p], &lane{} // which has no slot
	if p == brief {
		other = &l.of[long]
	}
	for _, free := range []*lane{own, other} {
		select {
		case free.slot <- struct{}{}:
			return free, nil
		default:
		}
	}
	defer l.waiting.Add(-1)
	if l.waiting.Add(1) > l.limit {
		return nil, errBusy
	}
	l.crowded()
	select {
	case own.slot <- struct{}{}:
		return own, nil
	case other.slot <- struct{}{}:
		return other, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// running returns the number of computations that run.
func (l *lanes) running() int {
	n := 0
	for p := range l.of {
		n += len(l.of[p].slot)
	}
	return n
}

// progress returns what is computed for a session, nil for nothing.
func (l *lanes) progress(session string) *work.Progress {
	for p := range l.of {
		if w := l.of[p].working.Load(); w != nil && w.session == session {
			return &w.Progress
		}
	}
	return nil
}
