package dataset

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Names of columns and data fields that are looked for, in this order, when the options
// name none.
var (
	smilesNames = []string{"smiles", "canonical_smiles", "isomeric_smiles", "smi", "structure"}
	targetNames = []string{"target", "class", "label", "active", "activity", "y", "outcome"}
	idNames     = []string{"id", "name", "title", "mol_id", "molecule_id", "compound_id", "identifier", "compound", "molecule", "substance", "code"}

	nodeLabelNames  = []string{"label", "element", "symbol", "type"}
	edgeLabelNames  = []string{"label", "order", "bond", "type"}
	edgeWeightNames = []string{"weight", "value"}
)

// wanted returns the names to look for: the given one, or else the usual ones.
func wanted(given string, usual []string) []string {
	if given != "" {
		return []string{given}
	}
	return usual
}

// findColumn returns the position of the first of the names among the columns, without
// regard to case and blanks around, or -1.
func findColumn(columns, names []string) int {
	for _, n := range names {
		for i, c := range columns {
			if strings.EqualFold(strings.Trim(strings.TrimSpace(c), `"`), n) {
				return i
			}
		}
	}
	return -1
}

// quoteList shows up to ten names.
func quoteList(names []string) string {
	var q []string
	for _, n := range names[:min(10, len(names))] {
		q = append(q, quote([]byte(n)))
	}
	if len(names) > 10 {
		q = append(q, "…")
	}
	return strings.Join(q, ", ")
}

// quote shows the beginning of what was found instead of something else.
func quote(s []byte) string {
	const most = 40
	if len(s) == 0 {
		return "nothing"
	}
	if len(s) > most {
		return strconv.Quote(string(s[:most])) + "…"
	}
	return strconv.Quote(string(s))
}

// interner returns equal texts as one string.
type interner map[string]string

func (in interner) text(s []byte) string {
	if t, ok := in[string(s)]; ok {
		return t
	}
	t := string(s)
	// Texts that hardly repeat are not labels: they need no table.
	if len(in) < 1<<16 {
		in[t] = t
	}
	return t
}

// integer parses a whole number; s is trimmed.
func integer(s []byte) (int32, error) {
	d := s
	if len(d) > 0 && (d[0] == '-' || d[0] == '+') {
		d = d[1:]
	}
	x := 0
	for _, c := range d {
		if c < '0' || c > '9' {
			d = d[:0]
			break
		}
		if x = 10*x + int(c-'0'); x > math.MaxInt32 {
			return 0, fmt.Errorf("%s, want a whole number up to %d", quote(s), math.MaxInt32)
		}
	}
	if len(d) == 0 {
		return 0, fmt.Errorf("%s, want a whole number", quote(s))
	}
	if s[0] == '-' {
		x = -x
	}
	return int32(x), nil
}

func positive(w float64) bool { return w > 0 && !math.IsInf(w, 1) }

// pow10 holds powers of ten.
var pow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// decimal parses a finite number; s is trimmed. A plain decimal with at most 15 digits is
// mantissa/10^k with both exact, so one division rounds correctly; the rest goes to
// strconv.
func decimal(s []byte) (float64, error) {
	mantissa, digits, whole, plain := 0, 0, -1, true // whole: digits before the point
	for i, c := range s {
		switch {
		case c >= '0' && c <= '9' && digits <= 15:
			mantissa = 10*mantissa + int(c-'0')
			digits++
		case c == '.' && whole < 0:
			whole = digits
		case c != '-' || i > 0:
			plain = false
		}
	}
	if plain && digits > 0 && digits <= 15 {
		if whole < 0 {
			whole = digits
		}
		x := float64(mantissa) / pow10[digits-whole]
		if s[0] == '-' {
			x = -x
		}
		return x, nil
	}
	x, err := strconv.ParseFloat(string(s), 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("the number %s is too large", quote(s))
	case err != nil:
		return 0, fmt.Errorf("%s, want a number", quote(s))
	case math.IsNaN(x) || math.IsInf(x, 0):
		return 0, fmt.Errorf("%s, want a finite number", quote(s))
	}
	return x, nil
}
