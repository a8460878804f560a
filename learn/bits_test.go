package learn

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/mlgkernel/mlg/kernel"
)

// Learners have the same bits on every processor with fused multiply-adds, by assembly or plain Go.
// The hashes are those of amd64.
func TestLearnerBits(t *testing.T) {
	const n, dim = 90, 6
	// Only exact operations and quotients, so that the input is the same everywhere.
	rng := rand.New(rand.NewPCG(61, 62))
	x, gram := kernel.NewMatrix(n, dim), kernel.NewMatrix(n, n)
	labels, values := make([]int, n), make([]float64, n)
	for i := range n {
		for d := range dim {
			x.Row(i)[d] = float64(rng.IntN(2001)-1000) / 512
		}
		labels[i] = rng.IntN(3)
		x.Row(i)[labels[i]]++
		values[i] = x.Row(i)[0] - x.Row(i)[3] + rng.Float64()
		for j := range i + 1 {
			distance := 0.0
			for d := range dim {
				distance += float64((x.Row(i)[d] - x.Row(j)[d]) * (x.Row(i)[d] - x.Row(j)[d]))
			}
			gram.Row(i)[j] = 1 / (1 + distance)
			gram.Row(j)[i] = gram.Row(i)[j]
		}
	}
	path := func(t Targets, kind Kind, parameters ...float64) func() ([]*Learner, error) {
		opt := DefaultOptions()
		opt.Kind, opt.LeaveOneOut = kind, kind == KernelRidge
		return func() ([]*Learner, error) { return TrainPath(ctx, Full(gram), t, parameters, opt) }
	}
	for _, c := range []struct {
		name  string
		train func() ([]*Learner, error)
		input *kernel.Matrix
		want  string
	}{
		{"classes", path(Targets{Labels: labels}, SVM, 0.1, 1, 10, 100), gram, "2129b5647ba0a9ac"},
		{"values", path(Targets{Values: values}, SVM, 0.1, 1, 10, 100), gram, "8880dbf5de9fe900"},
		{"ridge", path(Targets{Values: values}, KernelRidge, 0.3), gram, "cc824885365f2d3c"},
		{"ridges of classes", path(Targets{Labels: labels}, KernelRidge, 0.1, 1, 10), gram, "6329d6feb762867d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			learners, err := c.train()
			if err != nil {
				t.Fatal(err)
			}
			h := sha256.New()
			add := func(data any) {
				if err := binary.Write(h, binary.LittleEndian, data); err != nil {
					t.Fatal(err)
				}
			}
			for _, l := range learners {
				for _, f := range l.Functions {
					add(f.Coefficients)
					add([]float64{f.Bias, f.Objective})
				}
				if l.LeaveOneOut != nil {
					add(l.LeaveOneOut.Data)
				}
				decisions, err := l.Values(Full(c.input))
				if err != nil {
					t.Fatal(err)
				}
				add(decisions.Data)
			}
			if got := hex.EncodeToString(h.Sum(nil)[:8]); got != c.want {
				t.Errorf("bits %s, want %s", got, c.want)
			}
		})
	}
}
