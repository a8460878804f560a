package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/graph"
)

// Spec says which kernel is meant, by the names and defaults of the flags of the command. A
// kernel looks at its own fields only.
type Spec struct {
	Kernel  string `json:"kernel"`
	Workers int    `json:"workers"` // 0 for all processors

	// mlg, flg, lg
	Radii     []int     `json:"radii"`
	Eta       float64   `json:"eta"`
	Gamma     float64   `json:"gamma"`
	Samples   int       `json:"samples"`
	Rank      int       `json:"rank"`
	Seed      uint64    `json:"seed"`
	Exact     bool      `json:"exact"`
	PairRank  int       `json:"pair_rank"`
	MaxMemory float64   `json:"max_memory"` // GB
	Base      string    `json:"base"`       // empty for what the data has
	Bandwidth float64   `json:"bandwidth"`
	Beta      []float64 `json:"beta"`
	BaseH     int       `json:"base_h"`
	Landmarks string    `json:"landmarks"`
	Combine   string    `json:"combine"`
	Power     int       `json:"power"`
	Discount  bool      `json:"discount"`

	// The others
	Labels    string  `json:"labels"` // source of vertex labels
	H         int     `json:"h"`
	K         int     `json:"k"`
	Connected bool    `json:"connected"`
	Counts    bool    `json:"counts"`
	Draws     int     `json:"draws"` // graphlet, graphlet-mix: samples
	P         int     `json:"p"`
	Lambda    float64 `json:"lambda"`
	Series    string  `json:"series"`
	Ordered   bool    `json:"ordered"`
	Weighted  bool    `json:"weighted"`
	Normalize bool    `json:"normalize"`
	Scale     float64 `json:"scale"` // factor of raw values
	// Over is the kernel of the colourings of wl-sum, a Spec.
	Over json.RawMessage `json:"over"`
}

// DefaultSpec returns the defaults of the command.
func DefaultSpec() Spec {
	o, b := mlg.DefaultOptions(), mlg.DefaultBaseParameters()
	return Spec{Kernel: "mlg", Radii: o.Radii, Eta: o.Eta, Gamma: o.Gamma, Samples: o.Samples, Rank: o.Rank, Seed: o.Seed,
		MaxMemory: 16, Bandwidth: b.Bandwidth, Beta: b.Beta, BaseH: b.H, Landmarks: "uniform", Combine: "top", Power: 1,
		Labels: "auto", H: 5, K: 4, P: 5, Lambda: 0.1, Series: "geometric", Normalize: true, Scale: 1}
}

