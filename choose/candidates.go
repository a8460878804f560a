package choose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

// Setting is a kernel with all its parameters.
type Setting struct {
	// Parameters sets the kernel apart from the settings of all candidates.
	Parameters string
	Kernel     kernel.Kernel
}

// Candidate is a family of kernels whose parameters are to be chosen among settings.
type Candidate struct {
	Name     string
	Settings []Setting
	// Share is the weight of the kernel in the sum of cheap ones that Weighted takes for many graphs.
	Share Share
	// Ridges are smaller ones than those of the grid that the kernels need, nil for none. Such kernels vary little, and
	// would not tell beside others in a sum. So Weighted takes either these or the others, whichever weigh more.
	Ridges []float64
}

// Share is a weight in a sum for classes, and in one for values; 0 where it is not in the sum.
type Share struct{ Classes, Values float64 }

// Each returns kernels as candidates, each named by its text.
func Each(kernels ...kernel.Kernel) (out []Candidate) {
	for _, k := range kernels {
		out = append(out, single(k.String(), k))
	}
	return out
}

// LabelHistogram is the kernel of label histograms (degrees where the graphs have no labels). Every
// evaluation shows it beside the other kernels.
func LabelHistogram() Candidate {
	k := classic.DefaultHistogram()
	return Candidate{Name: "labels", Settings: []Setting{{k.String(), k}}}
}

// DefaultCandidates returns the fixed list from which Choose chooses and which it combines, the same
// for all datasets: a few cheap kernels that see different things, and all products of two of them
// (docs/explanation/evaluation.md has them as a table). Data with vertex attributes get a kernel more
// for these. Data with edge labels get one more, and a second family of the three that count, for
// vertices with the labels of their edges. Molecules with marks of stereochemistry get a third one, which sees them.
// Values of graphs with edge labels get sums with a kernel of counts, for what adds up over a graph.
// Data without vertex labels use degrees instead. For large
// graphs, Afford makes the list smaller. Rows of a table have a list of their own.
func DefaultCandidates(info dataset.Summary) []Candidate {
	if info.Structures != nil {
		return rowCandidates(info)
	}
	labels := "labels"
	if info.NodeLabels == 0 {
		labels = "degree"
	}
	sharp := lowRank(labels, 0.1, mlg.Mixed, 1, 2)
	sharp.Gamma = 0.01
	heat := lowRank("heat", 0.3, mlg.Mixed, 2, 4)
	heat.Samples = 32
	assignment := classic.DefaultWL()
	assignment.Variant, assignment.H = classic.Assignment, 4
	family := []Setting{
		{"mlg labels", lowRank(labels, 1, mlg.Sum, 1, 2)},
		{"mlg labels sharp", sharp},
		{"mlg wl", lowRank("wl h=1", 0.1, mlg.Mixed, 2)},
		{"mlg heat", heat},
	}
	pairs := classic.DefaultNSPD()
	pairs.R, pairs.D = 1, 5
	counts := []Setting{{"wl-oa", assignment}, {"nspd", pairs}, {"sp", classic.DefaultShortestPath()}}
	family = append(family, counts...)
	var incident, stereo []Setting
	var bonds kernel.Kernel
	if info.EdgeLabels > 1 {
		subdivided := lowRank("labels", 1, mlg.Sum, 1, 2)
		subdivided.Samples = 100
		bonds = kernel.Mean(lowRank(labels, 1, mlg.Sum, 1, 2), kernel.Subdivided(subdivided))
		family = append(family, Setting{"mlg bonds", bonds})
		for _, s := range counts {
			incident = append(incident, Setting{s.Parameters + " bonds", kernel.Incident(s.Kernel)})
		}
	}
	if info.Marked > 0 {
		for _, s := range counts[:2] {
			stereo = append(stereo, Setting{s.Parameters + " stereo", kernel.WithStereo(kernel.Incident(s.Kernel))})
		}
	}
	if info.Attributes > 0 {
		var widths []kernel.Kernel
		for _, s := range []float64{0.1, 0.3, 1, 3, 10} {
			widths = append(widths, lowRank(attributeBase(info, s), 1, mlg.Sum, 1, 2))
		}
		family = append(family, Setting{"mlg attributes", kernel.Standardized(kernel.Mean(widths...))})
	}
	out := slices.Concat(products(family), products(incident), products(stereo))
	if info.TargetRange != nil && info.EdgeLabels > 1 {
		others := []Setting{{"mlg bonds", bonds}, incident[1]}
		for _, other := range []int{0, 2} {
			others = append(others, Setting{incident[1].Parameters + " × " + incident[other].Parameters, kernel.Product(incident[1].Kernel, incident[other].Kernel)})
		}
		for _, s := range others {
			out = append(out, composition("composition + ", 0, nil, s, 0.9, 0.97),
				composition("wide composition + ", 300, []float64{1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4}, s, 0.9999))
		}
	}
	multiscale := "mlg labels"
	if bonds != nil {
		multiscale = "mlg bonds"
	}
	for i, c := range out {
		switch c.Name {
		case "wl-oa", "nspd", "wl-oa bonds", "nspd bonds":
			out[i].Share = Share{1, 1}
		case "sp", multiscale:
			out[i].Share = Share{0, 2}
		}
	}
	return out
}

