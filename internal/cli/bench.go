package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/work"
)

type benchCmd struct {
	Data     []string `arg:"" help:"Datasets. Without any: the rate of pairs, builtin:drugs, and all collections in the cache and in --datasets." optional:""`
	Rounds   int      `help:"Number of runs; the fastest counts." default:"3" least:"1"`
	Ranks    []int    `help:"Ranks for which the rate of pairs is measured." default:"5,10,20,40"`
	Datasets string   `help:"Folder of TUDataset collections." env:"MLG_DATASETS" placeholder:"FOLDER"`
	Markdown bool     `help:"Print Markdown."`
	sourceFlags
}

// benchReport is what bench finds.
type benchReport struct {
	Machine  string        `json:"machine"`
	Threads  int           `json:"threads"`
	Rates    []pairRate    `json:"pair_rates,omitempty"`
	Datasets []benchResult `json:"datasets"`
}

// stageTimes sums the time that workers spend in the stages of a computation.
type stageTimes struct {
	mu      sync.Mutex
	order   []string
	seconds map[string]float64
}

func (s *stageTimes) trace(stage string) func() {
	start := time.Now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, ok := s.seconds[stage]; !ok {
			s.order = append(s.order, stage)
		}
		s.seconds[stage] += time.Since(start).Seconds()
	}
}

// benchResult is what bench finds for a dataset.
type benchResult struct {
	Dataset    string             `json:"dataset"`
	Kernel     string             `json:"kernel"`
	Graphs     int                `json:"graphs"`
	Seconds    float64            `json:"seconds"`          // from the first byte to the matrix, the fastest run
	All        []float64          `json:"all_seconds"`      // of every run
	Stages     map[string]float64 `json:"stages,omitempty"` // seconds, summed over workers, of the fastest run
	PeakMemory int64              `json:"peak_memory"`      // bytes of the whole process so far
	Work       []stageWork        `json:"work,omitempty"`   // of the low-rank kernel
	order      []string
}

// stageWork is the arithmetic that a stage cannot do without.
type stageWork struct {
	Stage string  `json:"stage"`
	What  string  `json:"what"`
	Flops float64 `json:"flops"`
}

// pairFlops counts the operations of one kernel value of two covariances of order p: the
// sum of the matrices and the factorisation of it, a multiplication and an addition each.
func pairFlops(p int) float64 {
	x := float64(p)
	return 2 * ((x*x*x-x)/6 + x*(x-1)/2)
}

// workOf returns the arithmetic of fitting a model and of its Gram matrix.
func workOf(m *mlg.LowRank, graphs int) []stageWork {
	levels := len(m.Kernel().Radii)
	var out []stageWork
	for l := 1; l <= levels; l++ {
		c, n, below, p := m.Classes(l), m.Samples(l), m.Rank(l-1), m.Rank(l)
		out = append(out, stageWork{"landmarks", fmt.Sprintf("level %d: %d classes × %d landmarks, order %d; projection to %d", l, c, n, below, p),
			float64(c) * float64(n) * (pairFlops(below) + 2*float64(p))})
	}
	p := m.Rank(levels)
	pairs := float64(graphs) * float64(graphs+1) / 2
	return append(out, stageWork{"gram", fmt.Sprintf("%d graphs, %.3g pairs, order %d", graphs, pairs, p), pairs * pairFlops(p)})
}

// Run measures the rate of pairs, and the time from reading a dataset to its Gram matrix in
// memory.
func (c *benchCmd) Run(g *globals) error {
	for _, p := range c.Ranks {
		if p < 1 || p > 1000 {
			return usageError(fmt.Sprintf("--ranks %d: want ranks from 1 to 1000", p))
		}
	}
	r := benchReport{Machine: machine(), Threads: g.workers()}
	data := c.Data
	if len(data) == 0 {
		for _, p := range c.Ranks {
			g.bar.show(fmt.Sprintf("pairs, rank %d", p), 0, 0, "")
			x, err := measurePairs(g, p)
			if err != nil {
				return err
			}
			r.Rates = append(r.Rates, x)
		}
		data = append([]string{"builtin:drugs"}, c.present()...)
	}
	for _, path := range data {
		g.bar.show(filepath.Base(path), 0, 0, "")
		var best benchResult
		var all []float64
		for i := range c.Rounds {
			x, err := c.once(g, path)
			if err != nil {
				return err
			}
			all = append(all, x.Seconds)
			if i == 0 || x.Seconds < best.Seconds {
				best = *x
			}
		}
		best.All, best.PeakMemory = all, peakMemory()
		r.Datasets = append(r.Datasets, best)
	}
	switch {
	case g.JSON:
		return printJSON(g.stdout, r)
	case c.Markdown:
		r.markdown(g.stdout)
	default:
		r.text(g.stdout)
	}
	return nil
}

