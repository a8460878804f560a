package metrics

import (
	"cmp"
	"math"
	"slices"
)

// Uneven reports whether accuracy says little about classes with these numbers of examples: the
// largest is more than a third of the way from an equal share to all, two thirds of two classes. AUC and
// balanced accuracy say more.
func Uneven(counts []int) bool {
	equal := 1 / float64(len(counts))
	return share(slices.Max(counts), total(counts)) > equal+(1-equal)/3
}

// Rarest returns the smallest class, the first of equals, and whether it has less than a tenth of
// the examples of uneven classes, so that average precision and enrichment say most.
func Rarest(counts []int) (class int, rare bool) {
	class = slices.Index(counts, slices.Min(counts))
	return class, Uneven(counts) && 10*counts[class] < total(counts)
}

// ranked calls visit for each different score, falling, with the numbers of positive and of all examples that
// have it. NaN comes last, as one score.
func ranked(positive []bool, score []float64, visit func(positives, all float64)) {
	order := make([]int, len(score))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	for lo := 0; lo < len(order); {
		positives, all := 0.0, 0.0
		for s := score[order[lo]]; lo < len(order) && cmp.Compare(score[order[lo]], s) == 0; lo++ {
			if all++; positive[order[lo]] {
				positives++
			}
		}
		visit(positives, all)
	}
}

// AveragePrecision returns the area under the steps of the precision-recall curve,
//
//	Σ_t (R_t − R_{t−1}) P_t,
//
// over the falling thresholds t, the scores that occur: R_t is the share of the positive examples with a score of at
// least t, P_t the share of positive ones among all those. Equal scores make one step. Scores that say
// nothing give the share of the positives. ok is false when there are none.
func AveragePrecision(positive []bool, score []float64) (ap float64, ok bool) {
	found, seen := 0.0, 0.0
	ranked(positive, score, func(positives, all float64) {
		found, seen = found+positives, seen+all
		ap += positives * found / seen
	})
	return ap / found, found > 0
}

// Enrichment returns the share of positive examples among the best, divided by the share among all.
// The best are a fraction of all examples, rounded up. Equal scores at the border count with the
// same weight: the result is the mean over all their orders. ok is false when there are no
// positives.
func Enrichment(positive []bool, score []float64, fraction float64) (factor float64, ok bool) {
	n := float64(len(score))
	top := math.Ceil(fraction*n - 1e-9) // 5 % of 100 are 5
	left, best, found := top, 0.0, 0.0
	ranked(positive, score, func(positives, all float64) {
		found += positives
		best += positives * min(left, all) / all
		left -= min(left, all)
	})
	return best / top / (found / n), found > 0
}

// leastProbability bounds the loss of an example that was held to be impossible.
const leastProbability = 1e-15

// LogLoss returns the mean of −log p over examples. p is the probability of the true class, but at
// least 1e-15. probabilities has a row for each example and a column for each class.
func LogLoss(truth []int, probabilities [][]float64) float64 {
	sum := 0.0
	for i, t := range truth {
		sum -= math.Log(max(probabilities[i][t], leastProbability))
	}
	return sum / float64(len(truth))
}

// CalibrationError returns the expected calibration error (Guo et al. 2017): the examples are put into ten bins by the
// probability of the most probable class, [0, 0.1), … [0.9, 1]; it is the mean over examples of the difference,
// in their bin, between the mean of that probability and the share of examples of that class. It is NaN where a probability is.
func CalibrationError(truth []int, probabilities [][]float64) float64 {
	const bins = 10
	var excess [bins]float64 // Σ (probability − right)
	for i, p := range probabilities {
		most := slices.Max(p)
		if math.IsNaN(most) {
			return most
		}
		b := min(bins-1, int(bins*most))
		excess[b] += most
		if slices.Index(p, most) == truth[i] {
			excess[b]--
		}
	}
	sum := 0.0
	for _, x := range excess {
		sum += math.Abs(x)
	}
	return sum / float64(len(truth))
}
