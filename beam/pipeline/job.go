package pipeline

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/model"
)

// Job is a pipeline that is ready to be built.
type Job struct {
	o         Options
	model     modelRef
	embedding *embeddingRef // nil for tiles
	kernel    string
	reading   dataset.Options
	parts     []part
	before    map[*counter]int64 // what this process had counted when the job was made
}

// New reads the model and finds the inputs.
func New(ctx context.Context, o Options) (*Job, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := o.absolute(); err != nil {
		return nil, err
	}
	m, ref, err := readModel(ctx, o.Model)
	if err != nil {
		return nil, err
	}
	ref.Threads, ref.Device = o.Threads, o.Device
	j := &Job{o: o, kernel: m.Kernel.String(), model: ref, reading: m.Like(o.Read), before: countedHere()}
	j.reading.Strict = true // what is left out is told by record
	if o.Train != "" {
		if _, err := model.NewRefiner(ctx, m); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Model, err)
		}
	}
	if o.Predictions != "" && m.Task() == model.SearchOnly {
		return nil, fmt.Errorf("%s has no learner: mlg train makes a model that predicts", o.Model)
	}
	if o.Embeddings != "" {
		j.embedding = &embeddingRef{j.model, o.Dim, o.Pivots, o.Seed}
	}
	j.parts, err = parts(ctx, &o)
	return j, err
}

// Build adds the steps of the pipeline.
func (j *Job) Build(s beam.Scope) {
	spans, counts := j.read(s)
	if j.o.Train != "" {
		j.train(s, spans)
		return
	}
	blocks := j.blocks(s, spans, counts)
	switch {
	case j.o.Predictions != "":
		j.predict(s, blocks)
	case j.embedding != nil:
		j.vectors(s, blocks)
	default:
		j.gram(s, blocks)
	}
}