// present returns the collections in the cache and in the folder of --datasets, by name.
func (c *benchCmd) present() []string {
	found := map[string]string{}
	if dir, err := dataset.CacheDir(); err == nil {
		zips, _ := filepath.Glob(filepath.Join(dir, "tudataset", "*.zip")) // the pattern is right
		for _, z := range zips {
			found[strings.TrimSuffix(filepath.Base(z), ".zip")] = z
		}
	}
	if c.Datasets != "" {
		entries, _ := os.ReadDir(c.Datasets) // no folder, no collections
		for _, e := range entries {
			path := filepath.Join(c.Datasets, e.Name())
			if _, err := os.Stat(filepath.Join(path, e.Name()+"_A.txt")); err == nil {
				found[e.Name()] = path
			}
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[name])
	}
	return out
}

// rates is the table of the rates of pairs.
func (r *benchReport) rates() *table.Table {
	out := &table.Table{Header: []string{"rank", "ns for a pair", "M/s", "GFlop/s", fmt.Sprintf("M/s, %d threads", r.Threads)}}
	for _, x := range r.Rates {
		out.Add(strconv.Itoa(x.Rank), fmt.Sprintf("%.1f", 1e9/x.Single), fmt.Sprintf("%.2f", x.Single/1e6),
			fmt.Sprintf("%.1f", x.Single*pairFlops(x.Rank)/1e9), fmt.Sprintf("%.2f", x.All/1e6))
	}
	return out
}

// text writes the report for a terminal of 80 columns.
func (r *benchReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s, %d threads\n", r.Machine, r.Threads)
	if len(r.Rates) > 0 {
		fmt.Fprintln(w, "\nPairs of covariances, in one thread and in all")
		r.rates().Write(w, "  ")
	}
	for _, x := range r.Datasets {
		fmt.Fprintf(w, "\n%s: %d graphs\n  %s\n", x.Dataset, x.Graphs, table.Wrap(x.Kernel, 2, 2))
		fmt.Fprintf(w, "  %-12s %9.1f ms   (%d runs, slowest %.1f ms)\n", "wall time", 1e3*x.Seconds, len(x.All), 1e3*slices.Max(x.All))
		for _, s := range x.order {
			fmt.Fprintf(w, "  %-12s %9.1f ms   %s\n", s, 1e3*x.Stages[s], stageClock(s))
		}
		fmt.Fprintf(w, "  %-12s %9.0f MB   of the process so far\n", "peak memory", float64(x.PeakMemory)/1e6)
		for _, k := range x.Work {
			most := ""
			if k.Stage == "landmarks" {
				most = " at most: small neighbourhoods take less"
			}
			fmt.Fprintf(w, "  %-12s %9.3f GFlop%s\n  %12s %s\n", k.Stage, k.Flops/1e9, most, "", k.What)
		}
	}
}

// stageClock says what the time of a stage means.
func stageClock(stage string) string {
	switch stage {
	case "read", "classes", "eigen":
		return "wall time"
	}
	return "summed over threads"
}

// markdown writes the report as tables.
func (r *benchReport) markdown(w io.Writer) {
	fmt.Fprintf(w, "%s, %d threads, %s\n\n", r.Machine, r.Threads, thisBuild())
	if len(r.Rates) > 0 {
		r.rates().WriteMarkdown(w)
		fmt.Fprintln(w)
	}
	times := table.Table{Header: []string{"dataset", "graphs", "seconds", "peak memory so far, MB"}}
	// The stages of the datasets have one order; kernels without stages have none but reading.
	var stages, kernels []string
	for _, x := range r.Datasets {
		if !slices.Contains(kernels, x.Kernel) {
			kernels = append(kernels, x.Kernel)
		}
		for _, s := range x.order {
			if !slices.Contains(stages, s) {
				stages = append(stages, s)
				times.Header = append(times.Header, s+", ms")
			}
		}
	}
	for _, x := range r.Datasets {
		row := []string{strings.TrimSuffix(filepath.Base(x.Dataset), ".zip"), strconv.Itoa(x.Graphs),
			fmt.Sprintf("%.3f", x.Seconds), fmt.Sprintf("%.0f", float64(x.PeakMemory)/1e6)}
		for _, s := range stages {
			row = append(row, fmt.Sprintf("%.1f", 1e3*x.Stages[s]))
		}
		times.Add(row...)
	}
	times.WriteMarkdown(w)
	fmt.Fprintf(w, "\nKernel: %s. Fastest of the runs, from the first byte to the matrix in memory. Stages are summed over threads, except read, classes and eigen.\n",
		strings.Join(kernels, "; "))
}

