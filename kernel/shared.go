package kernel

import (
	"context"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/graph"
)

// shared keeps what kernels find out about graphs and other kernels of the same computation need
// too. It keeps the last findings only, because kernels that have much in common follow each other.
type shared struct {
	mu   sync.Mutex
	last []*finding // the latest last
}

// finding is a value that is computed once.
type finding struct {
	graphs []*graph.Graph
	key    string

	mu    sync.Mutex
	value any
}

// mostShared is the number of findings that are kept: those of a multiscale kernel with four levels.
const mostShared = 8

type sharedKey struct{}

// withShared returns a context whose computations share what they find out about graphs; see Share.
func withShared(ctx context.Context, s *shared) context.Context {
	return context.WithValue(ctx, sharedKey{}, s)
}

// Share returns what compute returns. If compute was called before in the same computation for the
// same graphs and key, Share returns what it returned then. The value must not be changed. It is
// dropped when others have been asked for.
func Share[T any](ctx context.Context, graphs []*graph.Graph, key string, compute func() (T, error)) (T, error) {
	s, _ := ctx.Value(sharedKey{}).(*shared)
	if s == nil || len(graphs) == 0 {
		return compute()
	}
	f := s.find(graphs, key)
	f.mu.Lock()
	defer f.mu.Unlock()
	if v, ok := f.value.(T); ok {
		return v, nil
	}
	v, err := compute()
	if err == nil {
		f.value = v
	}
	return v, err
}

// find returns the finding of a key, which becomes the latest.
func (s *shared) find(graphs []*graph.Graph, key string) *finding {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &finding{graphs: graphs, key: key}
	if i := slices.IndexFunc(s.last, func(x *finding) bool {
		return x.key == key && len(x.graphs) == len(graphs) && &x.graphs[0] == &graphs[0]
	}); i >= 0 {
		f = s.last[i]
		s.last = slices.Delete(s.last, i, i+1)
	} else if len(s.last) == mostShared {
		s.last = slices.Delete(s.last, 0, 1)
	}
	s.last = append(s.last, f)
	return f
}
