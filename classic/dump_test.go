package classic

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// TestDump writes normalised Gram matrices for bench/grakel/compare.py, as little-endian
// float64 in row-major order, with the seconds that Fit and Gram took (the best of three),
// into the folder that MLG_DUMP names. MLG_DUMP_DATASETS names the datasets; MUTAG stands for them in tests.
// MLG_DUMP_KERNELS names the keys and MLG_DUMP_GRAPHS the number of graphs where not all are wanted.
func TestDump(t *testing.T) {
	graphtest.Long(t)
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
	addAttributed(ks)
	ks["propagation"] = Propagation{Steps: 4, Distance: L1, Width: 1e-9, Seed: 1, Labels: Labels, Normalize: true}
	ks["neighborhood-hash"], ks["pyramid-match"] = DefaultNeighborhoodHash(), DefaultPyramidMatch()
	for _, name := range strings.Split(cmp.Or(os.Getenv("MLG_DUMP_DATASETS"), "MUTAG"), ",") {
		all := loadDataset(t, name)
		if n, _ := strconv.Atoi(os.Getenv("MLG_DUMP_GRAPHS")); n > 0 {
			all = all[:min(n, len(all))]
		}
		seconds := map[string]float64{}
		for key, k := range ks {
			graphs := dumped(key, all)
			wanted := strings.Split(cmp.Or(os.Getenv("MLG_DUMP_KERNELS"), key), ",")
			if !slices.Contains(wanted, key) || strings.HasSuffix(key, "-attributes") && all[0].AttributeDim() == 0 {
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

// addAttributed adds kernels on attributes, whose keys end so.
func addAttributed(ks map[string]kernel.Kernel) {
	sp := DefaultShortestPath()
	sp.Ordered, sp.Labels = true, Attributes
	ks["sp-attributes"] = sp
	ks["propagation-attributes"] = Propagation{Steps: 4, Distance: L1, Width: 1e-8, Seed: 1, Labels: Attributes, Normalize: true}
	for key, s := range map[string]Similarity{"hopper-linear-attributes": Linear, "hopper-gaussian-attributes": Gaussian} {
		k := DefaultGraphHopper()
		k.Similarity, k.Labels = s, Attributes
		ks[key] = k
	}
}

// dumped returns the graphs on which the kernel of a key is compared: few where GraKeL takes long, and for paths
// by place those that are connected, which it needs.
func dumped(key string, graphs []*graph.Graph) []*graph.Graph {
	switch {
	case key == "sp-attributes":
		return graphs[:min(8, len(graphs))]
	case strings.HasPrefix(key, "hopper-"):
		var s search
		connected := slices.DeleteFunc(slices.Clone(graphs), func(g *graph.Graph) bool { return g.N() < 2 || len(s.from(g, 0, nil)) < g.N() })
		return connected[:min(100, len(connected))]
	}
	return graphs
}
