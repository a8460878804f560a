package model

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

var writeGolden = flag.Bool("write-golden", false, "write the golden file of the newest version and its predictions; those of older versions stay as they are")

// goldenFile is beside a model file of testdata.
type goldenFile struct {
	Fingerprint string             `json:"fingerprint"`
	Predictions []goldenPrediction `json:"predictions"`
}

type goldenPrediction struct {
	SMILES      string    `json:"smiles"`
	Class       string    `json:"class"`
	Decision    []float64 `json:"decision"`
	Probability []float64 `json:"probability"`
	Nearest     string    `json:"nearest"`
	Similarity  float64   `json:"similarity"`
	Percentile  int       `json:"percentile"`
}

// goldenSMILES are written out here: the built-in collection may change, the golden files
// may not.
var goldenSMILES = []string{
	"c1ccccc1", "CCO", "CC(=O)Oc1ccccc1", "O=C1CN=C(c2ccccc2)c2ccccc2N1", "C1CCC2C(C1)CCC1CCCCC12",
	"Nc1ccc(cc1)S(=O)(=O)N", "OC(=O)c1ccccc1O", "CNCCC(c1ccccc1)Oc1ccccc1", "O=C1NC(=O)C(C)(C)C(=O)N1", "[Xe]",
}

func goldenGraphs(t *testing.T) []*graph.Graph {
	var out []*graph.Graph
	for _, s := range goldenSMILES {
		g, err := dataset.ParseSMILES(s, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

// A file of every version of the format can be read for ever, and predicts what it did.
func TestGolden(t *testing.T) {
	for version := Version; version <= Version; version++ { // nothing older has been released
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			path := filepath.Join("testdata", fmt.Sprintf("drugs-v%d.mlg", version))
			if *writeGolden && version == Version {
				makeGolden(t, path)
			}
			testGolden(t, path)
		})
	}
}

func testGolden(t *testing.T, path string) {
	m, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var want goldenFile
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	got := golden(t, m)
	if got.Fingerprint != want.Fingerprint {
		t.Errorf("fingerprint %s, want %s", got.Fingerprint, want.Fingerprint)
	}
	if len(got.Predictions) != len(want.Predictions) {
		t.Fatalf("%d predictions, want %d", len(got.Predictions), len(want.Predictions))
	}
	for i, w := range want.Predictions {
		g := got.Predictions[i]
		if g.SMILES != w.SMILES || g.Class != w.Class || g.Nearest != w.Nearest || g.Percentile != w.Percentile {
			t.Errorf("%+v, want %+v", g, w)
		}
		close(t, w.SMILES+" decision", g.Decision, w.Decision)
		close(t, w.SMILES+" probability", g.Probability, w.Probability)
		close(t, w.SMILES+" similarity", []float64{g.Similarity}, []float64{w.Similarity})
	}
}

// close allows for the rounding of processors that fuse multiplications and additions
// where others do not.
func close(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-11*max(1, math.Abs(want[i])) {
			t.Errorf("%s %d: %v, want %v", what, i, got[i], want[i])
		}
	}
}

func golden(t *testing.T, m *Model) goldenFile {
	p, err := m.Predict(t.Context(), goldenGraphs(t), PredictOptions{Nearest: 1})
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	out := goldenFile{Fingerprint: hex.EncodeToString(f[:])}
	for i, x := range p {
		out.Predictions = append(out.Predictions, goldenPrediction{
			goldenSMILES[i], x.Class, x.Decision, x.Probability, x.Nearest[0].ID, x.Nearest[0].Similarity, x.Percentile,
		})
	}
	return out
}

// makeGolden fits a model of multiscale kernels, one of them times a baseline kernel, and
// baseline kernels to the built-in drugs.
func makeGolden(t *testing.T, path string) {
	o := mlg.Default()
	o.Bonds, o.Samples, o.Rank = mlg.No, 20, 4
	m := combined(t, drugs(t).Graphs, o)
	classify(t, m, true)
	m.reader = reader()
	m.Created = map[string]string{"data": "builtin:drugs", "C": "10"}
	if err := Write(t.Context(), path, m); err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(golden(t, m), "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".json", append(b, '\n'), 0o666); err != nil {
		t.Fatal(err)
	}
}
