package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/graph"
)

// Factor is one kernel of a product, fitted to the training graphs: exactly one of Fitted and
// Baseline. Factors that are equal, as Go compares them, are computed and stored once.
type Factor struct {
	Fitted   *mlg.Model
	Baseline *Baseline
	// Standard, when not nil, is applied to the attributes of graphs before the kernel.
	Standard *evaluate.Standardization
	// Subdivided makes vertices of the edges of graphs before the kernel.
	Subdivided bool
}

// Baseline is a kernel of package baseline. It is fitted to Model.Graphs when it is first
// needed, which gives the same bits every time. A Baseline belongs to one model.
type Baseline struct {
	kernel mlg.Kernel

	mu     sync.Mutex
	fitted mlg.Fitted
}

// NewBaseline returns a kernel of package baseline as a factor's. It is an error if the
// kernel is of another type.
func NewBaseline(k mlg.Kernel) (*Baseline, error) {
	if _, err := baselineToJSON(k); err != nil {
		return nil, err
	}
	return &Baseline{kernel: k}, nil
}

// Kernel returns the kernel with its parameters.
func (b *Baseline) Kernel() mlg.Kernel { return b.kernel }

// fit returns the kernel fitted to the training graphs of a factor.
func (f Factor) fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	b := f.Baseline
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fitted != nil {
		return b.fitted, nil
	}
	graphs, err := f.prepare(graphs)
	if err != nil {
		return nil, err
	}
	fitted, err := b.kernel.Fit(ctx, graphs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.kernel, err)
	}
	b.fitted = fitted
	return fitted, nil
}

// prepare returns graphs as the factor's kernel wants them.
func (f Factor) prepare(graphs []*graph.Graph) ([]*graph.Graph, error) {
	if f.Standard != nil {
		var err error
		if graphs, err = f.Standard.Apply(graphs); err != nil {
			return nil, err
		}
	}
	if !f.Subdivided {
		return graphs, nil
	}
	out := make([]*graph.Graph, len(graphs))
	for i, g := range graphs {
		out[i] = g.Subdivide()
	}
	return out, nil
}

// FitBaseline returns the baseline kernel of a factor of the model fitted to the training
// graphs, which is done once.
func (m *Model) FitBaseline(ctx context.Context, f Factor) (mlg.Fitted, error) {
	return f.fit(ctx, m.Graphs)
}

// Prepare returns a graph as the factor's kernel wants it: with standardised attributes, with
// edges that are vertices, if the factor says so.
func (f Factor) Prepare(g *graph.Graph) (*graph.Graph, error) {
	one := []*graph.Graph{g}
	if err := f.checkAttributes(one); err != nil {
		return nil, err
	}
	out, err := f.prepare(one)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// Compare returns the kernel of two graphs, neither of which need be a training graph. What
// baseline kernels count of two graphs does not depend on others.
func (f Factor) Compare(ctx context.Context, g, h *graph.Graph) (float64, error) {
	var two []*graph.Graph
	for _, x := range []*graph.Graph{g, h} {
		x, err := f.Prepare(x)
		if err != nil {
			return 0, err
		}
		two = append(two, x)
	}
	var k *mlg.Matrix
	if f.Fitted != nil {
		c, err := f.Fitted.Transform(ctx, two)
		if err != nil {
			return 0, err
		}
		k, err = f.Fitted.Compare(ctx, c, c)
		if err != nil {
			return 0, err
		}
		return k.At(0, 1), nil
	}
	fitted, err := f.Baseline.kernel.Fit(ctx, two)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f.Baseline.kernel, err)
	}
	if k, err = fitted.Gram(ctx); err != nil {
		return 0, err
	}
	return k.At(0, 1), nil
}

// Compare returns the kernel of two graphs under the model.
func (m *Model) Compare(ctx context.Context, g, h *graph.Graph) (float64, error) {
	one := func(f Factor) (*mlg.Matrix, error) {
		k, err := f.Compare(ctx, g, h)
		return &mlg.Matrix{Rows: 1, Cols: 1, Data: []float64{k}}, err
	}
	k, err := m.sum(one)
	if err != nil {
		return 0, err
	}
	return k.At(0, 0), nil
}

