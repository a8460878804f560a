package explorer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
	"github.com/mlgkernel/mlg/vertex"
)

// limits bound parameters of kernels by their names, beyond what the kernels want. They keep a computation on
// a few thousand graphs within minutes and a few hundred megabytes.
var limits = map[string]string{
	"radii": "1 to 64", "eta": "1e-06 to 1e+06", "gamma": "1e-06 to 1e+06", "power": "1 to 16",
	"samples": "1 to 1000", "rank": "1 to 64",
	"h": "0 to 64", "r": "0 to 64", "d": "0 to 64", "p": "0 to 100", "steps": "0 to 100",
}

const (
	maxText       = 1000 // characters of a text
	maxLevels     = 8
	maxFactors    = 16        // kernels in a text
	maxProducts   = 64        // kernels in a sum that is multiplied out
	maxCovariance = 512 << 20 // bytes of the covariances of a session
	maxExact      = 1e10      // multiplications of exact kernels: about 10 s on two cores
)

// rangeOf returns the range of a number in requests, or of those of a list.
func rangeOf(p param.Parameter) (low, high float64, ok bool) {
	low, high, ok = between(p.Want)
	most, has := limits[p.Name]
	if !has {
		return low, high, ok
	}
	from, to, _ := between(most)
	if !ok {
		return from, to, true
	}
	return max(low, from), min(high, to), true
}

// numbersOf returns the value of a parameter as numbers, nil for texts.
func numbersOf(value any) (out []float64) {
	switch v := value.(type) {
	case int:
		out = append(out, float64(v))
	case float64:
		out = append(out, v)
	case []int:
		for _, x := range v {
			out = append(out, float64(x))
		}
	case []float64:
		out = v
	}
	return out
}

// bounds sees whether the kernels of a text are within the limits.
type bounds struct {
	d       *Data
	most    int // factors
	factors int
	bytes   int64
}

// check looks at a kernel, and at those that are its parameters.
func (b *bounds) check(k kernel.Kernel) error {
	wrong := func(p param.Parameter, want string, err error) error {
		return &param.Error{Of: k.Name(), Name: p.Name, Value: param.Value(p.Default), Want: want, Err: err}
	}
	for _, p := range param.Of(k) {
		low, high, ok := rangeOf(p)
		for _, x := range numbersOf(p.Default) {
			if ok && !(low <= x && x <= high) {
				return wrong(p, fmt.Sprintf("%g to %g", low, high), nil)
			}
		}
		switch text, _ := p.Default.(string); {
		case p.Want == kernel.Language && text != "":
			if _, err := kernel.ParseChecked(text, b.check); err != nil {
				return wrong(p, p.Want, err)
			}
		case p.Name == "radii" && len(numbersOf(p.Default)) > maxLevels:
			return wrong(p, fmt.Sprintf("at most %d of them", maxLevels), nil)
		}
	}
	sum, err := kernel.SumOf(k).Expand(b.d.Graphs)
	if err != nil {
		return err
	}
	for _, t := range sum.Terms {
		for _, f := range t.Factors {
			b.factors++
			if m, ok := f.Kernel.(mlg.Kernel); ok {
				b.bytes += int64(len(b.d.IDs)) * int64(m.Rank) * int64(m.Rank+1) / 2 * 8
			}
		}
	}
	switch {
	case b.factors > b.most:
		return fmt.Errorf("%s: more than %d kernels, want fewer", k.Name(), b.most)
	case b.bytes > maxCovariance:
		return &param.Error{Of: k.Name(), Name: "rank", Value: param.Value(param.Get(k, "rank")), Want: "less, because so many graphs need too much memory"}
	}
	return nil
}

