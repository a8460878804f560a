package dataset

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The share of a file that was read grows to 1, compressed or not. Of what has no bytes in a row it is not known.
func TestShare(t *testing.T) {
	var b strings.Builder
	b.WriteString("smiles,y\n")
	for i := range 40_000 {
		fmt.Fprintf(&b, "CCCCCCCCCC,%x\n", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	text := b.String()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range map[string]string{"a.csv": text, "a.csv.gz": packed.String(), "a.smi": strings.ReplaceAll(text, ",", " ")} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		last := 0.0
		for n := 0; ; n++ {
			err := r.Pass()
			share := r.Share()
			if share < last {
				t.Fatalf("%s: share %v after %v", name, share, last)
			}
			if last = share; errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if n == 20_000 && (share < 0.45 || share > 0.55) {
				t.Errorf("%s: share %v of one half", name, share)
			}
		}
		if last < 0.999 {
			t.Errorf("%s: share %v at the end", name, last)
		}
		r.Close()
	}
	r, err := Open("builtin:drugs", DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Try(); err != nil || r.Share() != 0 {
		t.Errorf("share %v of what has no file, %v", r.Share(), err)
	}
}
