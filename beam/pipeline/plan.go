package pipeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/mlgkernel/mlg/matrixfile"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/tiles"
)

func init() {
	beam.RegisterDoFn(&summaryFn{})
	beam.RegisterDoFn(&planFn{})
}

// tileIDsName is the name of the file of tiles that has the identifiers and targets.
const tileIDsName = "ids" + tiles.Extension

// summary is what the plan says of a block.
type summary struct {
	Block        int
	Hash         []byte // of the features
	IDs, Targets []string
}

// summaryFn leaves the features out.
type summaryFn struct{ fitted }

// ProcessElement returns all summaries under one key.
func (f *summaryFn) ProcessElement(_ context.Context, b span) (int, summary, error) {
	a, err := model.DecodeFeatures(f.kernel, b.Features)
	if err != nil {
		return 0, summary{}, fmt.Errorf("block %d: %w", b.Group, err)
	}
	h, err := tiles.HashFeatures(a)
	return 0, summary{b.Group, h[:], b.IDs, b.Targets}, err
}

// planFn writes the identifiers of the tiles, or the description of the vectors, or checks that
// what is there is the same.
type planFn struct {
	Model     modelRef
	Kernel    string
	Side      int
	Embedding *embeddingRef // nil for tiles
	Dir       string
}

// ProcessElement is called once. It returns the plan, for those who wait for it.
func (f *planFn) ProcessElement(ctx context.Context, _ int, next func(*summary) bool) (string, error) {
	p, axis, err := f.collect(next)
	if err != nil {
		return "", err
	}
	name, data := tileIDsName, p.EncodeIDs(axis)
	if f.Embedding != nil {
		name = embeddingName
		if data, err = f.vectors(ctx, p, axis); err != nil {
			return "", err
		}
	}
	return string(p.Encode()), keepPlan(ctx, join(f.Dir, name), data)
}

// keepPlan writes the plan of a folder, or checks that the one that is there is the same.
func keepPlan(ctx context.Context, path string, data []byte) error {
	old, err := loadIfThere(ctx, path)
	if err == nil && old == nil {
		err = save(ctx, path, data)
	} else if err == nil && !bytes.Equal(old, data) {
		err = fmt.Errorf("%s is of another model, plan or collection; take another folder, or delete this one", path)
	}
	return err
}

// collect returns the plan of the blocks, and identifiers and targets.
func (f *planFn) collect(next func(*summary) bool) (tiles.Layout, matrixfile.Axis, error) {
	var axis matrixfile.Axis
	var hashes [][sha256.Size]byte
	for _, s := range sorted(next, func(a, b summary) int { return a.Block - b.Block }) {
		axis.IDs, axis.Targets = append(axis.IDs, s.IDs...), append(axis.Targets, s.Targets...)
		hashes = append(hashes, [sha256.Size]byte(s.Hash))
	}
	p, err := tiles.NewLayout(f.Model.Fingerprint, f.Kernel, f.Side, hashes, axis)
	return p, axis, err
}

// plan adds the steps from blocks to the plan.
func (j *Job) plan(s beam.Scope, blocks beam.PCollection) beam.PCollection {
	f := &planFn{Model: j.model, Kernel: j.kernel, Side: j.o.Side, Embedding: j.embedding, Dir: j.o.output()}
	return beam.ParDo(s, f, beam.GroupByKey(s, beam.ParDo(s, &summaryFn{fitted{Model: j.model}}, blocks)))
}
