package cli

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
)

type benchCmd struct {
	dataFlags
	kernelFlag
	kernelFlags
	Data   []string `arg:"" help:"Datasets." default:"builtin:drugs" optional:""`
	Rounds int      `help:"Number of runs; the fastest counts." default:"3"`
}

// stageTimes sums the time that workers spend in the stages of a computation.
type stageTimes struct {
	mu    sync.Mutex
	order []string
	sum   map[string]time.Duration
}

func (s *stageTimes) trace(stage string) func() {
	start := time.Now()
	return func() { s.add(stage, time.Since(start)) }
}

func (s *stageTimes) add(stage string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sum == nil {
		s.sum = make(map[string]time.Duration)
	}
	if _, ok := s.sum[stage]; !ok {
		s.order = append(s.order, stage)
	}
	s.sum[stage] += d
}

// benchResult is what bench finds for a dataset.
type benchResult struct {
	Dataset    string             `json:"dataset"`
	Kernel     string             `json:"kernel"`
	Graphs     int                `json:"graphs"`
	Threads    int                `json:"threads"`
	Seconds    float64            `json:"seconds"`          // from the first byte to the matrix, the fastest run
	All        []float64          `json:"all_seconds"`      // of every run
	Stages     map[string]float64 `json:"stages,omitempty"` // seconds, summed over workers, of the fastest run
	PeakMemory int64              `json:"peak_memory"`      // bytes of the whole process so far
	Machine    string             `json:"machine"`
	Work       []stageWork        `json:"work,omitempty"` // of the low-rank kernel
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
func workOf(m *mlg.Model, graphs int) []stageWork {
	levels := len(m.Options().Radii)
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

// Run measures the time from reading a dataset to its Gram matrix in memory.
func (c *benchCmd) Run(g *globals) error {
	if c.Rounds < 1 {
		return usageError("--rounds: want at least 1")
	}
	var results []benchResult
	for _, path := range c.Data {
		var best *benchResult
		var all []float64
		for range c.Rounds {
			r, err := c.once(g, path)
			if err != nil {
				return err
			}
			all = append(all, r.Seconds)
			if best == nil || r.Seconds < best.Seconds {
				best = r
			}
		}
		best.All = all
		best.PeakMemory = peakMemory()
		results = append(results, *best)
	}
	if g.JSON {
		return printJSON(g.stdout, results)
	}
	fmt.Fprintf(g.stdout, "%s, %d threads\n", results[0].Machine, results[0].Threads)
	for _, r := range results {
		fmt.Fprintf(g.stdout, "\n%s: %d graphs, %s\n", r.Dataset, r.Graphs, r.Kernel)
		fmt.Fprintf(g.stdout, "  %-12s %9.1f ms   (%d runs, slowest %.1f ms)\n", "wall time", 1e3*r.Seconds, len(r.All), 1e3*maxOf(r.All))
		for _, s := range r.order {
			how := "summed over threads"
			if s == "read" || s == "classes" || s == "eigen" {
				how = "wall time"
			}
			fmt.Fprintf(g.stdout, "  %-12s %9.1f ms   %s\n", s, 1e3*r.Stages[s], how)
		}
		fmt.Fprintf(g.stdout, "  %-12s %9.0f MB\n", "peak memory", float64(r.PeakMemory)/1e6)
		for _, w := range r.Work {
			fmt.Fprintf(g.stdout, "  %-12s %9.3f GFlop  %s\n", w.Stage, w.Flops/1e9, w.What)
		}
	}
	return nil
}

func maxOf(x []float64) float64 {
	m := x[0]
	for _, v := range x {
		m = max(m, v)
	}
	return m
}

// once reads a dataset and computes its Gram matrix.
func (c *benchCmd) once(g *globals, path string) (*benchResult, error) {
	runtime.GC()
	quiet := *g
	quiet.Quiet = true
	var stages stageTimes
	start := time.Now()
	end := stages.trace("read")
	o, err := c.dataFlags.options()
	if err != nil {
		return nil, err
	}
	ds, err := dataset.Read(g.ctx, path, o)
	if err != nil {
		return nil, err
	}
	end()
	k, err := c.kernel(&quiet, c.Kernel, ds.Graphs, newBar(&quiet))
	if err != nil {
		return nil, err
	}
	if c.Kernel == "mlg" || c.Kernel == "flg" {
		opt, err := c.kernelFlags.options(&quiet, c.Kernel, ds.Graphs)
		if err != nil {
			return nil, err
		}
		opt.Trace = stages.trace
		if k = mlg.NewKernel(opt); c.Exact {
			k = mlg.NewExactKernel(opt)
		}
	}
	fitted, err := k.Fit(g.ctx, ds.Graphs)
	if err != nil {
		return nil, err
	}
	m, err := fitted.Gram(g.ctx)
	if err != nil {
		return nil, err
	}
	took := time.Since(start)
	r := &benchResult{Dataset: path, Kernel: k.String(), Graphs: m.Rows, Threads: g.workers(), Seconds: took.Seconds(),
		Stages: map[string]float64{}, Machine: machine(), order: stages.order}
	for s, d := range stages.sum {
		r.Stages[s] = d.Seconds()
	}
	if model, ok := fitted.(*mlg.Model); ok {
		r.Work = workOf(model, m.Rows)
	}
	return r, nil
}

// machine names the processor.
func machine() string {
	name := runtime.GOARCH
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		s := bufio.NewScanner(f)
		for s.Scan() {
			if k, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == "model name" {
				name = strings.TrimSpace(v)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s", name, runtime.NumCPU(), runtime.Version())
}

// peakMemory returns the largest resident size of the process so far, or, where the system
// does not tell, what the runtime has obtained from it.
func peakMemory() int64 {
	if b, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(b)) {
			if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				f := strings.Fields(rest)
				if n, err := strconv.ParseInt(f[0], 10, 64); err == nil {
					return n * 1024
				}
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
