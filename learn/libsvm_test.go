package learn

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// The tests below run LIBSVM's commands on the same Gram matrices.

func TestAgreesWithLIBSVM(t *testing.T) {
	graphtest.Slow(t)
	for _, bin := range []string{"svm-train", "svm-predict"} {
		if _, err := exec.LookPath(bin); err != nil {
			graphtest.Missing(t, "%s is not on the PATH: install LIBSVM's command line tools", bin)
		}
	}
	for _, d := range []struct {
		name string
		h    int
		cs   []float64
		long bool
	}{
		{"MUTAG", 0, []float64{0.01, 0.1, 1, 10, 100}, false},
		{"MUTAG", 3, []float64{0.01, 0.1, 1, 10, 100, 1000}, false},
		{"ENZYMES", 2, []float64{0.01, 1, 100, 1000}, false},
		{"NCI1", 3, []float64{0.01, 0.1, 1, 10, 100, 1000}, true},
	} {
		t.Run(fmt.Sprintf("%s-h%d", d.name, d.h), func(t *testing.T) {
			if d.long { // about a minute
				graphtest.Long(t)
			}
			gram, y := dataset(t, d.name, d.h)
			// LIBSVM keeps kernel values in single precision, which alone moves the objective by
			// up to 3e-6 of its value: entries that single precision holds make the problems equal.
			for k, v := range gram.Data {
				gram.Data[k] = float64(float32(v))
			}
			compareLIBSVM(t, gram, y, d.cs)
		})
	}
}

// compareLIBSVM trains on two thirds of the examples and predicts the rest.
func compareLIBSVM(t *testing.T, gram *kernel.Matrix, y []int, cs []float64) {
	var train, test, trainY []int
	for k := range y {
		if k%3 == 2 {
			test = append(test, k)
		} else {
			train = append(train, k)
			trainY = append(trainY, y[k])
		}
	}
	if first := trainY[0]; first != 0 {
		t.Fatalf("first training label is %d: LIBSVM would order the classes otherwise", first)
	}
	full := Full(gram)
	dir := t.TempDir()
	trainFile, testFile := filepath.Join(dir, "train"), filepath.Join(dir, "test")
	writeLIBSVM(t, trainFile, full.Select(train, train), train, y)
	writeLIBSVM(t, testFile, full.Select(test, train), test, y)

	opt := DefaultOptions()
	for _, tol := range []struct{ stop, objective float64 }{{1e-7, 1e-6}, {1e-3, 1e-3}} {
		opt.Tolerance = tol.stop
		models, err := TrainPath(ctx, full.Select(train, train), Targets{Labels: trainY}, cs, opt)
		if err != nil {
			t.Fatal(err)
		}
		worst, differ, near := 0.0, 0, 0
		for m, c := range cs {
			objectives, predicted := runLIBSVM(t, trainFile, testFile, "-s", "0", "-c", fmt.Sprint(c), "-e", fmt.Sprint(tol.stop))
			model := models[m]
			cold := opt
			cold.C = c
			if !(len(train) > 1000) {
				if model, err = Train(ctx, full.Select(train, train), Targets{Labels: trainY}, cold); err != nil {
					t.Fatal(err)
				}
			}
			if len(objectives) != len(model.Functions) {
				t.Fatalf("C = %g: LIBSVM has %d machines, we have %d", c, len(objectives), len(model.Functions))
			}
			for k, want := range objectives {
				for _, got := range []float64{model.Functions[k].Objective, models[m].Functions[k].Objective} {
					worst = max(worst, math.Abs(got/want-1))
					// LIBSVM prints six decimals.
					if math.Abs(got-want) > tol.objective*math.Abs(want)+5e-7 {
						t.Errorf("C = %g, tolerance %g, machine %d: objective %.9g, LIBSVM %.9g (relative %.2g)", c, tol.stop, k, got, want, got/want-1)
					}
				}
			}
			decision, err := model.Values(full.Select(test, train))
			if err != nil {
				t.Fatal(err)
			}
			for k := range test {
				if float64(votes(model, decision.Row(k))) == predicted[k] {
					continue
				}
				// A value within the tolerance of 0 may fall on either side.
				margin := math.Inf(1)
				for _, f := range decision.Row(k) {
					margin = min(margin, math.Abs(f))
				}
				if margin > 2*tol.stop {
					differ++
				} else {
					near++
				}
			}
			if differ > 0 {
				t.Errorf("C = %g, tolerance %g: %d of %d predictions differ from LIBSVM's", c, tol.stop, differ, len(test))
			}
		}
		t.Logf("tolerance %g: objectives differ by at most %.1e, predictions by %d within the tolerance of 0", tol.stop, worst, near)
	}
}

