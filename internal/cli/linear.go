package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/matrix"
	"github.com/mlgkernel/mlg/splits"
	"github.com/mlgkernel/mlg/svm"
)

// linearCmd trains and applies linear machines on vectors.
type linearCmd struct {
	Train   linearTrainCmd   `cmd:"" help:"Train a linear support vector machine on vectors and the targets beside them."`
	Predict linearPredictCmd `cmd:"" help:"Predict the classes of vectors."`
}

type linearTrainCmd struct {
	Vectors string    `arg:"" help:"Vectors, as embed writes them: X.npy, with targets in X.ids.csv." type:"path"`
	Out     string    `help:"File to write: .json." short:"o" required:"" placeholder:"FILE" ends:""`
	C       []float64 `help:"Values of C to choose from. One value fixes it." name:"c" default:"0.1,1,10,100"`
	Folds   int       `help:"Folds of the cross-validation that chooses C and estimates the accuracy." default:"5"`
	Seed    uint64    `help:"Seed of the folds." default:"0"`
}

// linearFile is a trained linear machine as JSON.
type linearFile struct {
	Format   int          `json:"mlg_linear"`
	Classes  []string     `json:"classes"` // by label
	C        float64      `json:"c"`
	Accuracy float64      `json:"accuracy"` // of cross-validation with this C
	Folds    int          `json:"folds"`
	Learner  *svm.Learner `json:"learner"`
}

const linearFormat = 2

// Run chooses C, trains and writes.
func (c *linearTrainCmd) Run(g *globals) error {
	x, targets, _, err := readVectors(c.Vectors)
	if err != nil {
		return err
	}
	classes := slices.Compact(slices.Sorted(slices.Values(targets)))
	if i := slices.Index(targets, ""); i >= 0 {
		return fmt.Errorf("%s: graph %d has no target to learn", matrix.IDsFile(c.Vectors), i+1)
	}
	if len(classes) > 100 {
		return fmt.Errorf("%s: %d different targets, want at most 100 classes", matrix.IDsFile(c.Vectors), len(classes))
	}
	labels := make([]int, len(targets))
	for i, t := range targets {
		labels[i], _ = slices.BinarySearch(classes, t)
	}
	machine := linearFile{Format: linearFormat, Classes: classes, Folds: c.Folds}
	if machine.C, machine.Accuracy, err = c.choose(g, x, labels); err != nil {
		return err
	}
	o := svm.DefaultLinearOptions()
	o.C = machine.C
	if machine.Learner, err = svm.TrainLinear(g.ctx, x, labels, o); errors.Is(err, svm.ErrIterations) {
		g.note("%v", err)
	} else if err != nil {
		return err
	}
	if err := output(g, c.Out, func(w io.Writer) error { return json.NewEncoder(w).Encode(machine) }); err != nil {
		return err
	}
	return g.result(map[string]any{
		"classes": classes, "examples": x.Rows, "dim": x.Cols, "c": machine.C, "accuracy": machine.Accuracy,
		"folds": c.Folds, "file": c.Out,
	}, "%s: %d classes, C = %g, accuracy %.2f %% in %d-fold cross-validation,",
		c.Out, len(classes), machine.C, 100*machine.Accuracy, c.Folds)
}

// choose returns the C with the best accuracy in cross-validation, the smallest of equals.
func (c *linearTrainCmd) choose(g *globals, x *kernel.Matrix, labels []int) (best, accuracy float64, err error) {
	folds, err := splits.Stratified(labels, c.Folds, 1, c.Seed)
	if err != nil {
		return 0, 0, usageError(err.Error())
	}
	cs := slices.Clone(c.C)
	slices.Sort(cs)
	accuracy = -1
	for k, value := range cs {
		o := svm.DefaultLinearOptions()
		o.C = value
		if err := o.Validate(); err != nil {
			return 0, 0, usageError("--c: " + err.Error())
		}
		right := 0
		for f := range c.Folds {
			g.bar.show("choosing C", int64(k*c.Folds+f), int64(len(cs)*c.Folds), "")
			train, test := folds.Without(0, f), folds.Test(0, f)
			l, err := svm.TrainLinear(g.ctx, svm.Full(x).Select(train, nil).Matrix(), choose.Pick(labels, train), o)
			if err != nil && !errors.Is(err, svm.ErrIterations) {
				return 0, 0, err
			}
			got, err := l.Labels(svm.Full(x).Select(test, nil))
			if err != nil {
				return 0, 0, err
			}
			for i, at := range test {
				if got[i] == labels[at] {
					right++
				}
			}
		}
		if a := float64(right) / float64(len(labels)); a > accuracy {
			best, accuracy = value, a
		}
	}
	return best, accuracy, nil
}