// source returns the source of labels with a name.
func source(name string) (baseline.Source, error) {
	for s := baseline.Auto; s <= baseline.Attributes; s++ {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("labels = %q, want auto, labels, degrees, unlabeled or attributes", name)
}

// options returns the options of the multiscale kernel.
func (s *Spec) options(graphs []*graph.Graph) (mlg.Options, error) {
	o := mlg.DefaultOptions()
	o.Radii = s.Radii
	if s.Kernel == "flg" {
		o.Radii = nil
	}
	o.Eta, o.Gamma, o.Samples, o.Rank, o.Seed = s.Eta, s.Gamma, s.Samples, s.Rank, s.Seed
	o.PairRank, o.MaxMemory = s.PairRank, int64(s.MaxMemory*1e9)
	o.Power, o.Discount, o.Workers = s.Power, s.Discount, workers(s.Workers)
	var err error
	if o.Landmarks, err = mlg.ParseLandmarks(s.Landmarks); err != nil {
		return o, err
	}
	if o.Combine, err = mlg.ParseCombine(s.Combine); err != nil {
		return o, err
	}
	o.Base = mlg.ChooseBase(graphs)
	if s.Base != "" {
		if o.Base, err = mlg.ParseBase(s.Base, mlg.BaseParameters{Bandwidth: s.Bandwidth, Beta: s.Beta, H: s.BaseH}); err != nil {
			return o, err
		}
	}
	return o, o.Validate()
}

// kernel returns the kernel that the options describe. The graphs it will be fitted to decide
// on a base kernel that is not given, and on a weight Lambda for which a series converges.
func (s *Spec) kernel(graphs []*graph.Graph) (mlg.Kernel, error) {
	w := workers(s.Workers)
	labels, err := source(s.Labels)
	if err != nil {
		return nil, err
	}
	if !(s.Scale > 0) || math.IsInf(s.Scale, 1) {
		return nil, fmt.Errorf("scale = %v, want a positive, finite number", s.Scale)
	}
	series := baseline.Geometric
	switch s.Series {
	case "geometric":
	case "exponential":
		series = baseline.Exponential
	default:
		return nil, fmt.Errorf("series = %q, want geometric or exponential", s.Series)
	}
	wl := func(v baseline.Variant) mlg.Kernel {
		return baseline.WL{H: s.H, Variant: v, Labels: labels, Normalize: s.Normalize, Workers: w}
	}
	var k mlg.Kernel
	switch s.Kernel {
	case "mlg", "flg":
		o, err := s.options(graphs)
		if err != nil {
			return nil, err
		}
		if s.Exact {
			return mlg.NewExactKernel(o), nil
		}
		return mlg.NewKernel(o), nil
	case "lg":
		return mlg.LGKernel{Eta: s.Eta, Gamma: s.Gamma, Workers: w}, nil
	case "wl":
		k = wl(baseline.Subtree)
	case "wl-edge":
		k = wl(baseline.Edge)
	case "wl-oa":
		k = wl(baseline.Assignment)
	case "wl-sp":
		k = wl(baseline.Path)
	case "wl-sum":
		over := DefaultSpec()
		if err := json.Unmarshal(s.Over, &over); err != nil {
			return nil, fmt.Errorf("wl-sum: kernel of the colourings: %w", err)
		}
		if over.Kernel == "wl-sum" {
			return nil, errors.New("wl-sum: the kernel of the colourings is wl-sum itself")
		}
		over.Normalize = false
		b, err := over.kernel(graphs)
		if err != nil {
			return nil, err
		}
		k = baseline.WLSum{H: s.H, Base: b, Labels: labels, Normalize: s.Normalize, Workers: w}
	case "sp":
		sp := baseline.DefaultShortestPath()
		sp.Ordered, sp.Labels, sp.Normalize, sp.Workers = s.Ordered, labels, s.Normalize, w
		k = sp
		if s.Weighted {
			k = paths{sp}
		}
	case "graphlet":
		k = baseline.Graphlet{K: s.K, Connected: s.Connected, Counts: s.Counts, Samples: s.Draws, Seed: s.Seed, Normalize: s.Normalize, Workers: w}
	case "graphlet-mix":
		k = baseline.GraphletMix{K: s.K, Samples: s.Draws, Seed: s.Seed, Normalize: s.Normalize, Workers: w}
	case "rw":
		k = baseline.RandomWalk{P: s.P, Lambda: s.Lambda, Labels: labels, Normalize: s.Normalize, Workers: w}
	case "rw-plain":
		if series == baseline.Geometric && s.P == 0 {
			if r := largestEigenvalue(graphs); s.Lambda*r*r >= 1 {
				s.Lambda = 0.9 / (r * r)
			}
		}
		k = baseline.PlainWalk{Series: series, Lambda: s.Lambda, P: s.P, Normalize: s.Normalize, Workers: w}
	case "labels":
		k = baseline.Histogram{Labels: labels, Normalize: s.Normalize, Workers: w}
	case "edge-labels":
		k = baseline.Histogram{Edges: true, Normalize: s.Normalize, Workers: w}
	default:
		return nil, fmt.Errorf("kernel %q is not known", s.Kernel)
	}
	if s.Scale != 1 && !s.Normalize {
		k = scaled{k, s.Scale}
	}
	return k, nil
}

// self returns the raw kernel of every graph with itself. It is that of a collection with the
// graph alone: no kernel of package baseline gives a graph other features among others.
func (s *Spec) self(ctx context.Context, graphs []*graph.Graph) ([]float64, error) {
	out := make([]float64, len(graphs))
	raw := *s
	raw.Normalize = false
	raw.Workers = 1
	for i := range graphs {
		if s.Kernel == "mlg" || s.Kernel == "flg" || s.Kernel == "lg" {
			out[i] = 1
			continue
		}
		one := raw
		k, err := one.kernel(graphs[i : i+1])
		if err != nil {
			return nil, err
		}
		f, err := k.Fit(ctx, graphs[i:i+1])
		if err != nil {
			return nil, fmt.Errorf("graph %d alone: %w", i, err)
		}
		m, err := f.Gram(ctx)
		if err != nil {
			return nil, fmt.Errorf("graph %d alone: %w", i, err)
		}
		out[i] = m.Data[0]
	}
	return out, nil
}

// largestEigenvalue returns that of the weighted adjacency matrices of all graphs: up to 512
// vertices from all eigenvalues, above that the upper bound of the largest row sum.
func largestEigenvalue(graphs []*graph.Graph) float64 {
	const dense = 512
	largest := 0.0
	for _, g := range graphs {
		n := g.N()
		bound := 0.0
		for v := range n {
			sum := float64(g.Degree(v))
			if w := g.Weights(v); w != nil {
				sum = 0
				for _, x := range w {
					sum += x
				}
			}
			bound = max(bound, sum)
		}
		if bound <= largest {
			continue
		}
		if n > dense {
			largest = bound
			continue
		}
		a := mat.NewSymDense(n, nil)
		for e := range g.Edges() {
			a.SetSym(e.U, e.V, e.Weight)
		}
		var eig mat.EigenSym
		if !eig.Factorize(a, false) {
			largest = bound
			continue
		}
		largest = max(largest, eig.Values(nil)[n-1])
	}
	return largest
}

// scaled is a kernel times a factor.
type scaled struct {
	mlg.Kernel
	factor float64
}

func (k scaled) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	f, err := k.Kernel.Fit(ctx, graphs)
	return scaledFitted{f, k.factor}, err
}

