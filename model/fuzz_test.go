package model

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/learn"
)

// Loading never panics, and takes no more memory than a fixed amount and a multiple of the
// input: a batch of covariances is padded to eight, and JSON grows when it is read. What loads is
// written again to the same model.
func FuzzDecode(f *testing.F) {
	f.Add(encoded(f, smallModel(f)))
	m := fitted(f, drugs(f).Graphs[:4], small())
	m.Learner = learn.Learner{Examples: 4, Functions: []learn.Function{{Support: []int{1, 3}, Coefficients: []float64{1, -1}}}}
	f.Add(encoded(f, m))
	m.Learner = learn.Learner{Kind: learn.KernelRidge, Examples: 4, Functions: []learn.Function{{Coefficients: make([]float64, 4)}}}
	f.Add(encoded(f, m))
	f.Add(encoded(f, combined(f, graphtest.Suite(1), small())))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m := decode(t, data); m != nil {
			again, err := Decode(encoded(t, m))
			if err != nil {
				t.Fatalf("what was read cannot be read again: %v", err)
			}
			if !bytes.Equal(encoded(t, m), encoded(t, again)) {
				t.Fatal("written twice, the bytes differ")
			}
		}
	})
}

// decode decodes and measures what that allocates.
func decode(t *testing.T, data []byte) *Model {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := Decode(data)
	runtime.ReadMemStats(&after)
	const fixed, factor = 4 << 20, 320
	if took := after.TotalAlloc - before.TotalAlloc; took > fixed+factor*uint64(len(data)) {
		t.Fatalf("%d bytes allocated for %d bytes of input", took, len(data))
	}
	if err != nil {
		return nil
	}
	return m
}

// FuzzSections changes one section of a valid file, so that the fuzzer does not have to
// find its way through the header, and uses what can be read.
func FuzzSections(f *testing.F) {
	all := [][]file.Section{split(f, encoded(f, smallModel(f))), split(f, encoded(f, combined(f, graphtest.Suite(1), small())))}
	fresh := drugs(f).Graphs[20:22]
	attributed := graphtest.Suite(1)
	for k, parts := range all {
		for i, s := range parts {
			f.Add(k == 1, uint8(i), s.Data)
		}
	}
	f.Fuzz(func(t *testing.T, second bool, which uint8, data []byte) {
		parts := all[0]
		if second {
			parts = all[1]
		}
		changed := append([]file.Section(nil), parts...)
		s := &changed[int(which)%len(parts)]
		*s = file.Section{Name: s.Name, Data: data}
		m := decode(t, join(t, changed))
		if m == nil {
			return
		}
		// It may fail on graphs, as one whose weights overflow does, but not panic.
		if cheap(m) {
			m.Predict(t.Context(), fresh, PredictOptions{Nearest: 2})
			m.Kernel.Cross(t.Context(), attributed)
		}
	})
}

// cheap reports whether no kernel of a model asks for much work on small graphs.
func cheap(m *Model) bool {
	for _, f := range m.Kernel.Factors {
		switch k := f.Kernel.(type) {
		case mlg.Kernel:
			if k.Power >= 100 || k.Exact {
				return false
			}
		case classic.WL:
			if k.H > 20 {
				return false
			}
		case classic.ShortestPath, classic.Histogram:
		default:
			return false
		}
	}
	return true
}

// FuzzSums changes the content of files of sums whose checksums are right. What is read is written again to the same bytes.
func FuzzSums(f *testing.F) {
	d := manyGraphs(40, true)
	m, _, err := Learn(f.Context(), d, candidates(f, false)[:1], DefaultLearnOptions())
	if err != nil {
		f.Fatal(err)
	}
	r, err := NewRefiner(f.Context(), m)
	if err != nil {
		f.Fatal(err)
	}
	s, err := r.Sums(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	if err := r.Add(f.Context(), s, d.Graphs); err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.encode(&b); err != nil {
		f.Fatal(err)
	}
	list, err := file.Decode(b.Bytes(), sumsKind, sumsVersion)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(list[0].Data, list[1].Data)
	f.Add([]byte(`{"centres":2,"folds":2,"largest":1,"columns":[{"mean":0,"deviation":1,"bound":1}],"heaviest":1,"seen":"AA=="}`), make([]byte, 16+8*16))
	f.Add([]byte(`{"centres":2000000000,"folds":30000}`), []byte{1})
	f.Fuzz(func(t *testing.T, meta, fold []byte) {
		changed := []file.Section{{Name: "meta", Data: meta}}
		for f := range s.Folds {
			changed = append(changed, file.Section{Name: foldName(f), Data: fold})
		}
		var b bytes.Buffer
		if err := file.Encode(&b, sumsKind, sumsVersion, changed); err != nil {
			t.Fatal(err)
		}
		got, err := decodeSums(b.Bytes())
		if err != nil {
			return
		}
		var once, again bytes.Buffer
		if err := got.encode(&once); err != nil {
			t.Fatal(err)
		}
		if got, err = decodeSums(once.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := got.encode(&again); err != nil || !bytes.Equal(once.Bytes(), again.Bytes()) {
			t.Fatal("written twice, the bytes differ", err)
		}
	})
}
