package dataset

import "fmt"

// Warning is something that was put right or left out while reading, and how often.
type Warning struct {
	Count int
	Text  string // agrees with Count in number: "self-loop dropped", "self-loops dropped"
}

// String returns count and text, as in "12 self-loops dropped".
func (w Warning) String() string { return fmt.Sprintf("%d %s", w.Count, w.Text) }

// warnings counts by text, in order of first appearance.
type warnings struct {
	kinds []kind
}

type kind struct {
	one, many string
	n         int
}

// add counts n occurrences of what is called one when there is one and many when there
// are several.
func (w *warnings) add(n int, one, many string) {
	if n == 0 {
		return
	}
	for i := range w.kinds {
		if w.kinds[i].many == many {
			w.kinds[i].n += n
			return
		}
	}
	w.kinds = append(w.kinds, kind{one, many, n})
}

// merge adds what v has counted.
func (w *warnings) merge(v *warnings) {
	for _, k := range v.kinds {
		w.add(k.n, k.one, k.many)
	}
}

func (w *warnings) list() []Warning {
	var out []Warning
	for _, k := range w.kinds {
		text := k.many
		if k.n == 1 {
			text = k.one
		}
		out = append(out, Warning{k.n, text})
	}
	return out
}
