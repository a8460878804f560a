package evaluate

import (
	"fmt"
	"math"
	"slices"

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
// combines, the same for all datasets (docs/evaluation.md has it as a table, and why it is so).
// Every candidate is the mean of a family of kernels that differ in η, γ and the combination of
// levels, or the product of two such means: averaging costs less accuracy than choosing among
// them does. Data with vertex attributes or edge labels get some more, data without vertex labels
// use degrees instead.
func DefaultCandidates(info dataset.Summary) ([]Candidate, error) {
	labels := mlg.Labels()
	if info.NodeLabels == 0 {
		labels = mlg.Degree()
	}
	heat, err := mlg.Heat(0.5, 1, 2)
	if err != nil {
		return nil, err
	}
	short, err := mlg.WL(1)
	if err != nil {
		return nil, err
	}
	long, err := mlg.WL(3)
	if err != nil {
		return nil, err
	}
	paper := Share(Mean(
		lowRank(labels, 10, 100, 0.1, 0.1, mlg.Top, 1, 2), lowRank(labels, 10, 100, 0.1, 0.01, mlg.Top, 1, 2),
		lowRank(labels, 10, 100, 1, 0.1, mlg.Top, 1), lowRank(labels, 10, 100, 1, 0.01, mlg.Top, 1)))
	discounted := mlg.DefaultOptions()
	discounted.Base, discounted.Rank, discounted.Samples, discounted.Eta, discounted.Combine, discounted.Discount = labels, 20, 300, 1, mlg.Sum, true
	wide := Share(Mean(append(wideFamily(labels, 1, 2), mlg.NewKernel(discounted))...))
	colours, deep, diffusion := Share(Mean(wideFamily(short, 1, 2, 4)...)), Share(Mean(wideFamily(long, 1, 2, 4)...)), Share(Mean(wideFamily(heat, 1, 2, 4)...))
	families := []mlg.Kernel{wide, colours, deep}
	both := Share(lowRank(mlg.Times(labels, mlg.Degree()), 32, 600, 1, 0.1, mlg.Mixed, 1, 2))
	if info.NodeLabels > 0 { // else labels are degrees
		families = append(families, both)
	}
	all := Share(Mean(families...))
	assignment1, assignment4 := Share(wl(info, baseline.Assignment, 1)), Share(wl(info, baseline.Assignment, 4))
	out := []Candidate{
		single("mlg paper", paper),
		single("mlg labels", wide),
		single("mlg wl(1)", colours),
		single("mlg wl(3)", deep),
		single("mlg heat", diffusion),
		single("mlg all", all),
		single("mlg labels × wl-oa(1)", Product(wide, assignment1)),
		single("mlg wl(1) × wl-oa(4)", Product(colours, assignment4)),
		single("mlg wl(3) × wl-oa(4)", Product(deep, assignment4)),
		single("mlg all × wl-oa(1)", Product(all, assignment1)),
		single("mlg all × wl-oa(4)", Product(all, assignment4)),
		single("mlg heat × wl-oa(1)", Product(diffusion, assignment1)),
		single("mlg heat × wl-oa(4)", Product(diffusion, assignment4)),
		single("mlg labels × heat", Product(wide, diffusion)),
		single("mlg paper × heat", Product(paper, diffusion)),
		single("wl-oa(4)²", Product(assignment4, assignment4)),
	}
	if info.NodeLabels > 0 {
		out = append(out, single("mlg labels and degree", both))
	}
	if info.EdgeLabels > 1 {
		// Distances are doubled.
		out = append(out,
			single("mlg edges", Subdivided(Mean(slices.Concat(wideFamily(mlg.Labels(), 1, 2), wideFamily(mlg.Labels(), 2))...))),
			single("mlg edges paper", Subdivided(Mean(
				lowRank(mlg.Labels(), 10, 100, 1, 0.1, mlg.Sum, 1, 2), lowRank(short, 10, 100, 1, 0.1, mlg.Sum, 1, 2), lowRank(short, 10, 100, 1, 0.1, mlg.Sum, 2)))),
			single("mlg edges wl(1)", Subdivided(Mean(slices.Concat(wideFamily(short, 1, 2), wideFamily(short, 2))...))))
	}
	if info.Attributes > 0 {
		var kernels []mlg.Kernel
		for _, s := range []float64{0.1, 0.3, 1, 3, 10} {
			base, err := attributeBase(info, s)
			if err != nil {
				return nil, err
			}
			kernels = append(kernels, lowRank(base, 32, 600, 1, 0.1, mlg.Sum, 1, 2))
		}
		attributes := Share(Standardized(Mean(kernels...)))
		out = append(out, single("mlg attributes", attributes), single("mlg attributes × wl-oa(1)", Product(attributes, assignment1)),
			single("mlg attributes × heat", Product(attributes, diffusion)))
	}
	return out, nil
}

// single returns a candidate with one setting.
func single(name string, k mlg.Kernel) Candidate {
	return Candidate{Name: name, Settings: []Setting{{Parameters: name, Kernel: k}}}
}

// lowRank returns the low-rank MLG kernel with the given parameters.
func lowRank(base mlg.Base, rank, samples int, eta, gamma float64, combine mlg.Combine, radii ...int) mlg.Kernel {
	o := mlg.DefaultOptions()
	o.Base, o.Rank, o.Samples, o.Eta, o.Gamma, o.Combine, o.Radii = base, rank, samples, eta, gamma, combine, radii
	return mlg.NewKernel(o)
}

// wideFamily returns the MLG kernels of rank 32 with 600 landmarks, γ = 0.1, η = 0.1 and 1, and
// the mean of the ways to combine levels.
func wideFamily(base mlg.Base, radii ...int) []mlg.Kernel {
	return []mlg.Kernel{lowRank(base, 32, 600, 0.1, 0.1, mlg.Mixed, radii...), lowRank(base, 32, 600, 1, 0.1, mlg.Mixed, radii...)}
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
