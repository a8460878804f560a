package chem

import (
	"math"
	"strconv"
	"strings"
)

const v30 = "M  V30 "

// entry returns the next line of a V3000 table without its mark, joined with the lines
// that continue it. "END" stands for the line M  END.
func (t *table) entry() (string, error) {
	var text strings.Builder
	for {
		line, err := t.next()
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(line, "M  END") && text.Len() == 0 {
			return "END", nil
		}
		if !strings.HasPrefix(line, v30) {
			return "", t.fail("%q, want a line that begins with M  V30", clip(line))
		}
		line = strings.TrimRight(line[len(v30):], " ")
		if body, more := strings.CutSuffix(line, "-"); more {
			text.WriteString(body)
			continue
		}
		text.WriteString(line)
		return text.String(), nil
	}
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// v3000 reads the blocks of a V3000 table. Blocks other than atoms and bonds are skipped.
func (t *table) v3000() error {
	index := map[int]int{} // number in the file → 1-based atom
	block := ""
	var open []string
	for {
		line, err := t.entry()
		if err != nil {
			return err
		}
		word := fields3000(line)
		switch {
		case line == "END":
			return nil
		case len(word) == 0:
			continue
		case word[0] == "BEGIN" && len(word) > 1:
			block = word[1]
			open = append(open, block)
			continue
		case word[0] == "END" && len(word) > 1:
			if len(open) == 0 || open[len(open)-1] != word[1] {
				return t.fail("END %s without BEGIN %s", word[1], word[1])
			}
			open = open[:len(open)-1]
			block = ""
			if len(open) > 0 {
				block = open[len(open)-1]
			}
			continue
		}
		switch block {
		case "ATOM":
			err = t.atom3000(word, index)
		case "BOND":
			err = t.bond3000(word, index)
		}
		if err != nil {
			return err
		}
	}
}

// fields3000 splits at blanks, but not inside quotes and parentheses.
func fields3000(s string) []string {
	var out []string
	depth, quoted, from := 0, false, -1
	for i := 0; i <= len(s); i++ {
		end := i == len(s)
		if !end {
			switch s[i] {
			case '"':
				quoted = !quoted
			case '(':
				depth++
			case ')':
				depth--
			}
		}
		blank := end || s[i] == ' ' && !quoted && depth <= 0
		if blank && from >= 0 {
			out = append(out, strings.Trim(s[from:i], `"`))
			from = -1
		} else if !blank && from < 0 {
			from = i
		}
	}
	return out
}

func (t *table) atom3000(word []string, index map[int]int) error {
	if len(word) < 6 {
		return t.fail("atom of %d fields, want number, element, x, y, z and atom map", len(word))
	}
	number, err := strconv.Atoi(word[0])
	if err != nil {
		return t.fail("atom number %q, want a whole number", clip(word[0]))
	}
	if index[number] > 0 {
		return t.fail("second atom %d", number)
	}
	var a Atom
	if err := t.element(&a, word[1]); err != nil {
		if !strings.HasPrefix(word[1], "[") && !strings.HasPrefix(word[1], "NOT") {
			return err
		}
		// A list of elements is an unknown atom.
	}
	for k, p := range []*float64{&a.X, &a.Y, &a.Z} {
		x, err := strconv.ParseFloat(word[2+k], 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return t.fail("coordinate %q, want a number", clip(word[2+k]))
		}
		*p = x
	}
	if err := t.add(a, -1, 0); err != nil {
		return err
	}
	at := len(t.mol.Atoms) - 1
	index[number] = at + 1
	for _, w := range word[6:] {
		key, value, ok := strings.Cut(w, "=")
		if !ok || key != "CHG" && key != "RAD" && key != "MASS" && key != "VAL" {
			continue
		}
		v, err := strconv.Atoi(value)
		if err != nil {
			return t.fail("%s, want a whole number", clip(w))
		}
		switch key {
		case "MASS":
			err = t.property(at, "ISO", v)
		case "VAL":
			t.valence[at] = valenceCode(v)
		default:
			err = t.property(at, key, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *table) bond3000(word []string, index map[int]int) error {
	if len(word) < 4 {
		return t.fail("bond of %d fields, want number, type and two atoms", len(word))
	}
	var x [3]int
	for k := range x {
		n, err := strconv.Atoi(word[1+k])
		if err != nil {
			return t.fail("bond with %q, want whole numbers", clip(word[1+k]))
		}
		x[k] = n
	}
	for _, a := range x[1:] {
		if index[a] == 0 {
			return t.fail("bond to atom %d, which does not exist", a)
		}
	}
	return t.bond(index[x[1]], index[x[2]], x[0])
}
