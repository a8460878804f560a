package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

func wantError(t *testing.T, what string, data []byte, want string) {
	t.Helper()
	if _, err := Decode(data, 1); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want %q in it", what, err, want)
	}
}

// A change of any byte is noticed.
func TestBitFlips(t *testing.T) {
	data := encoded(t, smallModel(t))
	r := graphtest.Rand(1)
	header := fixedSize + int(binary.LittleEndian.Uint32(data[12:]))*entrySize + sha256.Size
	for i := range data {
		bits := []int{r.IntN(8)}
		if i < header {
			bits = []int{0, 1, 2, 3, 4, 5, 6, 7}
		} else if i%7 != 0 { // a section's checksum sees them all alike
			continue
		}
		for _, bit := range bits {
			data[i] ^= 1 << bit
			if _, err := Decode(data, 1); err == nil {
				t.Fatalf("bit %d of byte %d changed, and nothing was noticed", bit, i)
			} else if i >= header && !strings.Contains(err.Error(), "damaged: section") {
				t.Fatalf("byte %d: error %v, want that a section is damaged", i, err)
			}
			data[i] ^= 1 << bit
		}
	}
}

func TestTruncated(t *testing.T) {
	data := encoded(t, smallModel(t))
	wantError(t, "nothing", nil, "the file is empty")
	for n := 1; n < len(data); n += 1 + n/50 {
		wantError(t, "truncated", data[:n:n], "truncated")
	}
	wantError(t, "without the last byte", data[:len(data)-1], "truncated")
	wantError(t, "longer", append(slices.Clone(data), 0), "something was appended")
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
		if _, err := Read(path, 1); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want the path and %q in it", what, err, c.want)
		}
	}
	if _, err := Read(t.TempDir(), 1); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("folder: error %v", err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none"), 1); !os.IsNotExist(err) {
		t.Errorf("no file: error %v", err)
	}
	if _, err := Decode(data, 0); err == nil || !strings.Contains(err.Error(), "Workers = 0") {
		t.Errorf("no workers: error %v", err)
	}
}

// A newer file is told from a damaged one, whatever else its header has.
func TestVersions(t *testing.T) {
	data := encoded(t, smallModel(t))
	for v, want := range map[uint32]string{0: "format version 0", 3: "format version 3, this program reads up to 2", 1 << 31: "newer version of mlg"} {
		binary.LittleEndian.PutUint32(data[8:], v)
		wantError(t, "version", data, want)
		wantError(t, "version", reseal(data), want)
	}
}

// reseal puts right the checksums and the length of a file, as far as its header can be
// followed, so that what lies behind them is tried.
func reseal(data []byte) []byte {
	le := binary.LittleEndian
	data = slices.Clone(data)
	if len(data) < fixedSize {
		return data
	}
	le.PutUint64(data[16:], uint64(len(data)))
	size := fixedSize + uint64(le.Uint32(data[12:]))*entrySize
	if size+sha256.Size > uint64(len(data)) {
		return data
	}
	for at := uint64(fixedSize); at < size; at += entrySize {
		entry := data[at:][:entrySize]
		offset, length := le.Uint64(entry[nameSize:]), le.Uint64(entry[nameSize+8:])
		if offset <= uint64(len(data)) && length <= uint64(len(data))-offset {
			sum := sha256.Sum256(data[offset:][:length])
			copy(entry[nameSize+16:], sum[:])
		}
	}
	sum := sha256.Sum256(data[:size])
	copy(data[size:], sum[:])
	return data
}

