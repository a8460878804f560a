package baseline

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/kernel"
)

// TestDump writes normalised Gram matrices for bench/grakel/compare.py, as little-endian
// float64 in row-major order, with the seconds that Fit and Gram took (the best of three),
// into the folder that MLG_DUMP names. MLG_DUMP_DATASETS names the datasets; MUTAG stands for them in tests.
// MLG_DUMP_KERNELS names the keys where not all are wanted.
func TestDump(t *testing.T) {
	dir := cmp.Or(os.Getenv("MLG_DUMP"), t.TempDir())
	ordered := DefaultShortestPath()
	ordered.Ordered = true
	wl, oa := DefaultWL(), DefaultWL()
	oa.Variant = Assignment
	ks := map[string]kernel.Kernel{"labels": DefaultHistogram(), "wl": wl, "wl-oa": oa, "sp": DefaultShortestPath(), "sp-ordered": ordered}
	ks["rw-geometric"] = DefaultPlainWalk()
	for k, name := range map[int]string{3: "graphlet3", 4: "graphlet4", 5: "graphlet5"} {
		g := DefaultGraphlet()
		g.K = k
		ks[name] = g
		g.Connected = true
		ks[name+"-connected"] = g
	}
	addSubgraphs(ks)
	for _, name := range strings.Split(cmp.Or(os.Getenv("MLG_DUMP_DATASETS"), "MUTAG"), ",") {
		graphs := loadDataset(t, name)
		seconds := map[string]float64{}
		for key, k := range ks {
			wanted := strings.Split(cmp.Or(os.Getenv("MLG_DUMP_KERNELS"), key), ",")
			if !slices.Contains(wanted, key) {
				continue
			}
			var m *kernel.Matrix
			for try := range 3 {
				start := time.Now()
				m = fitGram(t, k, firstOf(key, graphs))
				if s := time.Since(start).Seconds(); try == 0 || s < seconds[key] {
					seconds[key] = s
				}
			}
			f, err := os.Create(filepath.Join(dir, name+"."+key+".f64"))
			if err != nil {
				t.Fatal(err)
			}
			w := bufio.NewWriter(f)
			if err := binary.Write(w, binary.LittleEndian, m.Data); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		data, err := json.Marshal(seconds)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".seconds.json"), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