func TestRegressionAgreesWithLIBSVM(t *testing.T) {
	if _, err := exec.LookPath("svm-train"); err != nil {
		graphtest.Missing(t, "svm-train is not on the PATH: install LIBSVM's command line tools")
	}
	gram, y := dataset(t, "MUTAG", 2)
	for k, v := range gram.Data {
		gram.Data[k] = float64(float32(v))
	}
	all := make([]int, len(y))
	z := make([]float64, len(y))
	for k := range y { // targets with a trend that the kernel knows and one that it does not
		all[k] = k
		y[k] = 10*y[k] + k%7
		z[k] = float64(y[k])
	}
	train := filepath.Join(t.TempDir(), "train")
	writeLIBSVM(t, train, Full(gram), all, y)
	opt := DefaultOptions()
	opt.Tolerance, opt.Epsilon = 1e-7, 0.5
	for _, opt.C = range []float64{0.01, 1, 100} {
		r, err := Train(ctx, Full(gram), Targets{Values: z}, opt)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Values(Full(gram))
		if err != nil {
			t.Fatal(err)
		}
		objectives, predicted := runLIBSVM(t, train, train, "-s", "3", "-p", "0.5", "-c", fmt.Sprint(opt.C), "-e", "1e-7")
		if want := objectives[0]; math.Abs(r.Functions[0].Objective-want) > 1e-6*math.Abs(want) {
			t.Errorf("C = %g: objective %.9g, LIBSVM %.9g", opt.C, r.Functions[0].Objective, want)
		}
		for k, want := range predicted {
			if math.Abs(got.Data[k]-want) > 1e-4 { // LIBSVM prints six digits
				t.Errorf("C = %g, example %d: %.9g, LIBSVM %.9g", opt.C, k, got.Data[k], want)
			}
		}
	}
}

// writeLIBSVM writes rows of a kernel matrix in LIBSVM's format for precomputed kernels.
func writeLIBSVM(t *testing.T, path string, v View, index, y []int) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	rows, cols := v.Dims()
	var line []byte
	for i := range rows {
		line = fmt.Appendf(line[:0], "%d 0:%d", y[index[i]], i+1)
		for j := range cols {
			line = append(line, ' ')
			line = strconv.AppendInt(line, int64(j+1), 10)
			line = append(line, ':')
			line = strconv.AppendFloat(line, v.At(i, j), 'g', -1, 64)
		}
		line = append(line, '\n')
		w.Write(line)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

var objectiveLine = regexp.MustCompile(`obj = (\S+),`)

// runLIBSVM returns the objective of each machine and the predictions.
func runLIBSVM(t *testing.T, train, test string, flags ...string) (objectives, predictions []float64) {
	model, out := train+".model", train+".out"
	flags = append(flags, "-t", "4", train, model)
	log, err := exec.Command("svm-train", flags...).CombinedOutput()
	if err != nil {
		t.Fatalf("svm-train: %v\n%s", err, log)
	}
	for _, m := range objectiveLine.FindAllStringSubmatch(string(log), -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		objectives = append(objectives, v)
	}
	if log, err := exec.Command("svm-predict", test, model, out).CombinedOutput(); err != nil {
		t.Fatalf("svm-predict: %v\n%s", err, log)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(string(text)) {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			t.Fatal(err)
		}
		predictions = append(predictions, v)
	}
	return objectives, predictions
}

// votes returns the class for which most machines speak, the first of equals, as LIBSVM does.
func votes(l *Learner, values []float64) int {
	count := make([]int, len(l.Classes))
	for p, v := range values {
		if a, b := l.pair(p); v > 0 {
			count[a]++
		} else {
			count[b]++
		}
	}
	return l.Classes[slices.Index(count, slices.Max(count))]
}
