package param

import (
	"fmt"
	"slices"
	"strings"
)

// Language says what names mean in texts of one kind: of kernels on graphs, or of those on vertices.
type Language struct {
	Names func() []string
	// Record returns the record of a name with its defaults, nil for none.
	Record func(name string) any
	// About says in a line what a record is.
	About func(name string) string
	// Words may stand behind a record beside its parameters.
	Words []Completion
}

// languages are known by what parameters want that are texts in them.
var languages = map[string]Language{}

// AddLanguage makes a language known by what parameters want that are texts in it. Packages do so when
// they are initialised.
func AddLanguage(want string, l Language) { languages[want] = l }

// Elsewhere says in which other language a name is known, "" for none.
func Elsewhere(language, name string) string {
	for want, l := range languages {
		if want != language && slices.Contains(l.Names(), name) {
			return fmt.Sprintf("%s is %s, which stands in brackets behind base=", name, want)
		}
	}
	return ""
}

// InBrackets says that a parameter may be meant for a record that stands without brackets behind another
// parameter, "" if none has it.
func InBrackets(record any, given []Assignment, name string) string {
	for _, p := range Of(record) {
		inner, ok := languages[p.Want]
		for _, g := range given {
			if !ok || g.Name != p.Name {
				continue
			}
			if r := inner.Record(g.Value); r != nil && Get(r, name) != nil {
				return fmt.Sprintf("write %s=(%s %s=…) if it is meant for %s", p.Name, g.Value, name, g.Value)
			}
		}
	}
	return ""
}

// Completion is a word that may stand at the end of a text, and what it means.
type Completion struct {
	Word string `json:"word"`
	Help string `json:"help"`
}

// Complete returns the words that may stand at the end of a text in a language in place of the word
// that is begun there.
func Complete(language, text string) (begun string, out []Completion) {
	c := end(text)
	if !c.Open {
		return "", nil
	}
	l := languages[language]
	if c.Within != (spot{}) {
		if l, language = within(l, c.Within); language == "" {
			return c.Begun, nil
		}
	}
	switch {
	case c.Record == "":
		out = l.names("")
	case c.Parameter == "":
		out = l.parameters(c.Record)
	default:
		out = l.values(c.spot, c.Items)
	}
	return c.Begun, slices.DeleteFunc(out, func(x Completion) bool { return !strings.HasPrefix(x.Word, c.Begun) })
}

// within returns the language of the value of a parameter.
func within(l Language, place spot) (Language, string) {
	for _, p := range l.fields(place.Record) {
		if inner, ok := languages[p.Want]; ok && p.Name == place.Parameter {
			return inner, p.Want
		}
	}
	return Language{}, ""
}

func (l Language) fields(record string) []Parameter {
	r := l.Record(record)
	if r == nil {
		return nil
	}
	return Of(r)
}

// names returns the names of records, with what stands before them.
func (l Language) names(before string) (out []Completion) {
	for _, name := range l.Names() {
		out = append(out, Completion{before + name, l.About(name)})
	}
	return out
}

// parameters returns those of a record as they are written.
func (l Language) parameters(record string) (out []Completion) {
	for _, p := range l.fields(record) {
		word := p.Name + "="
		if p.Default == false {
			word = p.Name
		}
		help, _, _ := strings.Cut(p.Help, ". ")
		out = append(out, Completion{word, help})
	}
	for _, word := range l.Words {
		if r := l.Record(record); r == nil || Get(r, word.Word) == nil {
			out = append(out, word)
		}
	}
	return out
}

// values returns what a parameter may be behind some items of a list, or its default.
func (l Language) values(place spot, items int) (out []Completion) {
	for _, p := range l.fields(place.Record) {
		if p.Name != place.Parameter {
			continue
		}
		inner, nested := languages[p.Want]
		switch {
		case nested:
			return inner.names("")
		case p.Type == "boolean":
			return []Completion{{"true", p.Help}, {"false", ""}}
		case p.Choices != nil:
			for _, c := range p.Choices {
				out = append(out, Completion{c, ""})
			}
		case items == 0:
			out = []Completion{{Value(p.Default), "the default"}}
		}
	}
	return out
}
