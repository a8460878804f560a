package choose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

// rowPowers are the powers in which candidates for rows have the kernels of structures, and rowWidths the widths of
// numbers beside them. A high power tells structures apart that are much alike.
var (
	rowPowers = []int{1, 4}
	rowWidths = []float64{0.1, 0.3, 1, 3}
)

// rowRidges are the smaller ridges of rows, of which many differ in a number alone.
var rowRidges = []float64{1e-5, 3e-5, 1e-4, 3e-4}

// mostSubsets is the largest number of structures whose subsets are all multiplied.
const mostSubsets = 4

// rowCandidates returns the list for rows of a table. Structures are compared by two kernels that count. Their values for
// the structures of a row are averaged, for what each adds by itself; multiplied, for what depends on all together; or
// the products of all subsets are averaged, for both. Numbers and categories multiply that.
func rowCandidates(info dataset.Summary) []Candidate {
	assignment, pairs := classic.DefaultWL(), classic.DefaultNSPD()
	assignment.Variant, assignment.H = classic.Assignment, 4
	pairs.R, pairs.D = 1, 5
	structures := []Setting{{"wl-oa", assignment}, {"nspd", pairs}}
	if info.EdgeLabels > 1 {
		structures = []Setting{{"wl-oa bonds", kernel.Incident(assignment)}, {"nspd bonds", kernel.Incident(pairs)}}
	}
	var out []Candidate
	for _, s := range structures {
		for _, shape := range rowShapes(info.Structures, info.Numbers != nil || info.Categories != nil) {
			for _, power := range rowPowers {
				for _, v := range rowValues(info) {
					name := s.Parameters + " " + shape.name
					if power > 1 {
						name += fmt.Sprintf(" ^%d", power)
					}
					c := single(strings.TrimSpace(name+" "+v.Parameters), shape.of(s.Kernel, info.Structures, power, v.Kernel))
					c.Ridges = rowRidges
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// rowShape is a way to put the kernels of structures together: products of some of them, which are averaged.
type rowShape struct {
	name     string
	products [][]int
}

// rowShapes returns the shapes for rows. With values, the empty subset is one of the subsets: the values alone.
func rowShapes(structures []string, values bool) []rowShape {
	var each [][]int
	for i := range structures {
		each = append(each, []int{i})
	}
	out := []rowShape{{"product", [][]int{kernel.UpTo(len(structures))}}}
	if len(structures) > 1 {
		out = append(out, rowShape{"mean", each})
	}
	if n := len(structures); (n > 1 || values) && n <= mostSubsets {
		var subsets [][]int
		first := 1
		if values {
			first = 0
		}
		for set := first; set < 1<<n; set++ {
			var at []int
			for i := range n {
				if set>>i&1 == 1 {
					at = append(at, i)
				}
			}
			subsets = append(subsets, at)
		}
		out = append(out, rowShape{"subsets", subsets})
	}
	return out
}

// of returns the kernel of a shape, times that of values, if there are some.
func (s rowShape) of(k kernel.Kernel, structures []string, power int, values kernel.Kernel) kernel.Kernel {
	var terms []kernel.Kernel
	for _, product := range s.products {
		var factors []kernel.Kernel
		for _, i := range product {
			factors = append(factors, slices.Repeat([]kernel.Kernel{kernel.OfPart(k, structures[i])}, power)...)
		}
		if values != nil {
			factors = append(factors, values)
		}
		terms = append(terms, kernel.Product(factors...))
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return kernel.Mean(terms...)
}

// rowValues returns kernels of the numbers and categories of rows, one for each width; one without a kernel where rows have
// none.
func rowValues(info dataset.Summary) (out []Setting) {
	var categories []kernel.Kernel
	for _, c := range info.Categories {
		categories = append(categories, kernel.OfPart(classic.DefaultHistogram(), c))
	}
	if info.Numbers == nil {
		if categories == nil {
			return []Setting{{}}
		}
		return []Setting{{"× categories", kernel.Product(categories...)}}
	}
	for _, w := range rowWidths {
		k := classic.DefaultNumberGaussian()
		k.Width = w
		factors := slices.Clone(categories)
		for _, n := range info.Numbers {
			factors = append(factors, kernel.OfPart(k, n))
		}
		out = append(out, Setting{"× numbers " + param.Number(w), kernel.Product(factors...)})
	}
	return out
}

// rowGroups groups rows of a table by their structures, if most rows share them with others, as the same mixture at other
// temperatures; else by the structure of which there are most. It returns nil for other graphs, and for fewer groups
// than folds.
func rowGroups(d *dataset.Dataset) *Groups {
	structures, _, _ := graph.PartNames(d.Graphs)
	if structures == nil {
		return nil
	}
	var best *Groups
	for _, names := range append([][]string{structures}, splitNames(structures)...) {
		g, numbers := &Groups{By: strings.Join(names, and)}, map[uint64]int{}
		key := RowGroup(d.Graphs[0], g.By)
		for _, x := range d.Graphs {
			k := key(x)
			if _, seen := numbers[k]; !seen {
				numbers[k] = len(numbers)
			}
			g.Of = append(g.Of, numbers[k])
		}
		n := len(numbers)
		if n >= heldOutFolds && 2*n <= len(d.Graphs) && (best == nil || n > slices.Max(best.Of)+1) {
			best = g
		}
	}
	return best
}

// and stands between the names of structures by which rows are grouped.
const and = " and "

// splitNames returns each of several names by itself.
func splitNames(names []string) (out [][]string) {
	for _, n := range names {
		out = append(out, []string{n})
	}
	return out
}

// RowGroup returns what tells the group of a row like one, where Groups.By are structures of it; nil where they are not.
func RowGroup(like *graph.Graph, by string) func(g *graph.Graph) uint64 {
	structures, _, _ := graph.PartNames([]*graph.Graph{like})
	names := []string{by}
	if by == strings.Join(structures, and) {
		names = structures
	} else if !slices.Contains(structures, by) {
		return nil
	}
	known := map[*graph.Graph]uint64{}
	return func(g *graph.Graph) uint64 {
		sum := uint64(0)
		for _, name := range names {
			p := g.Part(name)
			if p == nil {
				continue
			}
			h, seen := known[p]
			if !seen {
				h = p.Hash()
				known[p] = h
			}
			sum = sum*0x9e3779b97f4a7c15 + h
		}
		return sum
	}
}
