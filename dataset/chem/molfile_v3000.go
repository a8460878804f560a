package chem

import (
	"slices"
	"strconv"
	"strings"
)

const v30 = "M  V30 "

// entry returns the next line of a V3000 table without its mark, joined with the lines
// that continue it. "END" stands for the line M  END, and for the end after an error.
func (t *table) entry() string {
	var text strings.Builder
	for {
		line := t.next()
		if strings.HasPrefix(line, "M  END") && text.Len() == 0 {
			return "END"
		}
		if !strings.HasPrefix(line, v30) {
			t.fail("%q, want a line that begins with M  V30", clip(line))
			return "END"
		}
		line = strings.TrimRight(line[len(v30):], " ")
		body, more := strings.CutSuffix(line, "-")
		text.WriteString(body)
		if !more {
			return text.String()
		}
	}
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// v3000 reads the blocks of a V3000 table. Blocks other than atoms and bonds are skipped.
func (t *table) v3000() {
	open := []string{""} // blocks, the innermost last
	var stated []int     // numbers of atoms and bonds
	for t.err == nil {
		line := t.entry()
		if line == "END" {
			if last := open[len(open)-1]; last != "" {
				t.fail("M  END before END %s", clip(last))
			}
			t.checkCounts(stated)
			return
		}
		word := fields3000(line)
		block := open[len(open)-1]
		switch {
		case len(word) == 0:
		case word[0] == "BEGIN" && len(word) > 1:
			open = append(open, word[1])
		case word[0] == "END" && len(word) > 1:
			if block != word[1] {
				t.fail("END %s without BEGIN %s", clip(word[1]), clip(word[1]))
			} else if len(open) > 1 {
				open = open[:len(open)-1]
			}
		case word[0] == "COUNTS" && block == "CTAB":
			stated = t.counts3000(word[1:], stated)
		case block == "ATOM":
			t.atom3000(word)
		case block == "BOND":
			t.bond3000(word)
		}
	}
}

// counts3000 reads the line COUNTS, which stands once.
func (t *table) counts3000(word []string, before []int) []int {
	n, err := wholeNumbers(word[:min(2, len(word))])
	if err != nil || len(n) < 2 || n[0] < 0 || n[1] < 0 {
		t.fail("COUNTS %s, want the numbers of atoms and bonds", clip(strings.Join(word, " ")))
	}
	if before != nil {
		t.fail("second line COUNTS")
	}
	return n
}

// checkCounts compares the numbers of the line COUNTS with what was read.
func (t *table) checkCounts(stated []int) {
	switch atoms, bonds := len(t.mol.Atoms), len(t.mol.Bonds); {
	case t.err != nil:
	case stated == nil:
		t.fail("no line COUNTS with the numbers of atoms and bonds")
	case stated[0] != atoms || stated[1] != bonds:
		t.fail("%d atoms and %d bonds, but COUNTS states %d and %d", atoms, bonds, stated[0], stated[1])
	}
}

// fields3000 splits at blanks, but not inside quotes and parentheses.
func fields3000(s string) []string {
	depth, quoted := 0, false
	out := strings.FieldsFunc(s, func(c rune) bool {
		switch c {
		case '"':
			quoted = !quoted
		case '(':
			depth++
		case ')':
			depth--
		}
		return c == ' ' && !quoted && depth <= 0
	})
	for i, w := range out {
		out[i] = strings.Trim(w, `"`)
	}
	return out
}

func (t *table) atom3000(word []string) {
	if len(word) < 6 {
		t.fail("atom with %d fields, want number, element, x, y, z and atom map", len(word))
		return
	}
	number, err := strconv.Atoi(word[0])
	if err != nil {
		t.fail("atom number %q, want a whole number", clip(word[0]))
	}
	if t.number[number] > 0 {
		t.fail("second atom with number %d", number)
	}
	var a Atom
	if !strings.HasPrefix(word[1], "[") && !strings.HasPrefix(word[1], "NOT") { // a list is an unknown atom
		t.element(&a, word[1])
	}
	a.X, a.Y, a.Z = t.coordinate("x", word[2]), t.coordinate("y", word[3]), t.coordinate("z", word[4])
	t.add(a, 0, 0)
	at := len(t.mol.Atoms) - 1
	t.number[number] = at + 1
	for _, w := range word[6:] {
		key, value, ok := strings.Cut(w, "=")
		if !ok || !slices.Contains([]string{"CHG", "RAD", "MASS", "VAL", "CFG"}, key) {
			continue
		}
		v, err := strconv.Atoi(value)
		if err != nil {
			t.fail("%s, want a whole number", clip(w))
		}
		if key == "CFG" {
			t.parity[at] = v
		} else {
			t.property(at, key, v)
		}
	}
}

func (t *table) bond3000(word []string) {
	if len(word) < 4 {
		t.fail("bond with %d fields, want number, type and two atoms", len(word))
		return
	}
	n, err := wholeNumbers(word[1:4])
	if err != nil {
		t.fail("bond: %w", err)
		return
	}
	for _, a := range n[1:] {
		if t.number[a] == 0 {
			t.fail("bond to atom %d, which does not exist", a)
		}
	}
	t.bond(t.number[n[1]], t.number[n[2]], n[0])
	for _, w := range word[4:] {
		t.wedge(w, "CFG=1", "CFG=3", "CFG=2")
	}
}
