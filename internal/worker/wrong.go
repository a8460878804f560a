package worker

import (
	"errors"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

// wrong says what an error is about, so that the parent can name it as its users do.
type wrong struct {
	// Of is the record that has a wrong parameter, such as "wl" or "choose", "" for none.
	Of string `json:"of,omitempty"`
	// Parameter has the value Value, and Want says what it may have. Why is what is wrong inside the value.
	Parameter string `json:"parameter,omitempty"`
	Value     string `json:"value,omitempty"`
	Want      string `json:"want,omitempty"`
	Why       string `json:"why,omitempty"`
	// Character is the place of the error in the text of a kernel, from 1, and 0 for no text. Reason is the
	// error without its place.
	Character int    `json:"character,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// Graph is the place of a graph in the collection. GraphReason names it, and says what is wrong with it.
	Graph       *int   `json:"graph,omitempty"`
	GraphReason string `json:"graph_reason,omitempty"`
	// Line is the place in a file or table, from 1, and 0 for none. LineReason is the error without its place.
	Line       int    `json:"line,omitempty"`
	LineReason string `json:"line_reason,omitempty"`
	// Missing is what that graph lacks: "labels" or "attributes".
	Missing string `json:"missing,omitempty"`
}

// wrongOf returns what an error is about, nil where it is about nothing of that.
func wrongOf(err error) *wrong {
	var out wrong
	var text *param.TextError
	if errors.As(err, &text) {
		out.Character, out.Reason = text.Column(), text.Err.Error()
	}
	var value *param.Error
	var unknown *param.Unknown
	switch {
	case errors.As(err, &value):
		out.Of, out.Parameter, out.Value, out.Want = value.Of, value.Name, value.Value, value.Want
		if value.Err != nil {
			out.Why = value.Err.Error()
		}
	case errors.As(err, &unknown) && unknown.What == "parameter":
		out.Of, out.Parameter, out.Want = unknown.Of, unknown.Name, "one of "+strings.Join(unknown.Want, ", ")
	case errors.As(err, &unknown):
		out.Value, out.Want = unknown.Name, "one of "+strings.Join(unknown.Want, ", ")
	}
	var about *kernel.GraphError
	if errors.As(err, &about) {
		out.Graph, out.GraphReason = &about.Graph, about.Error()
	}
	var place *dataset.PlaceError
	if errors.As(err, &place) {
		out.Line, out.LineReason = place.Line, place.Err.Error()
	}
	var missing *graph.Missing
	if errors.As(err, &missing) {
		out.Missing = missing.What
	}
	if out == (wrong{}) {
		return nil
	}
	return &out
}