// String names the kernel, as in "mlg eta=0.1 …" or "wl-oa h=4".
func (f Factor) String() string {
	name := ""
	switch {
	case f.Fitted != nil:
		name = mlg.NewKernel(f.Fitted.Options()).String()
	case f.Baseline != nil:
		name = f.Baseline.kernel.String()
	}
	if f.Standard != nil {
		name += " standardized"
	}
	if f.Subdivided {
		name += " subdivided"
	}
	return name
}

// String names the kernel without its weight.
func (k Kernel) String() string {
	if len(k.Factors) == 1 {
		return k.Factors[0].String()
	}
	out := ""
	for i, f := range k.Factors {
		if i > 0 {
			out += " × "
		}
		out += "(" + f.String() + ")"
	}
	return out
}

// validate returns an error unless the factor is one for n training graphs.
func (f Factor) validate(n int, graphs bool) error {
	switch {
	case f.Fitted == nil && f.Baseline == nil:
		return errors.New("nothing fitted")
	case f.Fitted != nil && f.Baseline != nil:
		return errors.New("two kernels in one factor, want one")
	case f.Baseline != nil && !graphs:
		return fmt.Errorf("%s is fitted to the training graphs, and they are not in the model", f.Baseline.kernel)
	case f.Fitted != nil && f.Fitted.Train().Len() != n:
		return fmt.Errorf("%d training graphs, want %d, one for each identifier", f.Fitted.Train().Len(), n)
	}
	if s := f.Standard; s != nil {
		return s.Validate()
	}
	return nil
}

// baselineJSON is the section of a factor that is a baseline kernel.
type baselineJSON struct {
	Kind         string  `json:"kind"`
	Standardized bool    `json:"standardized,omitempty"`
	Subdivided   bool    `json:"subdivided,omitempty"`
	Normalize    bool    `json:"normalize"`
	Labels       string  `json:"labels,omitempty"`
	H            int     `json:"h,omitempty"`
	Variant      string  `json:"variant,omitempty"`
	Ordered      bool    `json:"ordered,omitempty"`
	Weighted     bool    `json:"weighted,omitempty"`
	Resolution   float64 `json:"resolution,omitempty"`
	Edges        bool    `json:"edges,omitempty"`
	K            int     `json:"k,omitempty"`
	Connected    bool    `json:"connected,omitempty"`
	Samples      int     `json:"samples,omitempty"`
	Seed         uint64  `json:"seed,omitempty"`
	P            int     `json:"p,omitempty"`
	Lambda       float64 `json:"lambda,omitempty"`
	Series       string  `json:"series,omitempty"`
}

// Kinds of baseline kernels.
const (
	kindWL           = "wl"
	kindShortestPath = "shortest-path"
	kindHistogram    = "histogram"
	kindGraphlet     = "graphlet"
	kindRandomWalk   = "random-walk"
	kindInfiniteWalk = "infinite-walk"
)

// Names of the constants of package baseline, in their order.
var (
	sourceNames  = []string{"auto", "labels", "degrees", "unlabeled", "attributes"}
	variantNames = []string{"subtree", "edge", "assignment", "path"}
	seriesNames  = []string{"geometric", "exponential"}
)

// What a stored kernel may ask for at most: fitting must end.
const (
	maxRefinements = 1 << 10
	maxSamples     = 1 << 26
)

