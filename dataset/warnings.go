package dataset

import "fmt"

// warnings count what was put right or left out while reading, in order of first appearance.
type warnings []warning

type warning struct {
	n         int
	one, many string
}

// maxWarnings is the number of different warnings that are kept. Others are counted together.
const maxWarnings = 100

// add counts n occurrences of a warning. Its text is one for a single occurrence, and many for
// several.
func (w *warnings) add(n int, one, many string) {
	if n == 0 {
		return
	}
	for i := range *w {
		if (*w)[i].many == many {
			(*w)[i].n += n
			return
		}
	}
	if len(*w) == maxWarnings && many != otherWarnings {
		w.add(n, "other warning", otherWarnings)
		return
	}
	*w = append(*w, warning{n, one, many})
}

const otherWarnings = "other warnings"

// list returns texts such as "12 self-loops dropped".
func (w warnings) list() []string {
	out := []string{}
	for _, x := range w {
		out = append(out, counted(x.n, x.one, x.many))
	}
	return out
}

// counted writes a number with the words that agree with it.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// merge adds other warnings.
func (w *warnings) merge(other *warnings) {
	for _, x := range *other {
		w.add(x.n, x.one, x.many)
	}
}
