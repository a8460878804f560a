package pipeline

import (
	"context"
	"fmt"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/mlgkernel/mlg/cuda"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nystrom"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/store"
)

// modelRef names a model. Workers read it by themselves and check that it is the one that the
// pipeline was made for.
type modelRef struct {
	Path        string
	Fingerprint string
	Threads     int
	Device      string
}

// once keeps what is made at most once in a process, for all workers in it. What could not be
// made is tried again.
type once[K comparable, V any] struct {
	mu   sync.Mutex
	made map[K]V
}

func (o *once[K, V]) get(key K, make func() (V, error)) (V, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if v, ok := o.made[key]; ok {
		return v, nil
	}
	v, err := make()
	if err != nil {
		return v, err
	}
	if o.made == nil {
		o.made = map[K]V{}
	}
	o.made[key] = v
	return v, nil
}

// embeddingRef names an embedding: the model's training graphs determine it.
type embeddingRef struct {
	Model  modelRef
	Dim    int
	Pivots nystrom.Pivots
	Seed   uint64
}

var (
	devices    once[string, spd.Device]
	spaces     once[modelRef, *store.Space]
	embeddings once[embeddingRef, *nystrom.Embedding]
)

// work returns a context whose work on a batch has the threads and the device of the options.
func (r modelRef) work(ctx context.Context) (context.Context, error) {
	d, err := devices.get(r.Device, func() (spd.Device, error) {
		d, _, err := cuda.Choose(r.Device, func(text string) { log.Info(ctx, text) }) // until the process ends
		return d, err
	})
	return kernel.WithWork(ctx, kernel.Work{Workers: r.Threads, Device: d}), err
}

// space returns the space of the model.
func (r modelRef) space(ctx context.Context) (*store.Space, error) {
	return spaces.get(r, func() (*store.Space, error) {
		_, s, err := readModel(ctx, r.Path)
		if err != nil {
			return nil, err
		}
		if got := s.Fingerprint(); got != r.Fingerprint {
			return nil, fmt.Errorf("%s: this machine has model %.12s there, but the pipeline was made for %.12s", r.Path, got, r.Fingerprint)
		}
		return s, nil
	})
}

// embedding returns the embedding.
func (r embeddingRef) embedding(ctx context.Context) (*nystrom.Embedding, error) {
	return embeddings.get(r, func() (*nystrom.Embedding, error) {
		s, err := r.Model.space(ctx)
		if err != nil {
			return nil, err
		}
		work, err := r.Model.work(ctx)
		if err != nil {
			return nil, err
		}
		return nystrom.Fit(work, s, nystrom.Options{Dim: r.Dim, Pivots: r.Pivots, Seed: r.Seed})
	})
}

// readModel reads a model file from any file system.
func readModel(ctx context.Context, path string) (*model.Model, *store.Space, error) {
	data, err := load(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	m, err := model.Decode(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	s, err := store.NewSpace(m)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, s, nil
}