func baselineToJSON(k mlg.Kernel) (baselineJSON, error) {
	name := func(names []string, i int) string { return names[i] }
	var out baselineJSON
	var err error
	switch k := k.(type) {
	case baseline.WL:
		if err = k.Validate(); err == nil {
			out = baselineJSON{Kind: kindWL, Normalize: k.Normalize, Labels: name(sourceNames, int(k.Labels)), H: k.H, Variant: name(variantNames, int(k.Variant))}
		}
	case baseline.ShortestPath:
		if err = k.Validate(); err == nil {
			out = baselineJSON{Kind: kindShortestPath, Normalize: k.Normalize, Labels: name(sourceNames, int(k.Labels)), Ordered: k.Ordered, Weighted: k.Weighted, Resolution: k.Resolution}
		}
	case baseline.Histogram:
		if err = k.Validate(); err == nil {
			out = baselineJSON{Kind: kindHistogram, Normalize: k.Normalize, Labels: name(sourceNames, int(k.Labels)), Edges: k.Edges}
		}
	case baseline.Graphlet:
		if err = k.Validate(); err == nil {
			out = baselineJSON{Kind: kindGraphlet, Normalize: k.Normalize, K: k.K, Connected: k.Connected, Samples: k.Samples, Seed: k.Seed}
		}
	case baseline.RandomWalk:
		if err = k.Validate(); err == nil {
			out = baselineJSON{Kind: kindRandomWalk, Normalize: k.Normalize, Labels: name(sourceNames, int(k.Labels)), P: k.P, Lambda: k.Lambda}
		}
	case baseline.InfiniteWalk:
		if err = k.Validate(); err == nil {
			out = baselineJSON{Kind: kindInfiniteWalk, Normalize: k.Normalize, Labels: name(sourceNames, int(k.Labels)), Lambda: k.Lambda, Series: name(seriesNames, int(k.Series))}
		}
	default:
		return out, fmt.Errorf("a model cannot hold the kernel %s", k)
	}
	if err == nil {
		err = out.check()
	}
	return out, err
}

// check refuses numbers that would make fitting endless.
func (b *baselineJSON) check() error {
	if b.H > maxRefinements {
		return fmt.Errorf("h = %d, want at most %d in a model", b.H, maxRefinements)
	}
	if b.Samples > maxSamples {
		return fmt.Errorf("%d samples, want at most %d in a model", b.Samples, maxSamples)
	}
	return nil
}

// kernel returns the kernel that the section describes.
func (b *baselineJSON) kernel(workers int) (mlg.Kernel, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	var err error
	constant := func(what string, names []string, s string) int {
		i := slices.Index(names, s)
		if i < 0 && err == nil {
			err = fmt.Errorf("%s %q, want one of %q", what, s, names)
		}
		return i
	}
	source := func() baseline.Source { return baseline.Source(constant("labels", sourceNames, b.Labels)) }
	type kernel interface {
		mlg.Kernel
		Validate() error
	}
	var k kernel
	switch b.Kind {
	case kindWL:
		k = baseline.WL{H: b.H, Variant: baseline.Variant(constant("variant", variantNames, b.Variant)), Labels: source(), Normalize: b.Normalize, Workers: workers}
	case kindShortestPath:
		k = baseline.ShortestPath{Ordered: b.Ordered, Weighted: b.Weighted, Resolution: b.Resolution, Labels: source(), Normalize: b.Normalize, Workers: workers}
	case kindHistogram:
		k = baseline.Histogram{Edges: b.Edges, Labels: source(), Normalize: b.Normalize, Workers: workers}
	case kindGraphlet:
		k = baseline.Graphlet{K: b.K, Connected: b.Connected, Samples: b.Samples, Seed: b.Seed, Normalize: b.Normalize, Workers: workers}
	case kindRandomWalk:
		k = baseline.RandomWalk{P: b.P, Lambda: b.Lambda, Labels: source(), Normalize: b.Normalize, Workers: workers}
	case kindInfiniteWalk:
		k = baseline.InfiniteWalk{Series: baseline.Series(constant("series", seriesNames, b.Series)), Lambda: b.Lambda, Labels: source(), Normalize: b.Normalize, Workers: workers}
	default:
		return nil, fmt.Errorf("kernel of kind %q is not known", b.Kind)
	}
	if err != nil {
		return nil, err
	}
	return k, k.Validate()
}
