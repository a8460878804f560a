package nystrom

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/mlgkernel/mlg/kernel"
)

// Residuals say how well the vectors of some graphs stand in for their kernel.
type Residuals struct {
	Graphs int `json:"graphs"`
	// MeanResidual is the share of the trace of the kernel matrix that is lost, over all graphs, and
	// MaxResidual the largest 1 − |φ(G)|²/k(G,G). A graph with k(G,G) = 0 has none.
	MeanResidual float64 `json:"mean_residual"`
	MaxResidual  float64 `json:"max_residual"`
	// Pairs of different graphs of a sample, and the root of the mean square and the largest
	// of |k(G,H) − φ(G)·φ(H)|/√(k(G,G) k(H,H)) over them.
	Pairs    int     `json:"pairs"`
	RMSError float64 `json:"rms_error"`
	MaxError float64 `json:"max_error"`
}

// sampled is the number of graphs of whose pairs errors are computed.
const sampled = 500

// Monitor collects what Residuals reports while vectors are computed, in constant memory.
type Monitor struct {
	e           *Embedding
	rand        *rand.Rand
	errors      Residuals
	lost, trace float64
	// A sample of the graphs so far, every set of its size with the same probability.
	features kernel.Features
	self     []float64
	vectors  []float64
}

// NewMonitor returns a monitor; seed determines the sample.
func (e *Embedding) NewMonitor(seed uint64) *Monitor {
	return &Monitor{e: e, rand: rand.New(rand.NewPCG(seed, 0x656d626564)), features: e.marks.Select(nil)} // "embed"
}

// Add takes note of the features of graphs and their vectors.
func (m *Monitor) Add(ctx context.Context, a kernel.Features, vectors []float64) error {
	self, err := kernel.Self(ctx, m.e.kernel, a)
	if err != nil {
		return err
	}
	d, before := m.e.Dim(), len(m.self)
	sample := kernel.UpTo(before) // places in the sample so far, and behind it in a
	for i, k := range self {
		r := k
		for _, v := range vectors[i*d : (i+1)*d] {
			r -= float64(v * v)
		}
		r = max(r, 0) // rounding
		m.lost, m.trace = m.lost+r, m.trace+k
		if k > 0 {
			m.errors.MaxResidual = max(m.errors.MaxResidual, r/k)
		}
		m.errors.Graphs++
		if len(sample) < sampled {
			sample = append(sample, before+i)
		} else if at := m.rand.IntN(m.errors.Graphs); at < sampled {
			sample[at] = before + i
		}
	}
	m.take(sample, a, self, vectors)
	return nil
}

// take keeps graphs of the sample so far and of those behind them.
func (m *Monitor) take(sample []int, a kernel.Features, self, vectors []float64) {
	d, before := m.e.Dim(), len(m.self)
	var chosen []int
	for k, at := range sample {
		if at >= before {
			chosen = append(chosen, at-before)
			sample[k] = before + len(chosen) - 1
		}
	}
	if chosen == nil {
		return
	}
	for _, i := range chosen {
		m.self, m.vectors = append(m.self, self[i]), append(m.vectors, vectors[i*d:(i+1)*d]...)
	}
	m.features = m.e.kernel.Join(m.features, a.Select(chosen)).Select(sample)
	keptSelf, keptVectors := make([]float64, 0, len(sample)), make([]float64, 0, len(sample)*d)
	for _, i := range sample {
		keptSelf, keptVectors = append(keptSelf, m.self[i]), append(keptVectors, m.vectors[i*d:(i+1)*d]...)
	}
	m.self, m.vectors = keptSelf, keptVectors
}

// Residuals returns what was found.
func (m *Monitor) Residuals(ctx context.Context) (Residuals, error) {
	out := m.errors
	if out.Graphs == 0 {
		return out, nil
	}
	if m.trace > 0 {
		out.MeanResidual = m.lost / m.trace
	}
	k, err := kernel.Between(ctx, m.e.kernel, m.features, m.features)
	if err != nil {
		return out, err
	}
	d := m.e.Dim()
	for i := range k.Rows {
		for j := range i {
			x := k.At(i, j)
			for c, v := range m.vectors[i*d : (i+1)*d] {
				x -= v * m.vectors[j*d+c]
			}
			if self := math.Sqrt(m.self[i] * m.self[j]); self > 0 {
				x = math.Abs(x) / self
				out.RMSError += x * x
				out.MaxError = max(out.MaxError, x)
			}
			out.Pairs++
		}
	}
	if out.Pairs > 0 {
		out.RMSError = math.Sqrt(out.RMSError / float64(out.Pairs))
	}
	return out, nil
}
