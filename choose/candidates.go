package choose

import (
	"fmt"
	"math"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
)

// Setting is a kernel with all its parameters.
type Setting struct {
	// Parameters says what sets the kernel apart from the other settings of its candidate.
	Parameters string
	Kernel     kernel.Kernel
}

// Candidate is a family of kernels whose parameters are to be chosen among settings.
type Candidate struct {
	Name     string
	Settings []Setting
}

// LabelHistogram is the kernel of label histograms (degrees where the graphs have no labels). Every
// evaluation shows it beside the other kernels.
func LabelHistogram() Candidate {
	k := baseline.DefaultHistogram()
	return Candidate{Name: "labels", Settings: []Setting{{k.String(), k}}}
}

// assignment returns the Weisfeiler-Lehman optimal assignment kernel.
func assignment(h int) kernel.Kernel {
	k := baseline.DefaultWL()
	k.Variant, k.H = baseline.Assignment, h
	return k
}

// DefaultCandidates returns the fixed list of kernels from which Choose chooses and which it
// combines, the same for all datasets (docs/explanation/evaluation.md has it as a table). Every
// candidate is the mean of a family of kernels that differ in η, γ and the combination of levels,
// or the product of two such means. Averaging them costs less accuracy than choosing among them.
// Data with vertex attributes or edge labels get some more candidates. Data without vertex labels
// use degrees instead.
func DefaultCandidates(info dataset.Summary) []Candidate {
	labels := "labels"
	if info.NodeLabels == 0 {
		labels = "degree"
	}
	const short, long, heat = "wl(1)", "wl(3)", "heat(0.5,1,2)"
	landmarks := 600
	if info.Graphs >= 500 { // as accurate then, and three times as fast
		landmarks = 200
	}
	// family returns the kernels of rank 32 with γ = 0.1, η = 0.1 and 1, and the mean of the ways to
	// combine levels.
	family := func(base string, radii ...int) []kernel.Kernel {
		return []kernel.Kernel{lowRank(base, 32, landmarks, 0.1, 0.1, mlg.Mixed, radii...), lowRank(base, 32, landmarks, 1, 0.1, mlg.Mixed, radii...)}
	}
	paper := kernel.Mean(
		lowRank(labels, 10, 100, 0.1, 0.1, mlg.Top, 1, 2), lowRank(labels, 10, 100, 0.1, 0.01, mlg.Top, 1, 2),
		lowRank(labels, 10, 100, 1, 0.1, mlg.Top, 1), lowRank(labels, 10, 100, 1, 0.01, mlg.Top, 1))
	discounted := lowRank(labels, 20, 300, 1, 0.1, mlg.Sum, 1, 2)
	discounted.Discount = true
	wide := kernel.Mean(append(family(labels, 1, 2), discounted)...)
	colours, deep, diffusion := kernel.Mean(family(short, 1, 2, 4)...), kernel.Mean(family(long, 1, 2, 4)...), kernel.Mean(family(heat, 1, 2, 4)...)
	families := []kernel.Kernel{wide, colours, deep}
	both := lowRank(labels+"*degree", 32, landmarks, 1, 0.1, mlg.Mixed, 1, 2)
	if info.NodeLabels > 0 { // else labels are degrees
		families = append(families, both)
	}
	all := kernel.Mean(families...)
	assignment1, assignment4 := assignment(1), assignment(4)
	out := []Candidate{
		single("mlg paper", paper),
		single("mlg labels", wide),
		single("mlg wl(1)", colours),
		single("mlg wl(3)", deep),
		single("mlg heat", diffusion),
		single("mlg all", all),
		single("mlg labels × wl-oa(1)", kernel.Product(wide, assignment1)),
		single("mlg wl(1) × wl-oa(4)", kernel.Product(colours, assignment4)),
		single("mlg wl(3) × wl-oa(4)", kernel.Product(deep, assignment4)),
		single("mlg all × wl-oa(1)", kernel.Product(all, assignment1)),
		single("mlg all × wl-oa(4)", kernel.Product(all, assignment4)),
		single("mlg heat × wl-oa(1)", kernel.Product(diffusion, assignment1)),
		single("mlg heat × wl-oa(4)", kernel.Product(diffusion, assignment4)),
		single("mlg labels × heat", kernel.Product(wide, diffusion)),
		single("mlg paper × heat", kernel.Product(paper, diffusion)),
		single("wl-oa(4)²", kernel.Product(assignment4, assignment4)),
	}
	if info.NodeLabels > 0 {
		out = append(out, single("mlg labels and degree", both))
	}
	if info.EdgeLabels > 1 {
		bonds := kernel.Mean(lowRank(labels, 20, 300, 1, 0.1, mlg.Sum, 1, 2), kernel.Subdivided(lowRank("labels", 20, 300, 1, 0.1, mlg.Sum, 1, 2)))
		out = append(out, single("mlg bonds", bonds), single("mlg bonds × wl-oa(1)", kernel.Product(bonds, assignment1)),
			single("mlg bonds × wl-oa(4)", kernel.Product(bonds, assignment4)), single("mlg bonds × heat", kernel.Product(bonds, diffusion)))
	}
	if info.Attributes > 0 {
		var kernels []kernel.Kernel
		for _, s := range []float64{0.1, 0.3, 1, 3, 10} {
			kernels = append(kernels, lowRank(attributeBase(info, s), 16, 150, 1, 0.1, mlg.Sum, 1, 2))
		}
		attributes := kernel.Standardized(kernel.Mean(kernels...))
		out = append(out, single("mlg attributes", attributes), single("mlg attributes × wl-oa(1)", kernel.Product(attributes, assignment1)),
			single("mlg attributes × heat", kernel.Product(attributes, diffusion)))
	}
	return out
}

// single returns a candidate with one setting.
func single(name string, k kernel.Kernel) Candidate {
	return Candidate{Name: name, Settings: []Setting{{name, k}}}
}

// lowRank returns the low-rank kernel with the given parameters.
func lowRank(base string, rank, samples int, eta, gamma float64, combine mlg.Combine, radii ...int) mlg.Kernel {
	k := mlg.Default()
	k.Base, k.Rank, k.Samples, k.Eta, k.Gamma, k.Combine, k.Radii = base, rank, samples, eta, gamma, combine, radii
	return k
}

// attributeBase returns, for attributes x of d dimensions, the base kernel
//
//	exp(−s|x−y|²/(2d)) · ½(1 + [same label]),
//
// without the second factor where there are no labels.
func attributeBase(info dataset.Summary, s float64) string {
	gauss := fmt.Sprintf("gaussian(%v)", math.Sqrt(float64(info.Attributes)/s))
	if info.NodeLabels == 0 {
		return gauss
	}
	return "0.5" + gauss + "+0.5" + gauss + "*labels"
}
