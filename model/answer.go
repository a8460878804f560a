package model

import "github.com/mlgkernel/mlg/metrics"

// Answer is what is said of one graph, for one endpoint, as commands write it.
type Answer struct {
	ID          string             `json:"id"`
	Endpoint    string             `json:"endpoint,omitempty"` // of several
	Target      string             `json:"target,omitempty"`   // as the data has it
	Class       string             `json:"class,omitempty"`
	Value       *float64           `json:"value,omitempty"`
	Deviation   *float64           `json:"deviation,omitempty"`      // standard, of a measured value
	True        *float64           `json:"true_deviation,omitempty"` // of the true value, without the noise of a measurement
	Interval    *metrics.Interval  `json:"interval,omitempty"`
	Clipped     bool               `json:"clipped,omitempty"` // the variance is below 0 and counts as 0
	Probability map[string]float64 `json:"probability,omitempty"`
	Margin      *float64           `json:"margin,omitempty"` // mean decision value for the class against the others
	Likeness
}

// Tell adds a prediction of the model.
func (a *Answer) Tell(m *Model, said *Prediction) {
	a.Class, a.Likeness = said.Class, said.Likeness
	if m.Task() == Regression {
		a.Value, a.Deviation, a.True = &said.Value, said.Deviation, said.True
		a.Interval, a.Clipped = said.Interval, said.Clipped
		return
	}
	if said.Probability != nil {
		a.Probability = map[string]float64{}
		for k, name := range m.Classes {
			a.Probability[name] = said.Probability[k]
		}
	}
	a.Margin = &said.Margin
}
