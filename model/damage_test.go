package model

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

func wantError(t *testing.T, what string, data []byte, want string) {
	t.Helper()
	if _, err := Decode(data); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want %q in it", what, err, want)
	}
}

// A change of any bit is noticed; package file tries all of a small container.
func TestBitFlips(t *testing.T) {
	data := encoded(t, smallModel(t))
	r := graphtest.Rand(1)
	for i := 0; i < len(data); i += 1 + r.IntN(13) {
		bit := r.IntN(8)
		data[i] ^= 1 << bit
		if _, err := Decode(data); err == nil {
			t.Fatalf("bit %d of byte %d changed, and nothing was noticed", bit, i)
		}
		data[i] ^= 1 << bit
	}
}

func TestForeign(t *testing.T) {
	data := encoded(t, smallModel(t))
	for what, c := range map[string]struct{ data, want string }{
		"text":       {"graph 1\n2 3\n", "not an mlg model file"},
		"png":        {"\x89PNG\r\n\x1a\n", "not an mlg model file"},
		"gzip":       {"\x1f\x8b\x08\x00\x00\x00\x00\x00", "not an mlg model file"},
		"line ends":  {strings.ReplaceAll(string(data), "\r\n", "\n"), "changed in transfer"},
		"line ends2": {strings.ReplaceAll(string(data), "\n", "\r\n"), "changed in transfer"},
		"seven bits": {"\x09MLG\r\n\x1a\n" + string(data[8:]), "changed in transfer"},
	} {
		wantError(t, what, []byte(c.data), c.want)
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(c.data), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want the path and %q in it", what, err, c.want)
		}
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("folder: error %v", err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("no file: error %v", err)
	}
}

// split returns the sections of a valid file in their order.
func split(t testing.TB, data []byte) []file.Section {
	t.Helper()
	parts, err := file.Decode(data, Kind, Version)
	if err != nil {
		t.Fatal(err)
	}
	var out []file.Section
	for _, s := range parts {
		out = append(out, file.Section{Name: s.Name, Data: slices.Clone(s.Data)})
	}
	return out
}

