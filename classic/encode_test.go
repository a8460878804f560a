package classic

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// encodedKernels have every form of encoded features: whole numbers, others, minima, blocks, levels
// and graphs.
func encodedKernels() []kernel.Kernel {
	return []kernel.Kernel{
		DefaultWL(), WL{H: 2, Variant: Assignment, Labels: Auto}, DefaultNSPD(), DefaultGraphHopper(),
		Core{Base: "sp"}, WL{H: 1, Variant: Subtree, Base: "nspd r=1", Labels: Auto}, DefaultNeighborhoodHash(),
	}
}

// Whatever the bytes are, decoding ends with features that can be compared, or with an error.
func FuzzDecodeFeatures(f *testing.F) {
	graphs := []*graph.Graph{labelledGraph(f, "CCO", "01 12"), labelledGraph(f, "CCON", "01 12 23 30"), labelledGraph(f, "", "")}
	var maps []kernel.Map
	for n, k := range encodedKernels() {
		fitted, err := k.Fit(f.Context(), graphs)
		if err != nil {
			f.Fatal(err)
		}
		maps = append(maps, fitted.Map)
		data, err := fitted.Train.AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(n, data)
	}
	f.Add(0, binary.AppendUvarint(nil, math.MaxUint64))
	f.Fuzz(func(t *testing.T, n int, data []byte) {
		m := maps[uint(n)%uint(len(maps))]
		x, err := m.DecodeFeatures(data)
		if err != nil {
			return
		}
		if x.Len() > len(data) {
			t.Fatalf("%d graphs of %d bytes", x.Len(), len(data))
		}
		gram, err := kernel.Between(t.Context(), m, x, m.Join(x, x.Select(nil)))
		if err != nil {
			t.Fatal(err)
		}
		again, err := x.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		y, err := m.DecodeFeatures(again)
		if err != nil {
			t.Fatal(err)
		}
		other, err := kernel.Between(t.Context(), m, y, y)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range gram.Data {
			if v != other.Data[i] && !math.IsNaN(v) {
				t.Fatalf("value %d is %v, and %v when it is encoded again", i, v, other.Data[i])
			}
		}
	})
}

// A map that does not fit its kernel is an error.
func TestDecodeErrors(t *testing.T) {
	wl, core := DefaultWL(), DefaultCore()
	degrees := wl
	degrees.Labels = Degrees
	for _, c := range []struct {
		kernel     kernel.Kernel
		data, want string
	}{
		{wl, "", "wl: no number of attributes"},
		{wl, "\x00other", `wl: labels = "other", want those of "auto"`},
		{degrees, "\x00labels", `wl: labels = "labels", want those of "degrees"`},
		{core, "", "core: the data end early"},
		{WL{H: -1, Variant: Subtree, Labels: Auto}, "\x00labels", "wl: h = -1, want 0 to 65536"},
	} {
		if _, err := c.kernel.Decode([]byte(c.data)); err == nil || err.Error() != c.want {
			t.Errorf("%s from %q: error %v, want %s", c.kernel, c.data, err, c.want)
		}
	}
	m, err := wl.Decode([]byte("\x00labels"))
	if err != nil {
		t.Fatal(err)
	}
	one := string(make([]byte, 8))
	for data, want := range map[string]string{
		"":                             "the data end early",
		"\x00\x09":                     "9 things of at least 1 bytes, but 0 bytes are left",
		"\x00\x00\x02\x00\x00":         "2 blocks of features of kind 0: these are of another kernel",
		"\x00\x00\x01\x01":             "1 things of at least 8 bytes, but 0 bytes are left",
		"\x00\x00\x01\x02" + one + one: "hashes are not in ascending order",
		"\x00\x01\x01\x01" + one + "\x01\x01\x01": "graph 0: a feature beyond the last of 1",
		"\x00\x00\x01\x00\x00":                    "1 bytes behind the last graph",
	} {
		if _, err := m.DecodeFeatures([]byte(data)); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", data, err, want)
		}
	}
	// Labels where training had none stay an error.
	m, err = wl.Decode([]byte("\x00degrees"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Transform(t.Context(), []*graph.Graph{labelledGraph(t, "C", "")}); err == nil || err.Error() != "wl: graph 0 has labels, the training graphs have none" {
		t.Errorf("error %v", err)
	}
}

// Every bit of a word changes every bit of the hash in half of the cases, and small keys are different.
func TestHash(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const tries = 4000
	for _, length := range []int{1, 3} {
		for word := range length {
			for bit := range 64 {
				changed := [64]int{}
				for range tries {
					key := make([]uint64, length)
					for i := range key {
						key[i] = rng.Uint64N(1 << 20)
					}
					before := hashWords(key...)
					key[word] ^= 1 << bit
					for x := before ^ hashWords(key...); x != 0; x &= x - 1 {
						changed[bits.TrailingZeros64(x)]++
					}
				}
				for b, n := range changed {
					if math.Abs(float64(n)/tries-0.5) > 0.06 { // over 7 standard deviations
						t.Fatalf("bit %d of word %d changes bit %d in %d of %d cases", bit, word, b, n, tries)
					}
				}
			}
		}
	}
	seen := map[uint64]bool{}
	add := func(h uint64) {
		if seen[h] {
			t.Fatal("a collision")
		}
		seen[h] = true
	}
	add(hashWords())
	for a := range uint64(300) {
		add(hashWords(a))
		for b := range uint64(300) {
			add(hashWords(a, b))
			add(hashWords(hashWords(a), b))
			add(hashWords(a, hashWords(b)))
		}
	}
	for _, text := range []string{"", "\x00", "\x00\x00", "a", "a\x00", "aaaaaaaa", "aaaaaaaa\x00", "aaaaaaaaa"} {
		add(hashLabel(text))
	}
}

// Graphs without the higher levels of others can be selected, written and read.
func TestSelectedLevels(t *testing.T) {
	graphs := []*graph.Graph{labelledGraph(t, "CCO", "01 12"), labelledGraph(t, "CCCC", "01 02 03 12 13 23"), labelledGraph(t, "CC", "01")}
	f, err := Core{Base: "sp"}.Fit(t.Context(), graphs)
	if err != nil {
		t.Fatal(err)
	}
	data, err := f.Train.Select([]int{2, 0}).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := f.DecodeFeatures(data)
	if err != nil {
		t.Fatal(err)
	}
	got, err := kernel.Between(t.Context(), f.Map, back, f.Train)
	if err != nil {
		t.Fatal(err)
	}
	want, err := f.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range []int{2, 0} {
		for j := range graphs {
			if got.At(i, j) != want.At(g, j) {
				t.Errorf("kernel of graphs %d and %d is %v, want %v", g, j, got.At(i, j), want.At(g, j))
			}
		}
	}
}
