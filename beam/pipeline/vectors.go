package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/matrixfile"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nystrom"
	"github.com/mlgkernel/mlg/tiles"
)

func init() {
	beam.RegisterDoFn(&vectorFn{})
}

// embeddingName is the name of the description of a folder of vectors, IDsName that of the
// identifiers and targets of its graphs.
const (
	embeddingName = "embedding.json"
	idsName       = "embedding.ids.csv"
)

// VectorName returns the name of the file with the vectors of a block.
func VectorName(block int) string { return fmt.Sprintf("embedding-%06d.npy", block) }

// Description is what the file EmbeddingName says.
type Description struct {
	tiles.Layout                // Side is the number of rows of a file, but for the last
	Dim          int            `json:"dim"`
	Pivots       nystrom.Pivots `json:"pivots"`
	Seed         uint64         `json:"seed"`
	Files        []string       `json:"files"`
}

// vectors writes the identifiers and returns the description.
func (f *planFn) vectors(ctx context.Context, p tiles.Layout, axis matrixfile.Axis) ([]byte, error) {
	e, err := f.Embedding.embedding(ctx)
	if err != nil {
		return nil, err
	}
	d := Description{Layout: p, Dim: e.Dim(), Pivots: f.Embedding.Pivots, Seed: f.Embedding.Seed}
	for b := range p.Blocks() {
		d.Files = append(d.Files, VectorName(b))
	}
	var ids bytes.Buffer // as matrixfile.Write has them
	if err := axis.WriteCSV(&ids); err != nil {
		return nil, err
	}
	if err := save(ctx, join(f.Dir, idsName), ids.Bytes()); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

// vectorFn computes the vectors of a block.
type vectorFn struct {
	fitted
	Embedding embeddingRef
	Dir       string

	embedding *nystrom.Embedding
}

// Setup reads the model and chooses the landmarks.
func (f *vectorFn) Setup(ctx context.Context) error {
	err := f.fitted.Setup(ctx)
	if err == nil {
		f.embedding, err = f.Embedding.embedding(ctx)
	}
	return err
}

// ProcessElement writes the file of a block, unless it is there. The description is there
// before any of them.
func (f *vectorFn) ProcessElement(ctx context.Context, b span, _ string) error {
	work, err := f.Model.work(ctx)
	if err != nil {
		return err
	}
	var vectors []float64
	features, err := model.DecodeFeatures(f.kernel, b.Features)
	if err == nil {
		vectors, err = f.embedding.Transform(work, features)
	}
	if err != nil {
		return fmt.Errorf("block %d: %w", b.Group, err)
	}
	data := append(matrixfile.NPYHeader(len(b.IDs), f.embedding.Dim()), file.Bytes(vectors)...)
	return keepOutput(ctx, join(f.Dir, VectorName(b.Group)), data)
}

// vectors adds the steps from blocks to files of vectors.
func (j *Job) vectors(s beam.Scope, blocks beam.PCollection) {
	s = s.Scope("Vectors")
	description := j.plan(s, blocks)
	f := &vectorFn{fitted: fitted{Model: j.model}, Embedding: *j.embedding, Dir: j.o.Embeddings}
	beam.ParDo0(s, f, beam.Reshuffle(s, blocks), beam.SideInput{Input: description})
}