// parsed returns the kernel of a text that is within the limits. Its error is a *param.TextError.
func (d *Data) parsed(text string) (kernel.Kernel, error) {
	if n := utf8.RuneCountInString(text); n > maxText {
		return nil, param.At(text, param.NoPlace, fmt.Errorf("a text of %d characters, want at most %d", n, maxText))
	}
	k, err := kernel.ParseChecked(text, (&bounds{d: d, most: maxFactors}).check)
	if err != nil {
		return nil, err
	}
	sum, err := kernel.SumOf(k).Expand(d.Graphs)
	factors := 0
	for _, t := range sum.Terms {
		factors += len(t.Factors)
	}
	if err == nil && factors > maxProducts {
		err = fmt.Errorf("products with %d kernels together, want at most %d", factors, maxProducts)
	}
	return k, param.At(text, param.NoPlace, err)
}

// foreseen refuses exact kernels that would take long.
func (d *Data) foreseen(ctx context.Context, k kernel.Kernel) error {
	n, err := mlg.ExactOperations(ctx, k, d.Graphs, maxExact)
	if err == nil && n > maxExact {
		return cannot("exact takes more than %.0e multiplications for these %d graphs, which is too long for the page; want the low-rank kernel, smaller radii or fewer graphs", float64(maxExact), len(d.Graphs))
	}
	return err
}

// chosen returns the kernel of the text of a request.
func (d *Data) chosen(text string) (kernel.Kernel, error) {
	k, err := d.parsed(text)
	var wrong *param.TextError
	if errors.As(err, &wrong) {
		return nil, &textError{apiError{http.StatusBadRequest, wrong.Err.Error(), "kernel"}, position(wrong)}
	}
	return k, err
}

// Use makes the kernel of a text that of requests that choose none.
func (d *Data) Use(text string) error {
	k, err := d.parsed(text)
	if err != nil {
		return err
	}
	return d.use(k)
}

type textRequest struct {
	Text   string `json:"text,omitempty" want:"0 to 1000" help:"the text of a kernel; empty for the one of requests that choose none"`
	Cursor *int   `json:"cursor,omitempty" help:"characters before the place where words are wanted; by default all"`
	Set    string `json:"set,omitempty" help:"a parameter that is changed first, of a text that is a single kernel"`
	Value  string `json:"value,omitempty" help:"its new value"`
}

// textAnswer is what a text means.
type textAnswer struct {
	Text       string             `json:"text" help:"the text as requests may have it: in one way of writing, or empty for the model as it was trained and for a text that is wrong"`
	Name       string             `json:"name" help:"the kernel, where the text is a single one; empty for sums, products and forms of graphs"`
	Parameters []kernelParameter  `json:"parameters" help:"those of a single kernel"`
	Begun      string             `json:"begun" help:"what is there of the word at the cursor"`
	Words      []param.Completion `json:"words" help:"what may stand there in its place"`
	Error      *wrongText         `json:"error" help:"what is wrong; null for nothing"`
}

// kernelParameter is a parameter of the kernel of a text. Values are texts.
type kernelParameter struct {
	Name     string   `json:"name"`
	Type     string   `json:"type" want:"one of boolean integer number text integers numbers texts"`
	Value    string   `json:"value"`
	Default  string   `json:"default"`
	Low      *float64 `json:"low" help:"least value; null where there is none"`
	High     *float64 `json:"high" help:"largest value; null where there is none"`
	Choices  []string `json:"choices" help:"all values of a text that has few; else empty"`
	Suggests []string `json:"suggests" help:"some values of a text that has many"`
	Help     string   `json:"help"`
}

// wrongText says what is wrong in a text.
type wrongText struct {
	Message  string   `json:"message" help:"all of it in a sentence"`
	Position *int     `json:"position" help:"where, in characters from 0; null where it is in the value to be set"`
	Of       string   `json:"of" help:"the kernel whose parameter is wrong"`
	Name     string   `json:"name" help:"the parameter, or a name that is not known"`
	Value    string   `json:"value" help:"the value of the parameter"`
	Want     []string `json:"want" help:"what is wanted: a range in words, or the names that are known"`
}

