package pipeline

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/embed"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/store"
)

// modelRef names a model. Workers read it by themselves and check that it is the one that the
// pipeline was made for.
type modelRef struct {
	Path        string
	Fingerprint string
	Threads     int
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
	Pivots embed.Pivots
	Seed   uint64
}

var (
	spaces     once[modelRef, *store.Space]
	embeddings once[embeddingRef, *embed.Embedding]
)

// space returns the space of the model.
func (r modelRef) space(ctx context.Context) (*store.Space, error) {
	return spaces.get(r, func() (*store.Space, error) {
		_, s, err := readModel(ctx, r.Path, r.Threads)
		if err != nil {
			return nil, err
		}
		if got := s.Fingerprint().String(); got != r.Fingerprint {
			return nil, fmt.Errorf("%s: this machine has model %.12s there, but the pipeline was made for %.12s", r.Path, got, r.Fingerprint)
		}
		return s, nil
	})
}

// embedding returns the embedding.
func (r embeddingRef) embedding(ctx context.Context) (*embed.Embedding, error) {
	return embeddings.get(r, func() (*embed.Embedding, error) {
		s, err := r.Model.space(ctx)
		if err != nil {
			return nil, err
		}
		return embed.Fit(ctx, s, s.Train(), embed.Options{Dim: r.Dim, Pivots: r.Pivots, Seed: r.Seed, Workers: r.Model.Threads})
	})
}

// readModel reads a model file from any file system.
func readModel(ctx context.Context, path string, threads int) (*model.Model, *store.Space, error) {
	data, err := load(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	m, err := model.Decode(data, threads)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	s, err := store.NewSpace(m)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, s, nil
}

// reading returns how graphs for a model are read: as its training graphs were.
func reading(m *model.Model, o *Options) (dataset.Options, dataset.EdgeWeight, error) {
	d, w := dataset.DefaultOptions(), dataset.GivenWeight
	d.Format, d.SMILESColumn, d.TargetColumn, d.IDColumn = o.Format, o.SMILESColumn, o.TargetColumn, o.IDColumn
	for key, value := range m.Reader {
		var err error
		switch key {
		case "hydrogens":
			d.Hydrogens = dataset.Hydrogens(value)
		case "atom-charge":
			d.AtomCharge, err = strconv.ParseBool(value)
		case "atom-aromatic":
			d.AtomAromatic, err = strconv.ParseBool(value)
		case "atom-hydrogens":
			d.AtomHydrogens, err = strconv.ParseBool(value)
		case "edge-weight":
			w, err = dataset.ParseEdgeWeight(value)
		}
		if err != nil {
			return d, w, fmt.Errorf("the model says that its graphs were read with %s = %q, which is not known", key, value)
		}
	}
	return d, w, d.Validate()
}

// pack returns numbers as bytes, for Beam to carry.
func pack(x []float64) []byte {
	out := make([]byte, 0, 8*len(x))
	for _, v := range x {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

// unpack is the inverse of pack.
func unpack(b []byte) []float64 {
	out := make([]float64, len(b)/8)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out
}