// split returns the sections of a valid file in their order.
func split(t testing.TB, data []byte) []section {
	t.Helper()
	parts, err := unpack(data)
	if err != nil {
		t.Fatal(err)
	}
	var out []section
	for entry := data[fixedSize:]; len(out) < len(parts); entry = entry[entrySize:] {
		name, err := sectionName(entry[:nameSize])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, section{name, slices.Clone(parts[name])})
	}
	return out
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
	const nan = 0x7ff8000000000001
	for _, c := range []struct {
		section string
		change  func(b []byte) []byte // nil: the section is left out
		want    string
	}{
		{"meta", nil, "section meta is missing"},
		{"meta", replace("{", "["), "section meta: invalid character"},
		{"meta", replace(`"kernels":1`, `"kernels":2`), "section kernel/1 is missing"},
		{"meta", replace(`"kernels":1`, `"kernels":0`), "no kernel"},
		{"meta", replace(`"kernels":1`, `"kernels":"1"`), "cannot unmarshal string"},
		{"meta", func([]byte) []byte { return make([]byte, maxJSON+1) }, "want at most 1048576"},
		{"kernel/0", nil, "section kernel/0 is missing"},
		{"kernel/0", replace("mlg-low-rank", "ml"), `kernel/0: kernel of kind "ml" is not known`},
		{"kernel/0", replace("mlg-low-rank", "wl"), `kernel/0: variant ""`},
		{"kernel/0", replace("mlg-low-rank", "product"), "kernel 0: nothing fitted"},
		{"kernel/0", func([]byte) []byte { return []byte(`{"kind":"product","weight":1,"factors":2}`) }, "section kernel/0/0 is missing"},
		{"kernel/0", func([]byte) []byte { return []byte(`{"kind":"same","weight":1,"as":"kernel/0"}`) }, "does not stand before it"},
		{"kernel/0", func([]byte) []byte {
			return []byte(`{"kind":"wl","weight":1,"h":3,"variant":"subtree","labels":"auto"}`)
		}, "they are not in the model"},
		{"kernel/0", func([]byte) []byte {
			return []byte(`{"kind":"wl","weight":1,"h":1000000,"variant":"subtree","labels":"auto"}`)
		}, "want at most 1024"},
		{"kernel/0", replace(`"combine":"top"`, `"combine":"none"`), `combination of levels "none"`},
		{"kernel/0", replace(`"landmarks":"uniform"`, `"landmarks":"none"`), `choice of landmarks "none"`},
		{"kernel/0", replace(`"base":"labels"`, `"base":"labels*"`), `base kernel "labels*"`},
		{"kernel/0", replace(`"weight":1`, `"weight":0`), "kernel 0: weight 0"},
		{"kernel/0", replace(`"eta":0.1`, `"eta":1e999`), "section kernel/0: json"},
		{"kernel/0", replace(`"power":1`, `"power":100000000`), "want at most 1048576"},
		{"kernel/0", replace(`"radii":[1,2]`, `"radii":[1]`), "3 levels for 1 radii"},
		{"kernel/0", replace(`"graphs":16`, `"graphs":17`), "covariances of order"},
		{"kernel/0/level/0/descriptors", nil, "level/0/descriptors is missing"},
		{"kernel/0/level/0/descriptors", word(0, 1<<60), "too few for its strings"},
		{"kernel/0/level/0/descriptors", word(1, 1<<60), "string 0 has 1152921504606846976 bytes"},
		{"kernel/0/level/0/descriptors", word(1, 0), "bytes behind the last string"},
		{"kernel/0/level/1/marks", cut(1), "want 8 for each number"},
		{"kernel/0/level/1/marks", cut(8), "covariances of order"},
		{"kernel/0/level/1/marks", word(2, nan), "covariance entry 2 is NaN"},
		{"kernel/0/level/2/weights", word(2, nan), "weight 2 is NaN"},
		{"kernel/0/level/2/eigenvalues", word(0, 0), "eigenvalue 0 is 0"},
		{"kernel/0/train/0", nil, "kernel/0/train/0 is missing"},
		{"kernel/0/train/0", word(0, 0), "spd: matrix 0: diagonal entry 0 is 0"},
		{"learner", replace("classifier", "oracle"), `learner of kind "oracle"`},
		{"learner", replace("[0,10,20]", "[0,10]"), "2 labels and 3 names"},
		{"learner", replace("[0,10,20]", "[0,20,10]"), "want two or more in increasing order"},
		{"learner/classes", nil, "learner/classes is missing"},
		{"learner/machines", cut(48), "has 12 numbers, want 6 for each of 3"},
		{"learner/machines", word(0, 1<<40), "machine 0 has 1099511627776 coefficients"},
		{"learner/machines", word(0, 0), "coefficients behind the last machine"},
		{"learner/machines", word(2, nan), "machine 0: number 0 is NaN"},
		{"learner/machines", word(4, nan), "is NaN"},
		{"learner/support", word(0, 1<<63), "want increasing ones below 16"},
		{"learner/support", cut(8), "support positions, but"},
		{"learner/coefficients", word(0, nan), "machine 0: number 2 is NaN"},
		{"train/ids", nil, "train/ids is missing"},
		{"train/targets", func([]byte) []byte { return make([]byte, 8) }, "0 targets, want 16"},
		{"train/nearest", cut(8), "100 percentiles of similarity"},
	} {
		var parts []section
		for _, s := range split(t, valid) {
			if s.name == c.section {
				if c.change == nil {
					continue
				}
				s.data = c.change(s.data)
			}
			parts = append(parts, s)
		}
		var b bytes.Buffer
		if err := pack(&b, parts); err != nil {
			t.Fatal(err)
		}
		wantError(t, c.section, b.Bytes(), c.want)
	}
}

// A section that this version does not know is checked and left alone.
func TestUnknownSection(t *testing.T) {
	parts := append(split(t, encoded(t, smallModel(t))), section{"notes", []byte("hello")})
	var b bytes.Buffer
	if err := pack(&b, parts); err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(b.Bytes(), 1); err != nil {
		t.Error(err)
	}
}

// Wrong tables of sections with right checksums.
func TestWrongTable(t *testing.T) {
	valid := encoded(t, smallModel(t))
	le := binary.LittleEndian
	second := fixedSize + entrySize
	for want, change := range map[string]func(b []byte) []byte{
		"is there twice":          func(b []byte) []byte { copy(b[second:], b[fixedSize:][:nameSize]); return b },
		"section name":            func(b []byte) []byte { b[second] = 'A'; return b },
		"without a name":          func(b []byte) []byte { clear(b[second:][:nameSize]); return b },
		"want it at":              func(b []byte) []byte { b[second+nameSize]++; return b },
		"and inside the":          func(b []byte) []byte { le.PutUint64(b[second+nameSize+8:], 1<<63); return b },
		"behind its last section": func(b []byte) []byte { return append(b, make([]byte, 8)...) },
		"filled up with zeros": func(b []byte) []byte {
			at := le.Uint64(b[fixedSize+nameSize:]) + le.Uint64(b[fixedSize+nameSize+8:])
			if at%8 == 0 {
				t.Fatal("the first section is not filled up")
			}
			b[at] = 1
			return b
		},
		"truncated": func(b []byte) []byte { le.PutUint32(b[12:], 1<<32-1); return b },
	} {
		wantError(t, want, reseal(change(slices.Clone(valid))), want)
	}
}
