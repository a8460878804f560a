package model

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/svm"
)

// Loading never panics, and takes no more memory than a fixed amount and a multiple of the
// input: a batch of covariances is padded to eight, JSON grows when it is read, and an edge
// of a dense graph takes a byte in the file and 48 in a list that grows. What loads is written
// again to the same model.
func FuzzDecode(f *testing.F) {
	f.Add(encoded(f, smallModel(f)))
	m := fitted(f, drugs(f).Graphs[:4], small())
	m.Learner = &Learner{Regressor: &svm.Regressor{Examples: 4, Support: []int{1, 3}, Coefficients: []float64{1, -1}}}
	f.Add(encoded(f, m))
	m.Learner = &Learner{Ridge: &svm.Ridge{Coefficients: make([]float64, 4), LeaveOneOut: make([]float64, 4)}}
	f.Add(encoded(f, m))
	f.Add(encoded(f, combined(f, graphtest.Suite(1), small())))
	f.Fuzz(func(t *testing.T, data []byte) {
		decode(t, data)
		if m := decode(t, reseal(data)); m != nil {
			again, err := Decode(encoded(t, m), 1)
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
	m, err := Decode(data, 1)
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
	all := [][]section{split(f, encoded(f, smallModel(f))), split(f, encoded(f, combined(f, graphtest.Suite(1), small())))}
	fresh := drugs(f).Graphs[20:22]
	attributed := graphtest.Suite(1)
	for k, parts := range all {
		for i, s := range parts {
			f.Add(k == 1, uint8(i), s.data)
		}
	}
	f.Fuzz(func(t *testing.T, second bool, which uint8, data []byte) {
		parts := all[0]
		if second {
			parts = all[1]
		}
		changed := append([]section(nil), parts...)
		s := &changed[int(which)%len(parts)]
		*s = section{s.name, data}
		var b bytes.Buffer
		if err := pack(&b, changed); err != nil {
			t.Fatal(err)
		}
		m := decode(t, b.Bytes())
		if m == nil {
			return
		}
		// It may fail on graphs, as one whose weights overflow does, but not panic.
		if cheap(m) {
			m.Predict(t.Context(), fresh, 2)
			m.Search(t.Context(), attributed, 2)
		}
	})
}

// cheap reports whether no kernel of a model asks for much work on small graphs.
func cheap(m *Model) bool {
	for _, k := range m.Kernels {
		for _, f := range k.Factors {
			if f.Fitted != nil && f.Fitted.Options().Power >= 100 {
				return false
			}
			if f.Baseline != nil {
				if b, err := baselineToJSON(f.Baseline.kernel); err != nil || b.H > 20 || b.Samples > 1000 || b.P > 6 || b.Kind == kindInfiniteWalk {
					return false
				}
			}
		}
	}
	return true
}

// Headers that claim much cost little.
func TestBoundedMemory(t *testing.T) {
	data := encoded(t, smallModel(t))
	for _, at := range []int{12, 16, 20, fixedSize + nameSize + 8} {
		b := append([]byte(nil), data...)
		binary.LittleEndian.PutUint32(b[at:], 1<<31-1)
		decode(t, b)
	}
}
