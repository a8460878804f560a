package metrics

// Curve is a line of thresholds: for each score that occurs, falling, the share of positive examples with at
// least that score (Recall), the share of negative ones (FalseRate), and the share of positive ones among all those
// (Precision). Equal scores make one point. The first point is that of no example, whose precision counts as that of the
// next one.
type Curve struct {
	Recall    []float64 `json:"recall"`
	FalseRate []float64 `json:"false_rate"`
	Precision []float64 `json:"precision"`
}

// Thresholds returns the curve of some examples; recall against the false rate is the ROC curve, whose area AUC
// returns. ok is false unless there are positive and negative examples.
func Thresholds(positive []bool, score []float64) (c *Curve, ok bool) {
	positives := 0.0
	for _, p := range positive {
		if p {
			positives++
		}
	}
	negatives := float64(len(positive)) - positives
	if positives == 0 || negatives == 0 {
		return nil, false
	}
	c = &Curve{[]float64{0}, []float64{0}, []float64{0}}
	found, seen := 0.0, 0.0
	ranked(positive, score, func(p, all float64) {
		found, seen = found+p, seen+all
		c.Recall = append(c.Recall, found/positives)
		c.FalseRate = append(c.FalseRate, (seen-found)/negatives)
		c.Precision = append(c.Precision, found/seen)
	})
	c.Precision[0] = c.Precision[1]
	return c, true
}

// Every returns the curve with at most so many points at about equal distances along it. The first and the last stay.
func (c *Curve) Every(most int) *Curve {
	n := len(c.Recall)
	if n <= most {
		return c
	}
	out := &Curve{}
	next := 0.0 // of the way, from 0 to 2
	for i := range n {
		if way := c.Recall[i] + c.FalseRate[i]; i == 0 || i == n-1 || way >= next {
			out.Recall, out.FalseRate, out.Precision = append(out.Recall, c.Recall[i]), append(out.FalseRate, c.FalseRate[i]), append(out.Precision, c.Precision[i])
			next = way + 2/float64(most-2)
		}
	}
	return out
}