type linearPredictCmd struct {
	Machine string `arg:"" help:"File that linear train has written." type:"path"`
	Vectors string `arg:"" help:"Vectors, as embed writes them." type:"path"`
	Out     string `help:"File to write: .csv. Without it: standard output." short:"o" placeholder:"FILE" ends:""`
}

// Run predicts.
func (c *linearPredictCmd) Run(g *globals) error {
	machine, err := readLinear(c.Machine)
	if err != nil {
		return err
	}
	x, targets, ids, err := readVectors(c.Vectors)
	if err != nil {
		return err
	}
	if x.Cols != machine.Learner.Examples {
		return fmt.Errorf("%s: %d features per example, want %d as in training", c.Vectors, x.Cols, machine.Learner.Examples)
	}
	labels, err := machine.Learner.Labels(svm.Full(x))
	if err != nil {
		return fmt.Errorf("%s: %w", c.Vectors, err)
	}
	said := make([]string, len(labels))
	known, right := 0, 0
	for i, l := range labels {
		said[i] = machine.Classes[l]
		if targets[i] != "" {
			known++
			if said[i] == targets[i] {
				right++
			}
		}
	}
	g.forPrograms() // CSV or JSON
	result := map[string]any{"examples": len(labels), "known": known, "right": right}
	if g.JSON && c.Out == "" {
		result["ids"], result["classes"] = ids, said
	} else if err := output(g, c.Out, func(w io.Writer) error { return writeClasses(w, ids, said) }); err != nil {
		return err
	}
	if g.JSON {
		return printJSON(g.stdout, result)
	}
	if known > 0 {
		g.note("%d of %d with a known class are right, %.2f %%", right, known, 100*float64(right)/float64(known))
	}
	return nil
}

func writeClasses(w io.Writer, ids, classes []string) error {
	t := csv.NewWriter(w)
	t.Write([]string{"id", "class"})
	for i, id := range ids {
		t.Write([]string{id, classes[i]})
	}
	t.Flush()
	return t.Error()
}

func readLinear(path string) (*linearFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	machine := &linearFile{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(machine); err != nil {
		return nil, fmt.Errorf("%s: not a file of linear train: %w", path, err)
	}
	if machine.Format != linearFormat || machine.Learner == nil || machine.Learner.Classes == nil {
		return nil, fmt.Errorf("%s: format %d of linear machines, want %d", path, machine.Format, linearFormat)
	}
	if err := machine.Learner.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, l := range machine.Learner.Classes {
		if l < 0 || l >= len(machine.Classes) {
			return nil, fmt.Errorf("%s: label %d of %d classes", path, l, len(machine.Classes))
		}
	}
	return machine, nil
}

// readVectors reads X.npy with the identifiers and targets of X.ids.csv.
func readVectors(path string) (x *kernel.Matrix, targets, ids []string, err error) {
	if !strings.HasSuffix(path, ".npy") {
		return nil, nil, nil, usageError(path + ": want a .npy file of vectors")
	}
	if x, err = matrix.ReadNPY(path); err != nil {
		return nil, nil, nil, err
	}
	f, err := os.Open(matrix.IDsFile(path))
	if err != nil {
		return nil, nil, nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll() // as many columns in all rows
	switch {
	case err != nil:
		return nil, nil, nil, fmt.Errorf("%s: %w", matrix.IDsFile(path), err)
	case len(rows) == 0 || len(rows[0]) < 2 || rows[0][0] != "id" || rows[0][1] != "target":
		return nil, nil, nil, fmt.Errorf("%s: want the columns id and target", matrix.IDsFile(path))
	case len(rows)-1 != x.Rows:
		return nil, nil, nil, fmt.Errorf("%s: %d identifiers for %d vectors", matrix.IDsFile(path), len(rows)-1, x.Rows)
	}
	for _, row := range rows[1:] {
		ids, targets = append(ids, row[0]), append(targets, row[1])
	}
	return x, targets, ids, nil
}
