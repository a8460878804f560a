package nystrom

import (
	"context"
	"math"
	"math/rand/v2"
)

// Errors says how well the vectors of some graphs stand in for their kernel. All but Graphs
// and Pairs are shares of k(G,G), which is the largest value of the kernel.
type Errors struct {
	Graphs int `json:"graphs"`
	// MeanResidual and MaxResidual are of 1 − |φ(G)|²/k(G,G), over all graphs. The mean is
	// the share of the trace of the kernel matrix that is lost.
	MeanResidual float64 `json:"mean_residual"`
	MaxResidual  float64 `json:"max_residual"`
	// Pairs of different graphs of a sample, and the root of the mean square and the largest
	// of |k(G,H) − φ(G)·φ(H)| over them.
	Pairs    int     `json:"pairs"`
	RMSError float64 `json:"rms_error"`
	MaxError float64 `json:"max_error"`
}

// sampled is the number of graphs of whose pairs errors are computed.
const sampled = 500

// Monitor collects what Errors reports while vectors are computed, in constant memory.
type Monitor struct {
	e      *Embedding
	rand   *rand.Rand
	errors Errors
	sum    float64
	// A sample of the graphs so far, every set of its size with the same probability.
	records, vectors []float64
}

// NewMonitor returns a monitor; seed determines the sample.
func (e *Embedding) NewMonitor(seed uint64) *Monitor {
	return &Monitor{e: e, rand: rand.New(rand.NewPCG(seed, 0x656d626564))} // "embed"
}

// Add takes note of records and their vectors.
func (m *Monitor) Add(records, vectors []float64) {
	size, d := m.e.space.Size(), m.e.Dim()
	for i := range len(records) / size {
		record, vector := records[i*size:(i+1)*size], vectors[i*d:(i+1)*d]
		r := 1.0
		for _, v := range vector {
			r -= v * v / m.e.space.Self()
		}
		r = max(r, 0) // rounding
		m.sum += r
		m.errors.MaxResidual = max(m.errors.MaxResidual, r)
		m.errors.Graphs++
		at := m.errors.Graphs - 1
		if at >= sampled {
			at = m.rand.IntN(m.errors.Graphs)
		} else {
			m.records, m.vectors = append(m.records, record...), append(m.vectors, vector...)
		}
		if at < sampled {
			copy(m.records[at*size:], record)
			copy(m.vectors[at*d:], vector)
		}
	}
}

// Errors returns what was found.
func (m *Monitor) Errors(ctx context.Context) (Errors, error) {
	out := m.errors
	if out.Graphs == 0 {
		return out, nil
	}
	out.MeanResidual = m.sum / float64(out.Graphs)
	b, err := m.e.space.Block(m.records)
	if err != nil {
		return out, err
	}
	n, d := b.Len(), m.e.Dim()
	k := make([]float64, n*n)
	if err := m.e.space.Compare(ctx, k, b, 0, n, b, 0, n); err != nil {
		return out, err
	}
	for i := range n {
		for j := range i {
			x := k[i*n+j]
			for c, v := range m.vectors[i*d : (i+1)*d] {
				x -= v * m.vectors[j*d+c]
			}
			x = math.Abs(x) / m.e.space.Self()
			out.RMSError += x * x
			out.MaxError = max(out.MaxError, x)
			out.Pairs++
		}
	}
	if out.Pairs > 0 {
		out.RMSError = math.Sqrt(out.RMSError / float64(out.Pairs))
	}
	return out, nil
}
