package pipeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

func init() {
	beam.RegisterDoFn(&fileFn{})
	beam.RegisterDoFn(&summarizeFn{})
	beam.RegisterDoFn(&describeFn{})
	beam.RegisterDoFn(&writeFn{})
}

// predictionsName is the name of the description of a folder of predictions.
const predictionsName = "predictions.json"

// predictionName returns the name of the file with the predictions of a block.
func predictionName(block int) string { return fmt.Sprintf("predictions-%06d.jsonl", block) }

// Predictions is what the file PredictionsName says.
type Predictions struct {
	Model     string           `json:"model"` // SHA-256 of its file
	Endpoints []string         `json:"endpoints,omitempty"`
	Graphs    int              `json:"graphs"`
	Files     []PredictionFile `json:"files"` // in the order of the graphs
}

// PredictionFile is a file with an answer of every endpoint for some graphs, each in a line (model.Answer).
type PredictionFile struct {
	Name   string `json:"name"`
	Graphs int    `json:"graphs"`
	SHA256 string `json:"sha256"`
}

// answers returns what a model says of graphs with some features: for each the lines of all endpoints, without the identifier.
func answers(ctx context.Context, m *model.Model, graphs []*graph.Graph, a kernel.Features, o model.PredictOptions) ([]string, error) {
	said, err := m.PredictAllFeatures(ctx, graphs, a, o)
	if err != nil {
		return nil, err
	}
	all, out := m.Endpoints(), make([]string, len(graphs))
	for i, g := range graphs {
		var lines []string
		for e := range all {
			x := model.Answer{}
			if x.Target = g.Target(); len(all) > 1 {
				x.Endpoint, x.Target = all[e].Target, ""
			}
			x.Tell(all[e], &said[e][i])
			line, err := json.Marshal(&x)
			if err != nil {
				return nil, fmt.Errorf("graph %s: %w", g.ID(), err)
			}
			lines = append(lines, strings.TrimPrefix(string(line), noID))
		}
		out[i] = strings.Join(lines, "\n")
	}
	return out, nil
}

// noID is how an answer without an identifier begins.
const noID = `{"id":""`

// predictedFile is a file of predictions.
type predictedFile struct {
	Block, Graphs int
	Data          []byte
}

// fileFn makes the file of a block.
type fileFn struct{}

// ProcessElement adds the identifiers to the answers.
func (f *fileFn) ProcessElement(ctx context.Context, b span) (predictedFile, error) {
	var out bytes.Buffer
	for i, lines := range b.Lines {
		id, err := json.Marshal(b.IDs[i])
		if err != nil {
			return predictedFile{}, err
		}
		for line := range strings.SplitSeq(lines, "\n") {
			fmt.Fprintf(&out, `{"id":%s%s`+"\n", id, line)
		}
	}
	graphsPredicted.add(ctx, len(b.Lines))
	return predictedFile{b.Group, len(b.Lines), out.Bytes()}, nil
}

// fileSummary is what the description says of a file.
type fileSummary struct {
	Block int
	File  PredictionFile
}

// summarizeFn leaves the predictions out.
type summarizeFn struct{}

// ProcessElement returns the summary of a file.
func (f *summarizeFn) ProcessElement(x predictedFile) fileSummary {
	sum := sha256.Sum256(x.Data)
	return fileSummary{x.Block, PredictionFile{predictionName(x.Block), x.Graphs, hex.EncodeToString(sum[:])}}
}

// describeFn writes the description of the predictions, or checks that the one that is there is the same.
type describeFn struct {
	Model modelRef
	Dir   string
}

// ProcessElement is called once. It returns the description, for those who wait for it.
func (f *describeFn) ProcessElement(ctx context.Context, _ []byte, next func(*fileSummary) bool) (string, error) {
	m, err := f.Model.model(ctx)
	if err != nil {
		return "", err
	}
	d := Predictions{Model: f.Model.SHA256}
	if all := m.Endpoints(); len(all) > 1 {
		for _, e := range all {
			d.Endpoints = append(d.Endpoints, e.Target)
		}
	}
	files := sorted(next, func(a, b fileSummary) int { return a.Block - b.Block })
	for i, x := range files {
		if x.Block != i {
			return "", fmt.Errorf("block %d in place of %d: the runner lost or repeated some", x.Block, i)
		}
		d.Files = append(d.Files, x.File)
		d.Graphs += x.File.Graphs
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return "", err
	}
	return string(text), keepPlan(ctx, join(f.Dir, predictionsName), append(text, '\n'))
}

// writeFn writes files of predictions.
type writeFn struct {
	Dir string
}

// ProcessElement writes a file, unless it is there. The description is there before any of them.
func (f *writeFn) ProcessElement(ctx context.Context, x predictedFile, _ string) error {
	return keepOutput(ctx, join(f.Dir, predictionName(x.Block)), x.Data)
}

// predict adds the steps from blocks to files of predictions.
func (j *Job) predict(s beam.Scope, blocks beam.PCollection) {
	s = s.Scope("Predict")
	files := beam.ParDo(s, &fileFn{}, blocks)
	description := beam.ParDo(s, &describeFn{j.model, j.o.Predictions}, beam.Impulse(s), beam.SideInput{Input: beam.ParDo(s, &summarizeFn{}, files)})
	beam.ParDo0(s, &writeFn{j.o.Predictions}, beam.Reshuffle(s, files), beam.SideInput{Input: description})
}
