package cli

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/model"
	"github.com/rogpeppe/go-internal/testscript"
)

// Transcripts of the commands that make and use models.
func TestModelScripts(t *testing.T) {
	graphtest.Unraced(t)
	testscript.Run(t, testscript.Params{Dir: "testdata/models", Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"damage": damage,
	}})
}

// damage FROM TO HOW copies a model file with something wrong.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: damage FROM TO truncate|flip|version|text|empty")
	}
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	switch args[2] {
	case "truncate":
		b = b[:len(b)/2]
	case "flip":
		b[len(b)/2] ^= 4
	case "version":
		sections, err := file.Decode(b, model.Kind, model.Version)
		ts.Check(err)
		var out bytes.Buffer
		ts.Check(file.Encode(&out, model.Kind, 99, sections))
		b = out.Bytes()
	case "text":
		b = []byte(fmt.Sprintf("%q\n", b))
	case "empty":
		b = nil
	default:
		ts.Fatalf("damage: unknown way %q", args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o666))
}

// A model that cannot be read is exit code 1, a command line that makes no sense is 2.
func TestModelExitCodes(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.mlg")
	if err := os.WriteFile(bad, []byte("\x89MLG\r\n\x1a\nnot much of a model"), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]int{
		"predict " + bad + " CCO":              exitFailed,
		"search " + bad + " CCO":               exitFailed,
		"explain " + bad + " CCO":              exitFailed,
		"cluster " + bad:                       exitFailed,
		"predict nowhere.mlg CCO":              exitFailed,
		"train nowhere -o x.mlg":               exitFailed,
		"predict " + bad + " CCO --csv --json": exitUsage,
		"search " + bad:                        exitUsage,
		"explain " + bad + " CCO -o x.gif":     exitUsage,
		"cluster " + bad + " --most 1":         exitUsage,
		"train builtin:drugs":                  exitUsage,
		"train builtin:drugs --eta 1 -o x":     exitUsage,
	} {
		var out, errs bytes.Buffer
		if got := Main(strings.Fields(args), &out, &errs); got != want || errs.Len() == 0 {
			t.Errorf("mlg %s: exit code %d, want %d; %s", args, got, want, errs.String())
		}
	}
}

// A table of predictions has the columns of all graphs of the first block, in the order in which they come.
func TestKeptColumns(t *testing.T) {
	value := 1.5
	row := func(names ...string) predicted {
		f := dataset.Fields{Names: names}
		for _, name := range names {
			f.Values = append(f.Values, "of "+name)
		}
		return predicted{Answer: model.Answer{ID: "x", Value: &value}, columns: f}
	}
	var b bytes.Buffer
	write := (&predictCmd{}).csvWriter(&model.Model{Learner: learn.Learner{Functions: make([]learn.Function, 1)}}, csv.NewWriter(&b))
	if err := write([]predicted{row("a"), row("b", "a"), row("predicted")}); err != nil {
		t.Fatal(err)
	}
	want := "a,b,predicted,predicted (mlg),similarity,percentile,unlike,known,same,error\n" +
		"of a,,,1.5,0,0,false,,,\nof a,of b,,1.5,0,0,false,,,\n,,of predicted,1.5,0,0,false,,,\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// The features of a searched graph are taken from where they are.
func TestSearchLike(t *testing.T) {
	ds, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	k := &kerneltest.Spy{Scale: 5}
	m, err := model.New(t.Context(), ds.Graphs[:20], k)
	if err != nil {
		t.Fatal(err)
	}
	s := &source{Model: m}
	found, err := s.search(t.Context(), nil, 3, 7)
	if err != nil || len(found) != 1 || len(found[0]) != 3 {
		t.Fatalf("found %v, error %v", found, err)
	}
	want, err := m.Search(t.Context(), ds.Graphs[7:8], 4)
	if err != nil {
		t.Fatal(err)
	}
	want[0] = slices.DeleteFunc(want[0], func(n model.Neighbour) bool { return n.Index == 7 })
	if !slices.Equal(found[0], want[0][:3]) || len(k.Cross) != 1 {
		t.Errorf("found %v, want %v; %d graphs were transformed", found, want, len(k.Cross))
	}
}
