package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/mlgkernel/mlg/cuda"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nystrom"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/work"
)

// modelRef names a model. Workers read it by themselves and check that it is the one that the
// pipeline was made for.
type modelRef struct {
	Path        string
	Fingerprint string
	SHA256      string // of the file
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
	models     once[modelRef, *model.Model]
	embeddings once[embeddingRef, *nystrom.Embedding]
	refiners   once[modelRef, *model.Refiner]
)

// work returns a context whose work on a batch has the threads and the device of the options.
func (r modelRef) work(ctx context.Context) (context.Context, error) {
	d, err := devices.get(r.Device, func() (spd.Device, error) {
		d, _, err := cuda.Choose(r.Device, func(text string) { log.Info(ctx, text) }) // until the process ends
		return d, err
	})
	return work.With(ctx, work.Options{Workers: r.Threads, Device: d}), err
}

// model returns the model.
func (r modelRef) model(ctx context.Context) (*model.Model, error) {
	return models.get(r, func() (*model.Model, error) {
		m, got, err := readModel(ctx, r.Path)
		if err != nil {
			return nil, err
		}
		if got.SHA256 != r.SHA256 {
			return nil, fmt.Errorf("%s: this machine has model %.12s there, but the pipeline was made for %.12s", r.Path, got.SHA256, r.SHA256)
		}
		return m, nil
	})
}

// fitted is what functions have that need the model's kernel.
type fitted struct {
	Model modelRef

	kernel *kernel.FittedSum
}

// Setup reads the model.
func (f *fitted) Setup(ctx context.Context) error {
	m, err := f.Model.model(ctx)
	if err == nil {
		f.kernel = m.Kernel
	}
	return err
}

// embedding returns the embedding.
func (r embeddingRef) embedding(ctx context.Context) (*nystrom.Embedding, error) {
	return embeddings.get(r, func() (*nystrom.Embedding, error) {
		m, err := r.Model.model(ctx)
		if err != nil {
			return nil, err
		}
		work, err := r.Model.work(ctx)
		if err != nil {
			return nil, err
		}
		train, err := m.Kernel.Train(work)
		if err != nil {
			return nil, err
		}
		e, _, err := nystrom.Fit(work, m.Kernel, train, nystrom.Options{Dim: r.Dim, Pivots: r.Pivots, Seed: r.Seed})
		return e, err
	})
}

// readModel reads a model file from any file system, and says which it is.
func readModel(ctx context.Context, path string) (*model.Model, modelRef, error) {
	data, err := load(ctx, path)
	if err != nil {
		return nil, modelRef{}, err
	}
	m, err := model.Decode(data)
	if err != nil {
		return nil, modelRef{}, fmt.Errorf("%s: %w", path, err)
	}
	f, err := m.Fingerprint()
	sum := sha256.Sum256(data)
	return m, modelRef{Path: path, Fingerprint: hex.EncodeToString(f[:]), SHA256: hex.EncodeToString(sum[:])}, err
}