func join(t testing.TB, parts []file.Section) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := file.Encode(&b, Kind, Version, parts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Files whose checksums are right, but not what they hold.
func TestWrongContent(t *testing.T) {
	valid := encoded(t, smallModel(t))
	replace := func(old, new string) func(b []byte) []byte {
		return func(b []byte) []byte {
			out := bytes.Replace(b, []byte(old), []byte(new), 1)
			if bytes.Equal(out, b) {
				t.Fatalf("%q is not in %q", old, b)
			}
			return out
		}
	}
	word := func(i int, x uint64) func(b []byte) []byte {
		return func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[8*i:], x)
			return b
		}
	}
	cut := func(n int) func(b []byte) []byte { return func(b []byte) []byte { return b[:len(b)-n] } }
	unpacked := func(change func(b []byte) []byte) func(b []byte) []byte {
		return func(b []byte) []byte {
			data, err := decompress(b)
			if err != nil {
				t.Fatal(err)
			}
			if data, err = compress(change(data)); err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
	const nan = 0x7ff8000000000001
	for _, c := range []struct {
		section string
		change  func(b []byte) []byte // nil: the section is left out
		want    string
	}{
		{"meta", nil, "section meta is missing"},
		{"meta", replace("{", "["), "section meta: invalid character"},
		{"meta", replace(`"kernel":"mlg`, `"kernel":"some`), `kernel "some", want one of`},
		{"meta", replace(`"kernel":"mlg`, `"kernel":"0 mlg`), "the weight 0"},
		{"meta", replace("combine=top", "combine=none"), `combine = "none"`},
		{"meta", replace("landmarks=uniform", "landmarks=none"), `landmarks = "none"`},
		{"meta", replace("eta=0.1", "eta=1e999"), `eta = "1e999"`},
		{"meta", replace("power=1", "power=100000000"), "want 1 to 1048576"},
		{"meta", replace("radii=1,2", "radii=1"), "3 levels for 1 radii"},
		{"meta", replace(`"kernel":"mlg`, `"kernel":"mlg more=1`), "no parameter more"},
		{"meta", replace(`"endpoints":[`, `"endpoints":[],"other":[`), "0 endpoints, want 1 to 4096"},
		{"meta", replace(`"endpoints":[`, `"endpoints":[`+strings.Repeat(`{"kernel":"wl"},`, maxEndpoints)), "4097 endpoints, want 1 to 4096"},
		{"meta", func([]byte) []byte { return make([]byte, maxMeta+1) }, "want at most 1048576"},
		{"endpoint/0/learner", func([]byte) []byte { return bytes.Repeat([]byte("{}"), maxObjects+1) }, "want at most 262144"},
		{"meta", replace(`base=\"\"`, "base=degree"), "section map: mlg base=degree bonds=false samples=8 rank=3: base kernel labels, want degree"},
		{"map", nil, "section map is missing"},
		{"map", cut(8), "bytes, but"},
		{"map", replace(`"base":"labels"`, `"base":"lab*ls"`), `kernel on vertices "lab"`},
		{"map", word(1, 1<<60), "a section of 1152921504606846976 bytes"},
		{"train/features", nil, "train/features is missing"},
		{"train/features", func([]byte) []byte { return nil }, "end early"},
		{"train/features", word(0, 1<<60), "times as many"},
		{"train/features", word(0, 17), "train/features: "},
		{"train/features", unpacked(cut(8)), "bytes, but"},
		{"train/features", unpacked(word(1, 17)), "matrices of 17 graphs"},
		{"train/features", unpacked(word(2, nan)), "not positive definite"},
		{"train/graphs", nil, "train/graphs is missing"},
		{"endpoint/0/classes", nil, "endpoint/0/classes is missing"},
		{"endpoint/0/learner", replace("{", "["), "section endpoint/0/learner: "},
		{"endpoint/0/learner", replace(`"Kind":0`, `"Kind":7`), "kind 7"},
		{"endpoint/0/learner", replace("[0,10,20]", "[0,10]"), "2"},
		{"endpoint/0/learner", replace("[0,10,20]", "[0,20,10]"), "increasing order"},
		{"endpoint/0/learner", replace(`"Functions":[{`, `"Functions":[{},{`), "4 functions for 3 classes"},
		{"endpoint/0/learner", replace(`"Support":[`, `"Support":[-1,`), "support examples of 16"},
		{"endpoint/0/learner", replace(`"Support":[`, `"Support":[16,`), "support examples of 16"},
		{"endpoint/0/learner", replace(`"Coefficients":[`, `"Coefficients":[1e999,`), "1e999"},
		{"endpoint/0/learner", replace(`"Iterations":`, `"Iterations":-`), "iterations, want 0 or more"},
		{"endpoint/0/learner", replace(`"Examples":16`, `"Examples":17`), "trained on 17 graphs, want 16"},
		{"endpoint/0/learner", replace(`"Slope":`, `"Slope":-`), "want 0, or a positive number"},
		{"train/ids", nil, "train/ids is missing"},
		{"endpoint/0/targets", func([]byte) []byte { return make([]byte, 8) }, "0 targets, want 16, one for each training graph"},
		{"endpoint/0/nearest", cut(8), "100 percentiles of similarity"},
	} {
		var parts []file.Section
		for _, s := range split(t, valid) {
			if s.Name == c.section {
				if c.change == nil {
					continue
				}
				s.Data = c.change(s.Data)
			}
			parts = append(parts, s)
		}
		wantError(t, c.section, join(t, parts), c.want)
	}
}

// A section that this version does not know is checked and left alone.
func TestUnknownSection(t *testing.T) {
	parts := append(split(t, encoded(t, smallModel(t))), file.Section{Name: "notes", Data: []byte("hello")})
	if _, err := Decode(join(t, parts)); err != nil {
		t.Error(err)
	}
}
