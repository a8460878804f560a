package pipeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/store"
	"github.com/mlgkernel/mlg/tiles"
)

func init() {
	register.DoFn2x2[context.Context, block, int, summary](&summaryFn{})
	register.DoFn3x2[context.Context, int, func(*summary) bool, string, error](&manifestFn{})
	register.Iter1[summary]()
}

// summary is what the manifest says of a block.
type summary struct {
	Graphs       int // in all blocks
	Number       int
	Digest       []byte
	IDs, Targets []string
}

// summaryFn leaves the records out.
type summaryFn struct{}

// ProcessElement returns all summaries under one key.
func (*summaryFn) ProcessElement(_ context.Context, b block) (int, summary) {
	d := sha256.Sum256(b.Records) // as store.Sum: little-endian numbers
	return 0, summary{b.Graphs, b.Number, d[:], b.IDs, b.Targets}
}

// manifestFn writes the manifest of the tiles or the vectors, or checks that the one there is
// the same.
type manifestFn struct {
	Model     modelRef
	Kernel    string
	Side      int
	Embedding *embeddingRef // nil for tiles
	Dir       string
}

// ProcessElement is called once. It returns the digest of the manifest, for those who wait
// for it.
func (f *manifestFn) ProcessElement(ctx context.Context, _ int, next func(*summary) bool) (string, error) {
	m, err := f.collect(next)
	if err != nil {
		return "", err
	}
	var text []byte
	name := tiles.ManifestName
	if f.Embedding == nil {
		text, err = m.Encode()
	} else {
		name = EmbeddingName
		text, err = f.vectors(ctx, m)
	}
	if err != nil {
		return "", err
	}
	path := join(f.Dir, name)
	old, err := loadIfThere(ctx, path)
	switch {
	case err != nil:
		return "", err
	case old == nil:
		if err := save(ctx, path, text); err != nil {
			return "", err
		}
	case !bytes.Equal(old, text):
		return "", fmt.Errorf("%s is of another model, plan or collection; take another folder, or delete this one", path)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// collect returns the manifest of the blocks.
func (f *manifestFn) collect(next func(*summary) bool) (*tiles.Manifest, error) {
	var all []summary
	for s := (summary{}); next(&s); s = (summary{}) {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b summary) int { return a.Number - b.Number })
	m := &tiles.Manifest{Plan: tiles.Plan{Graphs: all[0].Graphs, Side: f.Side}, Kernel: f.Kernel}
	if err := m.Model.UnmarshalText([]byte(f.Model.Fingerprint)); err != nil {
		return nil, err
	}
	for _, s := range all {
		m.Digests = append(m.Digests, store.Digest(s.Digest))
		m.IDs, m.Targets = append(m.IDs, s.IDs...), append(m.Targets, s.Targets...)
	}
	return m, m.Validate()
}

// manifest adds the steps from blocks to the manifest.
func (j *Job) manifest(s beam.Scope, blocks beam.PCollection) beam.PCollection {
	f := &manifestFn{Model: j.model, Kernel: j.kernel, Side: j.o.Side, Dir: j.o.output()}
	if j.o.Embeddings != "" {
		e := j.o.embedding(j.model)
		f.Embedding = &e
	}
	return beam.ParDo(s, f, beam.GroupByKey(s, beam.ParDo(s, &summaryFn{}, blocks)))
}

// writeIDs writes identifiers and targets as dataset.WriteGram does.
func writeIDs(ctx context.Context, path string, m *tiles.Manifest) error {
	var out bytes.Buffer
	if err := (dataset.Axis{IDs: m.IDs, Targets: m.Targets}).WriteCSV(&out); err != nil {
		return err
	}
	return save(ctx, path, out.Bytes())
}
