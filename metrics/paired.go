package metrics

import (
	"math/rand/v2"
	"slices"
)

// bootstrapDraws is the number of samples of a bootstrap.
const bootstrapDraws = 1000

// Paired compares two models on the same examples. Each is scored by the mean of its losses,
//
//	S = score(mean loss),
//
// such as √m for squared errors. Difference is that of the second less that of the first. Its interval has the quantiles
// of differences for samples of the examples, drawn with replacement (a bootstrap). They are the same every time.
type Paired struct {
	First      float64  `json:"first"`
	Second     float64  `json:"second"`
	Difference float64  `json:"difference"`
	Interval   Interval `json:"interval"`
}

// ComparePaired compares the losses of two models, of the same examples in the same order, at least one.
func ComparePaired(first, second []float64, score func(mean float64) float64, level float64) Paired {
	n := len(first)
	random := rand.New(rand.NewPCG(1, 0))
	found := make([]float64, bootstrapDraws)
	for k := range found {
		var a, b float64
		for range n {
			i := random.IntN(n)
			a, b = a+first[i], b+second[i]
		}
		found[k] = score(b/float64(n)) - score(a/float64(n))
	}
	slices.Sort(found)
	at := func(share float64) float64 { return found[min(int(share*bootstrapDraws), bootstrapDraws-1)] }
	out := Paired{First: score(Mean(first)), Second: score(Mean(second)), Interval: Interval{level, at((1 - level) / 2), at((1 + level) / 2)}}
	out.Difference = out.Second - out.First
	return out
}
