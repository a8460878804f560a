package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/worker"
	"github.com/mlgkernel/mlg/model"
)

// A model that was trained with flags that change labels and weights predicts the same by the
// command, the explorer and the worker: all read new graphs as the training graphs were read.
func TestOneWayToRead(t *testing.T) {
	dir := t.TempDir()
	data, file := filepath.Join(dir, "values.csv"), filepath.Join(dir, "values.mlg")
	const table = `structure,y
C=C,1.5
CC,2.5
CC=O,3.5
CC[NH3+],4.5
c1ccccc1O,5.5
C#N,6.5
CC(=O)[O-],7.5
c1ccncc1,8.5
CC(C)=O,9.5
CCC#N,10.5
`
	if err := os.WriteFile(data, []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	run := func(args ...string) []byte {
		t.Helper()
		out.Reset()
		if code := Main(append([]string{"--quiet", "--json"}, args...), &out, &errs); code != exitOK {
			t.Fatalf("mlg %s: %s", strings.Join(args, " "), errs.String())
		}
		return out.Bytes()
	}
	run("train", data, "--target", "y", "--folds", "3", "--kernel", "mlg", "-o", file,
		"--edge-weight", "order", "--atoms", "charge,aromatic,hydrogens", "--hydrogens", "implicit")
	m, err := model.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	o := dataset.DefaultOptions()
	o.TargetColumn, o.Hydrogens, o.EdgeWeight = "y", dataset.HydrogensImplicit, dataset.OrderWeight
	o.AtomCharge, o.AtomAromatic, o.AtomHydrogens = true, true, true
	like := m.Like(dataset.DefaultOptions())
	if want := dataset.DefaultOptions().Like(&o); like != want {
		t.Fatalf("graphs are read as %+v, want %+v", like, want)
	}
	const query = "[H]C=Cc1ccc([NH3+])cc1"
	predict := func(o dataset.Options) float64 {
		g, err := dataset.ParseSMILES(query, o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(t.Context(), []*graph.Graph{g}, model.PredictOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return p[0].Value
	}
	want := predict(o)
	for name, change := range map[string]func(*dataset.Options){
		"weights": func(o *dataset.Options) { o.EdgeWeight = dataset.GivenWeight },
		"charges": func(o *dataset.Options) { o.AtomCharge = false },
	} {
		other := o
		change(&other)
		if predict(other) == want {
			t.Fatalf("%s do not matter, so that the test says nothing", name)
		}
	}
	check := func(what string, got float64) {
		t.Helper()
		if got != want {
			t.Errorf("%s predicts %v, want %v", what, got, want)
		}
	}
	var said struct{ Value float64 }
	decode := func(b []byte, v any) {
		t.Helper()
		if err := json.Unmarshal(b, v); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
	}
	decode(run("predict", file, query, "--nearest", "0"), &said)
	check("the command", said.Value)
	serveFor(t, file, true, func(address string) {
		var said struct{ Predictions []struct{ Value float64 } }
		decode(get(t, address+"api/v1/predict?smiles="+url.QueryEscape(query)), &said)
		check("the explorer", said.Predictions[0].Value)
	})
	check("the worker", askWorker(t, file, query))
}

// askWorker has the worker predict the value of a molecule, as the Python package does.
func askWorker(t *testing.T, file, smiles string) float64 {
	t.Helper()
	type answer struct {
		Result struct{ Handle int64 }
		Error  string
		Arrays []struct{ Shape []int }
	}
	fromUs, toWorker := io.Pipe()
	fromWorker, toUs := io.Pipe()
	go func() {
		toUs.CloseWithError(worker.Serve(t.Context(), fromUs, toUs, t.TempDir()))
	}()
	defer toWorker.Close()
	ask := func(op string, handle int64, args any, body []byte) (a answer, data []byte) {
		t.Helper()
		text, err := json.Marshal(map[string]any{"op": op, "handle": handle, "args": args})
		if err != nil {
			t.Fatal(err)
		}
		frame := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
		frame = binary.LittleEndian.AppendUint64(frame, uint64(len(body)))
		if _, err := toWorker.Write(append(append(frame, text...), body...)); err != nil {
			t.Fatal(err)
		}
		size := make([]byte, 12)
		if _, err := io.ReadFull(fromWorker, size); err != nil {
			t.Fatal(err)
		}
		text, data = make([]byte, binary.LittleEndian.Uint32(size)), make([]byte, binary.LittleEndian.Uint64(size[4:]))
		for _, b := range [][]byte{text, data} {
			if _, err := io.ReadFull(fromWorker, b); err != nil {
				t.Fatal(err)
			}
		}
		if err := json.Unmarshal(text, &a); err != nil || a.Error != "" {
			t.Fatalf("%s: %s %v", op, a.Error, err)
		}
		return a, data
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	held, _ := ask("load", 0, map[string]any{"workers": 1}, content)
	read, data := ask("smiles", held.Result.Handle, map[string]any{"smiles": []string{smiles}}, nil)
	_, data = ask("predict", held.Result.Handle, nil, data[:read.Arrays[0].Shape[0]])
	return math.Float64frombits(binary.LittleEndian.Uint64(data))
}
