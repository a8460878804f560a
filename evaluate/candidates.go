package evaluate

import (
	"fmt"
	"math"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/dataset"
)

// Setting is a kernel with all its parameters.
type Setting struct {
	// Parameters says what sets the kernel apart from the other settings of its candidate.
	Parameters string
	Kernel     mlg.Kernel
}

// Candidate is a family of kernels whose parameters are to be chosen among settings. It
// makes one row of a report.
type Candidate struct {
	Name     string
	Settings []Setting
	// Published, when set, is a figure from the literature to stand beside the result.
	Published *Published
}

// Published is an accuracy in per cent as it was printed.
type Published struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
	Source    string  `json:"source"`
}

// MLGSetting returns the low-rank MLG kernel as a setting. Its parameters hold the seed
// unless it is 0.
func MLGSetting(o mlg.Options) Setting {
	k := mlg.NewKernel(o)
	if !o.Combine.PositiveSemidefinite() {
		k = Indefinite(k)
	}
	s := Setting{Parameters: k.String(), Kernel: k}
	if o.Seed != 0 {
		s.Parameters += fmt.Sprintf(" seed=%d", o.Seed)
	}
	return s
}

// LabelHistogram is the candidate that Run always adds: the kernel of label histograms
// (degrees where the graphs have no labels).
func LabelHistogram(info dataset.Summary) Candidate {
	k := baseline.DefaultHistogram()
	k.Labels = labelSource(info)
	return Candidate{Name: "labels", Settings: []Setting{{k.String(), k}}}
}

// labelSource is Auto, except where there are attributes but no labels, which Auto refuses.
func labelSource(info dataset.Summary) baseline.Source {
	if info.NodeLabels == 0 {
		return baseline.Degrees
	}
	return baseline.Auto
}

// wl returns a normalised Weisfeiler-Lehman kernel.
func wl(info dataset.Summary, variant baseline.Variant, h int) mlg.Kernel {
	k := baseline.DefaultWL()
	k.Variant, k.H, k.Labels = variant, h, labelSource(info)
	return k
}

// DefaultCandidates returns the fixed list of kernels from which Run chooses and which it
// combines, the same for all datasets (docs/evaluation.md has it as a table). Data with
// vertex attributes get two more, data without labels use degrees instead.
func DefaultCandidates(info dataset.Summary) ([]Candidate, error) {
	labels := mlg.Labels()
	if info.NodeLabels == 0 {
		labels = mlg.Degree()
	}
	setting := func(base mlg.Base, rank, samples int, eta, gamma float64, combine mlg.Combine, change func(*mlg.Options)) Setting {
		o := mlg.DefaultOptions()
		o.Base, o.Rank, o.Samples, o.Eta, o.Gamma, o.Combine = base, rank, samples, eta, gamma, combine
		if change != nil {
			change(&o)
		}
		return MLGSetting(o)
	}
	paper := Candidate{Name: "mlg paper"}
	for _, gamma := range []float64{0.1, 0.01} {
		paper.Settings = append(paper.Settings, setting(labels, 10, 100, 0.1, gamma, mlg.Top, nil))
	}
	wide := Candidate{Name: "mlg labels", Settings: []Setting{
		setting(labels, 20, 300, 1, 0.1, mlg.Sum, func(o *mlg.Options) { o.Discount = true }),
		setting(labels, 32, 600, 0.1, 0.1, mlg.Top, nil),
		setting(labels, 32, 600, 0.1, 0.1, mlg.Sum, nil),
		setting(labels, 32, 600, 0.1, 0.1, mlg.Product, nil),
		setting(labels, 32, 600, 0.1, 0.01, mlg.Top, func(o *mlg.Options) { o.Radii = []int{1, 2, 4} }),
	}}
	assignment := Share(wl(info, baseline.Assignment, 4))
	colours := Candidate{Name: "mlg wl-base"}
	products := Candidate{Name: "mlg × wl-oa"}
	for _, h := range []int{1, 3} {
		base, err := mlg.WL(h)
		if err != nil {
			return nil, err
		}
		for _, eta := range []float64{0.1, 1} {
			for _, combine := range []mlg.Combine{mlg.Sum, mlg.Product} {
				s := setting(base, 32, 600, eta, 0.1, combine, nil)
				s.Kernel = Share(s.Kernel)
				colours.Settings = append(colours.Settings, s)
				p := Product(s.Kernel, assignment)
				products.Settings = append(products.Settings, Setting{p.String(), p})
			}
		}
	}
	out := []Candidate{
		paper, wide, colours, products,
		{Name: "wl-oa", Settings: []Setting{{assignment.String(), assignment}}},
		{Name: "wl"},
		{Name: "shortest path"},
	}
	for _, h := range []int{2, 4} {
		k := wl(info, baseline.Subtree, h)
		out[5].Settings = append(out[5].Settings, Setting{k.String(), k})
	}
	sp := baseline.DefaultShortestPath()
	sp.Labels = labelSource(info)
	out[6].Settings = []Setting{{sp.String(), sp}}
	if info.Attributes == 0 {
		return out, nil
	}
	attributes := Candidate{Name: "mlg attributes"}
	for _, s := range []float64{1, 3} {
		base, err := attributeBase(info, s)
		if err != nil {
			return nil, err
		}
		x := setting(base, 32, 600, 1, 0.1, mlg.Sum, nil)
		k := Standardized(x.Kernel)
		attributes.Settings = append(attributes.Settings, Setting{k.String(), k})
	}
	return append(out, attributes), nil
}

// attributeBase returns, for attributes x of d dimensions, the base kernel
//
//	exp(−s|x−y|²/(2d)) · ½(1 + [same label]),
//
// without the second factor where there are no labels.
func attributeBase(info dataset.Summary, s float64) (mlg.Base, error) {
	gauss, err := mlg.Gaussian(math.Sqrt(float64(info.Attributes) / s))
	if err != nil || info.NodeLabels == 0 {
		return gauss, err
	}
	return mlg.Plus(0.5, gauss, 0.5, mlg.Times(gauss, mlg.Labels()))
}