func getKernel(q *request, in *textRequest) (*textAnswer, error) {
	d, out := q.s.data, &textAnswer{Parameters: []kernelParameter{}, Words: []param.Completion{}}
	before := []rune(in.Text)
	if c := in.Cursor; c != nil {
		if *c < 0 || *c > len(before) {
			return nil, badRequest("cursor", "cursor: %d, want 0 to %d", *c, len(before))
		}
		before = before[:*c]
	}
	begun, words := param.Complete(kernel.Language, string(before))
	out.Begun, out.Words = begun, append(out.Words, words...)
	k, err := d.Kernel.Asked, error(nil)
	switch {
	case in.Text == chosenText && in.Set == "":
		out.Text = chosenText
		return out, nil
	case in.Text != "":
		k, err = d.parsed(in.Text)
	case d.saved:
		return out, nil
	}
	if err == nil && in.Set != "" {
		k, err = d.changed(k, in.Set, in.Value)
	}
	if err != nil {
		out.Error = said(err)
		return out, nil
	}
	out.Text = k.String()
	if _, sum := k.(kernel.Sum); !sum {
		out.Name, out.Parameters = k.Name(), d.parameters(k)
	}
	return out, nil
}

// changed returns a single kernel with a parameter changed. What is wrong with the value has no place.
func (d *Data) changed(k kernel.Kernel, name, value string) (kernel.Kernel, error) {
	if _, sum := k.(kernel.Sum); sum {
		return nil, &param.Unknown{Of: "the brackets", What: "parameter", Name: name}
	}
	k, err := kernel.With(k, name, value)
	if err == nil {
		err = k.Validate()
	}
	if err == nil {
		_, err = d.parsed(k.String())
	}
	var wrong *param.TextError
	if errors.As(err, &wrong) {
		err = wrong.Err
	}
	return k, err
}

// position returns where a text is wrong, in characters from 0, nil for no place.
func position(e *param.TextError) *int {
	at := e.Column() - 1
	if at < 0 {
		return nil
	}
	return &at
}

// said takes an error apart.
func said(err error) *wrongText {
	out := &wrongText{Message: err.Error(), Want: []string{}}
	var text *param.TextError
	var wrong *param.Error
	var unknown *param.Unknown
	if errors.As(err, &text) {
		out.Message, out.Position = text.Err.Error(), position(text)
	}
	switch {
	case errors.As(err, &wrong):
		out.Of, out.Name, out.Value, out.Want = wrong.Of, wrong.Name, wrong.Value, append(out.Want, wrong.Want)
	case errors.As(err, &unknown):
		out.Of, out.Name, out.Want = unknown.Of, unknown.Name, append(out.Want, unknown.Want...)
	}
	return out
}

// parameters describes those of a kernel.
func (d *Data) parameters(k kernel.Kernel) []kernelParameter {
	out := []kernelParameter{}
	usual, _ := kernel.Named(k.Name()) // a kernel of a text is known
	for i, p := range param.Of(k) {
		x := kernelParameter{Name: p.Name, Type: p.Type, Value: textOf(p), Default: textOf(param.Of(usual)[i]),
			Choices: append([]string{}, p.Choices...), Suggests: []string{}, Help: p.Help}
		if low, high, ok := rangeOf(p); ok {
			x.Low, x.High = &low, &high
		}
		switch p.Want {
		case kernel.Language:
			x.Suggests = kernel.Names()
		case vertex.Language:
			x.Suggests = d.bases()
		}
		out = append(out, x)
	}
	return out
}

// textOf returns the value of a parameter as a form has it.
func textOf(p param.Parameter) string {
	if p.Type == "text" {
		return fmt.Sprint(p.Default)
	}
	return param.Value(p.Default)
}

// bases returns kernels on vertices that suit the graphs.
func (d *Data) bases() []string {
	var out []string
	labels, attributes := d.info.NodeLabels > 0, d.info.Attributes > 0
	if labels {
		out = append(out, "labels", "labels * degree")
	}
	if attributes {
		out = append(out, "attributes", "gaussian")
	}
	if labels && attributes {
		out = append(out, "labels * gaussian")
	}
	return append(out, "degree", "heat", "wl")
}