// once reads a dataset and computes its Gram matrix.
func (c *benchCmd) once(g *globals, path string) (*benchResult, error) {
	runtime.GC()
	stages := stageTimes{seconds: map[string]float64{}}
	start := time.Now()
	end := stages.trace("read")
	ds, err := dataset.Read(g.ctx, path, c.dataFlags.options())
	if err != nil {
		return nil, err
	}
	end()
	k, err := c.text().kernel()
	if err != nil {
		return nil, err
	}
	how := work.Of(g.quietly().work())
	how.Trace = stages.trace
	ctx := work.With(g.ctx, how)
	fitted, err := kernel.Fit(ctx, k, ds.Graphs)
	if err != nil {
		return nil, err
	}
	m, err := fitted.Gram(ctx)
	if err != nil {
		return nil, err
	}
	took := time.Since(start)
	r := &benchResult{Dataset: path, Kernel: k.String(), Graphs: m.Rows, Seconds: took.Seconds(),
		Stages: stages.seconds, order: stages.order}
	if model, ok := fitted.Map.(*mlg.LowRank); ok {
		r.Work = workOf(model, m.Rows)
	}
	return r, nil
}

// machine names the processor.
func machine() string {
	name := cmp.Or(procField("/proc/cpuinfo", "model name"), runtime.GOARCH)
	return fmt.Sprintf("%s, %d cores, %s", name, runtime.NumCPU(), runtime.Version())
}

// procField returns a field of a file of the system, "" where there is none.
func procField(path, name string) string {
	b, _ := os.ReadFile(path) // no file, no field
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// peakMemory returns the largest resident size of the process so far. If the system does not give
// it, it returns the memory that the runtime has obtained.
func peakMemory() int64 {
	kB, _, _ := strings.Cut(procField("/proc/self/status", "VmHWM"), " ")
	if n, err := strconv.ParseInt(kB, 10, 64); err == nil {
		return n * 1024
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}

// pairRate is the number of kernel values of covariances that this machine computes in a
// second.
type pairRate struct {
	Rank   int     `json:"rank"`
	Single float64 `json:"pairs_per_second_1_thread"`
	All    float64 `json:"pairs_per_second"` // with all threads
}

// How long the rate of pairs is measured, and how many matrices are compared with each other:
// few enough to stay in the cache, as in the tiles of a Gram matrix.
const (
	pairTime  = 200 * time.Millisecond
	pairBatch = 256
)

// measurePairs measures covariances of order p, first in one thread, then in all.
func measurePairs(g *globals, p int) (pairRate, error) {
	r := rand.New(rand.NewPCG(1, uint64(p)))
	batch := spd.NewBatch(pairBatch, p)
	packed, y := make([]float64, spd.Size(p)), make([]float64, 2*p*p)
	for i := range pairBatch {
		clear(packed)
		for v := range p {
			packed[spd.Index(v, v)] = 0.1
		}
		for j := range y {
			y[j] = r.NormFloat64()
		}
		spd.AddGram(packed, y, 2*p, p)
		if err := batch.Set(i, packed); err != nil {
			return pairRate{}, fmt.Errorf("rank %d: %w", p, err)
		}
	}
	measure := func(threads int) float64 {
		rates := make([]float64, threads)
		var wg sync.WaitGroup
		for t := range threads {
			wg.Go(func() {
				dst := make([]float64, 8*pairBatch)
				n := 0
				start := time.Now()
				for time.Since(start) < pairTime && g.ctx.Err() == nil {
					for i := 0; i < 64; i += 8 {
						spd.Cross(dst, pairBatch, batch, i, i+8, batch, 0, pairBatch)
						n += 8 * pairBatch
					}
				}
				rates[t] = float64(n) / time.Since(start).Seconds()
			})
		}
		wg.Wait()
		sum := 0.0
		for _, x := range rates {
			sum += x
		}
		return sum
	}
	measure(1) // warm up
	out := pairRate{Rank: p, Single: measure(1), All: measure(g.workers())}
	return out, g.ctx.Err()
}
