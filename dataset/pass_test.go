package dataset

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Pass goes over the same records as Try, in every kind of format.
func TestPass(t *testing.T) {
	dir := t.TempDir()
	var smiles, csv strings.Builder
	csv.WriteString("smiles,name,y\n")
	for i := range 300 { // more than decide what columns are
		c := strings.Repeat("C", 1+i%40)
		smiles.WriteString(c + "O x\n# comment\n\n")
		csv.WriteString(c + "O,x,1.5\n\n")
		if i%7 == 0 {
			smiles.WriteString("C(C bad\n")
			csv.WriteString("C(C,bad,2\nCC,short\n")
		}
	}
	jsonl := strings.Repeat(`{"nodes":2,"edges":[[0,1]],"target":"a"}`+"\n\n", 5)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sdf := "a\n\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 C   0  0\nM  END\n> <y>\n1\n\n$$$$\n"
	edges := "0 1\n1 2\n"
	read := func(path string, pass func(n int) bool) (records int, ids string) {
		t.Helper()
		r, err := Open(path, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for ; ; records++ {
			if pass(records) {
				err = r.Pass()
			} else {
				g, e := r.Try()
				if err = e; g != nil {
					ids += g.ID() + " " + g.Target() + ","
				}
			}
			if errors.Is(err, io.EOF) {
				return records, ids
			}
			if err != nil {
				t.Fatalf("%s, record %d: %v", path, records, err)
			}
		}
	}
	never, always := func(int) bool { return false }, func(int) bool { return true }
	odd := func(n int) bool { return n%2 == 1 }
	for _, path := range []string{
		write("a.smi", smiles.String()), write("a.csv", csv.String()), write("a.tsv", strings.NewReplacer(",", "\t", "1.5", "1.6").Replace(csv.String())),
		write("a.jsonl", jsonl), write("a.sdf", sdf+sdf), write("a.edges", edges), "builtin:drugs", "builtin:scales",
	} {
		n, ids := read(path, never)
		again, none := read(path, always)
		if again != n {
			t.Errorf("%s: %d records when they are passed, want %d", path, again, n)
		}
		some, half := read(path, odd)
		if some != n || n > 2 && (len(half) <= len(none) || len(half) >= len(ids)) {
			t.Errorf("%s: %d records when half are passed, want %d; graphs %q", path, some, n, half)
		}
	}
}