type scaledFitted struct {
	fitted mlg.Fitted
	factor float64
}

func (f scaledFitted) Gram(ctx context.Context) (*mlg.Matrix, error) {
	return f.times(f.fitted.Gram(ctx))
}

func (f scaledFitted) Cross(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	return f.times(f.fitted.Cross(ctx, graphs))
}

func (f scaledFitted) times(m *mlg.Matrix, err error) (*mlg.Matrix, error) {
	if err != nil {
		return nil, err
	}
	for i := range m.Data {
		m.Data[i] *= f.factor
	}
	return m, nil
}

// paths is the shortest path kernel whose lengths are weights. As long as all weights are 1,
// lengths are hops, which are found faster and give the same values.
type paths struct{ baseline.ShortestPath }

func (k paths) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	sp := k.ShortestPath
	sp.Weighted = anyWeighted(graphs)
	f, err := sp.Fit(ctx, graphs)
	return &pathsFitted{f, sp, graphs}, err
}

type pathsFitted struct {
	fitted mlg.Fitted
	kernel baseline.ShortestPath
	graphs []*graph.Graph
}

func (f *pathsFitted) Gram(ctx context.Context) (*mlg.Matrix, error) { return f.fitted.Gram(ctx) }

func (f *pathsFitted) Cross(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	if f.kernel.Weighted || !anyWeighted(graphs) {
		return f.fitted.Cross(ctx, graphs)
	}
	sp := f.kernel
	sp.Weighted = true
	w, err := sp.Fit(ctx, f.graphs)
	if err != nil {
		return nil, err
	}
	return w.Cross(ctx, graphs)
}

func anyWeighted(graphs []*graph.Graph) bool {
	for _, g := range graphs {
		if g.Weighted() {
			return true
		}
	}
	return false
}