// composition returns sums of another kernel with one of counts, which has some shares. A width of 0 is the default.
func composition(name string, width float64, ridges []float64, other Setting, shares ...float64) Candidate {
	whole := classic.DefaultComposition()
	whole.Width = cmp.Or(width, whole.Width)
	c := Candidate{Name: name + other.Parameters, Ridges: ridges}
	for _, s := range shares {
		rest := math.Round((1-s)*1e4) / 1e4
		k := kernel.Weighted([]float64{s, rest}, []kernel.Kernel{whole, other.Kernel})
		name := fmt.Sprintf("%s %s%s %s", param.Number(s), name, param.Number(rest), other.Parameters)
		c.Settings = append(c.Settings, Setting{name, k})
	}
	return c
}

// Quick returns one setting of DefaultCandidates: that with attributes if the data
// have some, else that with bonds, else one with WL colours as base kernel, which do well on most data.
func Quick(all []Candidate) Candidate {
	at := 0
	for _, name := range []string{"mlg wl", "mlg bonds", "mlg attributes"} {
		if i := slices.IndexFunc(all, func(c Candidate) bool { return c.Name == name }); i >= 0 {
			at = i
		}
	}
	return Candidate{Name: all[at].Name, Settings: all[at].Settings[:1]}
}

// products returns kernels and all products of two of them.
func products(kernels []Setting) []Candidate {
	var out []Candidate
	for i, b := range kernels {
		for _, a := range kernels[:i] {
			out = append(out, single(a.Parameters+" × "+b.Parameters, kernel.Product(a.Kernel, b.Kernel)))
		}
		out = append(out, single(b.Parameters, b.Kernel))
	}
	return out
}

// single returns a candidate with one setting.
func single(name string, k kernel.Kernel) Candidate {
	return Candidate{Name: name, Settings: []Setting{{name, k}}}
}

// lowRank returns the low-rank kernel with γ = 0.1, rank 16 and 50 samples.
func lowRank(base string, eta float64, combine mlg.Combine, radii ...int) mlg.Kernel {
	k := mlg.Default()
	k.Base, k.Bonds, k.Rank, k.Samples, k.Eta, k.Combine, k.Radii = base, mlg.No, 16, 50, eta, combine, radii
	return k
}

// attributeBase returns, for attributes x of d dimensions, the base kernel
//
//	exp(−s|x−y|²/(2d)) · ½(1 + [same label]),
//
// without the second factor where there are no labels.
func attributeBase(info dataset.Summary, s float64) string {
	gauss := "gaussian sigma=" + param.Number(math.Sqrt(float64(info.Attributes)/s))
	if info.NodeLabels == 0 {
		return gauss
	}
	return "0.5 " + gauss + " + 0.5 " + gauss + " * labels"
}
