package pipeline

import (
	"bytes"
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/mlgkernel/mlg/model"
)

func init() {
	beam.RegisterDoFn(&sumFn{})
	beam.RegisterDoFn(&joinFn{})
	beam.RegisterDoFn(&learnFn{})
}

// foldSums are the sums of some graphs of a fold. See span for slices.
type foldSums struct {
	Fold   int
	Graphs int    // among them
	Sums   []byte // as learn.Sums.Fold returns them
	Seen   []byte // as in model.Told
}

// join adds them to the sums of other graphs.
func (s *foldSums) join(total *model.Sums) error {
	if err := total.JoinFold(s.Fold, s.Sums); err != nil {
		return err
	}
	return total.See(s.Seen)
}

// refined is what functions have that add up sums.
type refined struct {
	Model modelRef

	refiner *model.Refiner
}

// Setup reads the model.
func (f *refined) Setup(ctx context.Context) (err error) {
	f.refiner, err = f.Model.refiner(ctx)
	return err
}

// refiner returns that of the model.
func (r modelRef) refiner(ctx context.Context) (*model.Refiner, error) {
	m, err := r.model(ctx)
	if err != nil {
		return nil, err
	}
	return refiners.get(r, func() (*model.Refiner, error) { return model.NewRefiner(ctx, m) })
}

// sumFn adds up the graphs of a bundle. What a runner repeats is added up anew.
type sumFn struct {
	refined

	sums *model.Sums
}

// StartBundle begins with no graphs.
func (f *sumFn) StartBundle(_ context.Context, _ func(int, foldSums)) { f.sums = nil }

// ProcessElement adds a span of graphs.
func (f *sumFn) ProcessElement(ctx context.Context, s span, _ func(int, foldSums)) error {
	work, err := f.Model.work(ctx)
	if err != nil {
		return err
	}
	if f.sums == nil {
		if f.sums, err = f.refiner.Sums(work); err != nil {
			return err
		}
	}
	features, err := model.DecodeFeatures(f.refiner.Model.Kernel, s.Features)
	if err != nil {
		return fmt.Errorf("graphs of part %d: %w", s.Group, err)
	}
	before := f.sums.Untargeted
	hashes := make([]uint64, len(s.Hashes))
	for i, h := range s.Hashes {
		hashes[i] = uint64(h)
	}
	if err := f.refiner.AddFeatures(work, f.sums, features, s.Targets, hashes); err != nil {
		return fmt.Errorf("graphs of part %d: %w", s.Group, err)
	}
	untargeted := f.sums.Untargeted - before
	graphsAdded.add(ctx, len(s.IDs)-untargeted)
	graphsUntargeted.add(ctx, untargeted)
	return nil
}

// FinishBundle gives the sums of each fold.
func (f *sumFn) FinishBundle(_ context.Context, emit func(int, foldSums)) {
	if f.sums == nil {
		return
	}
	for fold := range f.sums.Folds {
		if n := f.sums.ExamplesOf(fold); n > 0 {
			emit(fold, foldSums{fold, n, f.sums.Fold(fold), f.sums.Seen})
		}
	}
	f.sums = nil
}

// joinFn joins the sums of a fold.
type joinFn struct{ refined }

// ProcessElement returns the sums of all graphs of the fold.
func (f *joinFn) ProcessElement(ctx context.Context, fold int, next func(*foldSums) bool) (foldSums, error) {
	total, err := f.refiner.Sums(ctx)
	if err != nil {
		return foldSums{}, err
	}
	for s := (foldSums{}); next(&s); s = (foldSums{}) {
		if err := s.join(total); err != nil {
			return foldSums{}, err
		}
	}
	return foldSums{fold, total.Examples(), total.Fold(fold), total.Seen}, nil
}

// learnFn learns from the sums of all folds and writes the model.
type learnFn struct {
	refined
	Out string
}

// ProcessElement is called once.
func (f *learnFn) ProcessElement(ctx context.Context, _ []byte, next func(*foldSums) bool) error {
	work, err := f.Model.work(ctx)
	if err != nil {
		return err
	}
	total, err := f.refiner.Sums(work)
	if err != nil {
		return err
	}
	for s := (foldSums{}); next(&s); s = (foldSums{}) {
		if err := s.join(total); err != nil {
			return err
		}
	}
	m, _, err := f.refiner.Learn(work, total, model.DefaultLearnOptions())
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := model.Encode(&b, m); err != nil {
		return err
	}
	return output(ctx, f.Out, b.Bytes(), false)
}

// train adds the steps from spans to a model.
func (j *Job) train(s beam.Scope, spans beam.PCollection) {
	s = s.Scope("Train")
	r := refined{Model: j.model}
	folds := beam.ParDo(s, &joinFn{r}, beam.GroupByKey(s, beam.ParDo(s, &sumFn{refined: r}, spans)))
	beam.ParDo0(s, &learnFn{r, j.o.Train}, beam.Impulse(s), beam.SideInput{Input: folds})
}
