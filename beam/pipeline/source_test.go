package pipeline

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
)

// However a file is cut, its graphs and the lines where they stand are the same.
func TestLines(t *testing.T) {
	var text strings.Builder
	text.WriteString("\xef\xbb\xbf")
	var want []string
	for line := 1; line <= 12; line++ {
		switch line {
		case 3, 7:
			text.WriteString("\n")
			continue
		case 8:
			text.WriteString("nothing\n")
			want = append(want, fmt.Sprintf("bad line %d", line))
			continue
		}
		fmt.Fprintf(&text, `{"id":"g%d","nodes":1,"edges":[]}`, line)
		want = append(want, fmt.Sprintf("g%d line %d", line, line))
		switch {
		case line == 12: // no end
		case line%2 == 0:
			text.WriteString("\r\n")
		default:
			text.WriteString("\n")
		}
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Inputs = []string{path}
	for o.PartBytes = 1; o.PartBytes <= text.Len()+1; o.PartBytes++ {
		all, err := parts(t.Context(), &o)
		if err != nil {
			t.Fatal(err)
		}
		for _, batch := range []int{1, 5, 100} {
			var got []string
			for i := range all {
				src, err := all[i].open(t.Context(), dataset.DefaultOptions())
				if err != nil {
					t.Fatal(err)
				}
				for {
					items, err := src.next(batch)
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					for _, x := range items {
						name := "bad"
						if x.err == nil {
							name = x.graph.ID()
						}
						got = append(got, name+" line "+strings.TrimPrefix(src.place(x.number), path+":"))
					}
				}
				if err := src.close(); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Join(got, ", ") != strings.Join(want, ", ") {
				t.Fatalf("parts of %d bytes, batches of %d:\n%v, want\n%v", o.PartBytes, batch, got, want)
			}
		}
	}
}

// A line beyond the limit is an error that names the file.
func TestLongLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.smi")
	if err := os.WriteFile(path, []byte("C\n"+strings.Repeat("C", 5000)+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	o := dataset.DefaultOptions()
	o.Limits.Line = 4096
	p := part{Path: path, Format: string(dataset.SMILES), Lines: true}
	src, err := p.open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer src.close()
	if _, err := src.next(10); err == nil || !strings.Contains(err.Error(), path+":2: line longer than 4096 bytes") {
		t.Errorf("error %v", err)
	}
}
