// Package metrics says how good predictions are, with intervals and tests for scores of
// cross-validations.
package metrics

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Confusion counts predictions: row i, column j has the examples of class i that were taken
// for class j.
type Confusion [][]int

// NewConfusion counts the predictions for examples whose classes are 0 … classes-1.
func NewConfusion(truth, predicted []int, classes int) Confusion {
	c := make(Confusion, classes)
	for i := range c {
		c[i] = make([]int, classes)
	}
	for k, t := range truth {
		c[t][predicted[k]]++
	}
	return c
}

// Add adds the counts of d.
func (c Confusion) Add(d Confusion) {
	for i, row := range d {
		for j, n := range row {
			c[i][j] += n
		}
	}
}

// Accuracy returns the share of examples with the right class.
func (c Confusion) Accuracy() float64 {
	right, all := 0, 0
	for i, row := range c {
		right += row[i]
		all += total(row)
	}
	return float64(right) / float64(all)
}

// BalancedAccuracy returns the mean recall of the classes that occur.
func (c Confusion) BalancedAccuracy() float64 {
	var recalls []float64
	for i, row := range c {
		if n := total(row); n > 0 {
			recalls = append(recalls, float64(row[i])/float64(n))
		}
	}
	return Mean(recalls)
}

func total(row []int) int {
	sum := 0
	for _, n := range row {
		sum += n
	}
	return sum
}

// ClassScore says how well one class was recognised.
type ClassScore struct {
	Class     string  `json:"class"`
	Examples  int     `json:"examples"`
	Recall    float64 `json:"recall"`    // right ones among the examples of the class, 0 without any
	Precision float64 `json:"precision"` // right ones among those taken for the class, 0 without any
	F1        float64 `json:"f1"`        // harmonic mean of the two, 0 when both are
}

// ByClass returns the scores of the classes with the given names.
func (c Confusion) ByClass(names []string) []ClassScore {
	out := make([]ClassScore, len(c))
	for i, row := range c {
		taken := 0
		for j := range c {
			taken += c[j][i]
			out[i].Examples += row[j]
		}
		s := &out[i]
		s.Class = names[i]
		s.Recall = share(row[i], s.Examples)
		s.Precision = share(row[i], taken)
		s.F1 = share(2*row[i], s.Examples+taken)
	}
	return out
}

func share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// AUC returns the area under the ROC curve: the share of pairs of a positive and a negative
// example in which the positive one has the larger score, where equal scores count half.
// NaN is less than every number. ok is false when there is no such pair. It takes O(n log n) time.
func AUC(positive []bool, score []float64) (auc float64, ok bool) {
	var positives, negatives []float64
	for i, x := range score {
		if positive[i] {
			positives = append(positives, x)
		} else {
			negatives = append(negatives, x)
		}
	}
	if len(positives) == 0 || len(negatives) == 0 {
		return 0, false
	}
	slices.Sort(negatives)
	pairs := 0.0 // in the right order
	for _, x := range positives {
		below, _ := slices.BinarySearch(negatives, x)
		upTo := sort.Search(len(negatives), func(i int) bool { return cmp.Compare(negatives[i], x) > 0 })
		pairs += float64(below+upTo) / 2
	}
	return pairs / (float64(len(positives)) * float64(len(negatives))), true
}

// MacroAUC returns the mean AUC of each class against the rest, over the classes that occur but are
// not alone. scores has one row per example and one column per class. With two classes whose
// columns are opposite it is the AUC of either.
func MacroAUC(truth []int, scores [][]float64, classes int) (auc float64, ok bool) {
	positive := make([]bool, len(truth))
	column := make([]float64, len(truth))
	var aucs []float64
	for c := range classes {
		for i, t := range truth {
			positive[i] = t == c
			column[i] = scores[i][c]
		}
		if a, ok := AUC(positive, column); ok {
			aucs = append(aucs, a)
		}
	}
	return Mean(aucs), aucs != nil
}

// RegressionScores are errors of predicted values ẑ of targets z,
//
//	RMSE = √(mean (z−ẑ)²),   MAE = mean |z−ẑ|,   R² = 1 − Σ(z−ẑ)² / Σ(z−z̄)².
//
// R² of constant targets is 0.
type RegressionScores struct {
	RMSE float64 `json:"rmse"`
	MAE  float64 `json:"mae"`
	R2   float64 `json:"r2"`
	*Calibration
}

// ScoreValues returns the errors of predictions, with the calibration of their deviations unless these are nil.
func ScoreValues(truth, predicted, deviations []float64) RegressionScores {
	var s RegressionScores
	mean := Mean(truth)
	var rest, total float64
	for i, z := range truth {
		d := z - predicted[i]
		rest += d * d
		s.MAE += math.Abs(d)
		total += (z - mean) * (z - mean)
	}
	n := float64(len(truth))
	s.RMSE = math.Sqrt(rest / n)
	s.MAE /= n
	if total > 0 {
		s.R2 = 1 - rest/total
	}
	if deviations != nil {
		s.Calibration = calibrate(truth, predicted, deviations)
	}
	return s
}
