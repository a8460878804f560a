package explorer

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/cluster"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/nearest"
	"github.com/mlgkernel/mlg/work"
)

const (
	mostClusters  = 24  // that are tried
	clusterSample = 800 // graphs around some of which clusters are made; the others join the most similar one
	mostGroups    = 500 // in an answer
	mostPairs     = 200
	typicalSample = 200 // graphs of a group among which the typical one is looked for
)

// structureAnswer says what the data consist of.
type structureAnswer struct {
	Clusters   []group         `json:"clusters" help:"groups of similar graphs; of two or more there are as many as have the largest silhouettes"`
	Scaffolds  []group         `json:"scaffolds" help:"molecules with one scaffold, from two on; the largest groups first"`
	Duplicates []group         `json:"duplicates" help:"equal molecules, or other graphs that the kernel cannot tell apart; those with the most different targets first"`
	Isomers    []group         `json:"isomers" help:"molecules that are equal but for stereochemistry; those with the most different targets first"`
	Cliffs     []cliff         `json:"cliffs" help:"pairs of similar graphs with different classes, or with values that differ by more than 1.5 standard deviations: stereoisomers first, then the steepest; two pairs of a graph at most"`
	All        structureCounts `json:"all" help:"how many there are of each; the lists have the first ones"`
}

// structureCounts are the lengths of the lists of a structureAnswer before they are cut.
type structureCounts struct {
	Clusters   int `json:"clusters"`
	Scaffolds  int `json:"scaffolds"`
	Duplicates int `json:"duplicates"`
	Isomers    int `json:"isomers"`
	Cliffs     int `json:"cliffs"`
}

// group is some graphs with a typical one.
type group struct {
	Typical int   `json:"typical" help:"the graph that is most similar to the others"`
	Members []int `json:"members" help:"ascending"`
}

// cliff is a pair of graphs that are alike and whose targets are not.
type cliff struct {
	A          int      `json:"a"`
	B          int      `json:"b"`
	Similarity float64  `json:"similarity"`
	Difference *float64 `json:"difference" help:"of the values of a and b; null for classes"`
	Steepness  float64  `json:"steepness" help:"the difference of values, 1 for classes, over 1 − similarity plus its median for nearest graphs"`
	Isomers    bool     `json:"isomers" help:"they differ in stereochemistry alone"`
}

// structured returns what the data consist of.
func (x *session) structured(ctx context.Context) (*structureAnswer, error) {
	p, err := x.placed(ctx)
	if err != nil {
		return nil, err
	}
	f, err := x.fitted(ctx)
	if err != nil {
		return nil, err
	}
	return computeAt(ctx, x, beside, &x.structure, "structure", func(ctx context.Context) (*structureAnswer, error) {
		d, self, out := x.s.data, f.Kernel.Self(), &structureAnswer{}
		if out.Clusters, err = f.clusters(ctx); err != nil {
			return nil, err
		}
		if out.Scaffolds, out.All.Scaffolds, err = f.scaffolds(ctx, d); err != nil {
			return nil, err
		}
		out.Cliffs, out.Duplicates, out.Isomers = d.cliffs(p.near, self), d.duplicates(p.near, self), d.isomers(p.near)
		out.All.Clusters, out.All.Cliffs = len(out.Clusters), len(out.Cliffs)
		out.All.Duplicates, out.All.Isomers = len(out.Duplicates), len(out.Isomers)
		out.Cliffs = out.Cliffs[:min(len(out.Cliffs), mostPairs)]
		out.Duplicates, out.Isomers = mostOf(out.Duplicates), mostOf(out.Isomers)
		return out, nil
	})
}

// mostOf returns the first of many groups.
func mostOf(groups []group) []group { return groups[:min(len(groups), mostGroups)] }

func getStructure(_ context.Context, _ *session, a *structureAnswer, _ *kernelRequest) (*structureAnswer, error) {
	return a, nil
}

// clusters groups graphs of the core, an even sample of many. All other graphs join the typical one that they are most
// similar to.
func (f *fitted) clusters(ctx context.Context) ([]group, error) {
	at := every(kernel.UpTo(len(f.core)), clusterSample)
	c, _, err := cluster.Auto(ctx, f.gram.Select(at, at), mostClusters)
	if err != nil {
		return nil, err
	}
	out := make([]group, len(c.Medoids))
	typical := make([]int, len(out))
	for k, m := range c.Medoids {
		typical[k] = f.core[at[m]]
		out[k] = group{typical[k], []int{}}
	}
	block := f.against(typical)
	for rows := range slices.Chunk(kernel.UpTo(f.Examples()), panelHeight) {
		b, err := block(work.Quiet(ctx), rows)
		if err != nil {
			return nil, err
		}
		for i, g := range rows {
			best := nearest.Largest(b.Row(i), 1)[0].Index
			out[best].Members = append(out[best].Members, g)
		}
	}
	return bySize(out), nil
}

// bySize sorts groups, large ones first.
func bySize(groups []group) []group {
	slices.SortStableFunc(groups, func(a, b group) int { return len(b.Members) - len(a.Members) })
	return groups
}

// scaffolds groups molecules by their scaffolds. It returns the largest groups, and how many there are.
func (f *fitted) scaffolds(ctx context.Context, d *Data) ([]group, int, error) {
	out := []group{}
	if !d.molecules || !chem.Molecules(d.Graphs) {
		return out, 0, nil
	}
	of, err := chem.Scaffolds(d.Graphs)
	if err != nil {
		return out, 0, nil // some are no molecules
	}
	members := make([][]int, slices.Max(of)+1)
	for i, s := range of {
		members[s] = append(members[s], i)
	}
	for _, m := range members {
		if len(m) > 1 {
			out = append(out, group{Members: m})
		}
	}
	all := len(out)
	out = mostOf(bySize(out))
	for k := range out {
		if out[k].Typical, err = f.typical(ctx, out[k].Members); err != nil {
			return nil, 0, err
		}
	}
	return out, all, nil
}

// typical returns the one of some graphs that is most similar to the others, among a sample of many.
func (f *fitted) typical(ctx context.Context, members []int) (int, error) {
	some := every(members, typicalSample)
	b, err := f.block(work.Quiet(ctx), some, some)
	if err != nil {
		return 0, err
	}
	best, most := 0, math.Inf(-1)
	for i := range some {
		sum := 0.0
		for _, v := range b.Row(i) {
			sum += v
		}
		if sum > most {
			best, most = i, sum
		}
	}
	return some[best], nil
}

// equalGraphs says that two graphs cannot be told apart: that they are equal molecules, or that the kernel finds no
// difference. Some graphs that are no molecules can only be compared in exponential time.
func (d *Data) equalGraphs(i int, hit nearest.Hit, self float64) bool {
	g, h := d.Graphs[i], d.Graphs[hit.Index]
	if g == nil || h == nil || g.N() != h.N() {
		return false
	}
	if d.molecules {
		return dataset.Same(g, h) == dataset.SameMolecule
	}
	return hit.Similarity >= self*(1-1e-12) // the rounding of a norm
}

// duplicates groups graphs that are equal.
func (d *Data) duplicates(near [][]nearest.Hit, self float64) []group {
	return d.joined(near, func(i int, hit nearest.Hit) bool { return d.equalGraphs(i, hit, self) })
}

// isomers groups molecules that are equal but for stereochemistry.
func (d *Data) isomers(near [][]nearest.Hit) []group {
	if !d.molecules {
		return []group{}
	}
	return d.joined(near, d.stereoisomers)
}

// joined groups graphs by what joins each with some that are near to it.
func (d *Data) joined(near [][]nearest.Hit, join func(i int, hit nearest.Hit) bool) []group {
	first := kernel.UpTo(len(near)) // of the group of each graph
	root := func(i int) int {
		for first[i] != i {
			i = first[i]
		}
		return i
	}
	for i, hits := range near {
		for _, hit := range hits {
			if a, b := root(i), root(hit.Index); a != b && join(i, hit) {
				first[max(a, b)] = min(a, b)
			}
		}
	}
	members := map[int][]int{}
	for i := range near {
		members[root(i)] = append(members[root(i)], i)
	}
	out := []group{}
	for i := range near {
		if m := members[i]; len(m) > 1 {
			out = append(out, group{i, m})
		}
	}
	slices.SortStableFunc(out, func(a, b group) int { return cmp.Compare(d.spreadOf(b.Members), d.spreadOf(a.Members)) })
	return out
}

// spreadOf says how different the targets of some graphs are: the range of values, or the number of classes.
func (d *Data) spreadOf(graphs []int) float64 {
	known := d.labelled(graphs)
	if len(known) == 0 {
		return -1
	}
	if d.task == regression {
		values := choose.Pick(d.value, known)
		return slices.Max(values) - slices.Min(values)
	}
	classes := choose.Pick(d.class, known)
	slices.Sort(classes)
	return float64(len(slices.Compact(classes)))
}

const (
	// cliffsOfGraph is the number of pairs of a graph that are among the cliffs. One graph with an odd target has one with
	// each of its neighbours, and the first of them tell all.
	cliffsOfGraph   = 2
	cliffDeviations = 1.5 // standard deviations of values that two of a cliff are apart
)

// cliffs returns pairs of graphs, one among the most similar ones of the other, whose targets differ most for their
// similarity: values by more than 1.5 standard deviations. Graphs are similar if three in four graphs have a nearest one that is
// not farther. Stereoisomers come first.
func (d *Data) cliffs(near [][]nearest.Hit, self float64) []cliff {
	out := []cliff{}
	if d.task == noTask {
		return out
	}
	var distances []float64
	for _, hits := range near {
		if len(hits) > 0 {
			distances = append(distances, 1-hits[0].Similarity/self)
		}
	}
	if len(distances) == 0 {
		return out
	}
	slices.Sort(distances)
	usual := max(distances[len(distances)/2], 1e-3) // of data full of duplicates
	far, least := distances[len(distances)*3/4], 0.0
	if d.task == regression {
		least = cliffDeviations * metrics.Deviation(choose.Pick(d.value, d.labelled(kernel.UpTo(len(d.IDs)))))
	}
	seen := map[[2]int]bool{}
	for i, hits := range near {
		for _, hit := range hits {
			a, b := min(i, hit.Index), max(i, hit.Index)
			if seen[[2]int{a, b}] || d.Targets[a] == "" || d.Targets[b] == "" || 1-hit.Similarity/self > far {
				continue
			}
			seen[[2]int{a, b}] = true
			c, difference := cliff{A: a, B: b, Similarity: hit.Similarity}, 0.0
			if d.task == regression {
				difference = math.Abs(d.value[a] - d.value[b])
				c.Difference = &difference
			} else if d.class[a] != d.class[b] {
				difference = 1
			}
			if c.Steepness = difference / (1 - hit.Similarity/self + usual); difference > least && !d.equalGraphs(i, hit, self) {
				c.Isomers = d.stereoisomers(i, hit)
				out = append(out, c)
			}
		}
	}
	isomers := func(c cliff) int {
		if c.Isomers {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b cliff) int {
		return cmp.Or(isomers(a)-isomers(b), cmp.Compare(b.Steepness, a.Steepness), a.A-b.A, a.B-b.B)
	})
	pairs := map[int]int{} // of a graph
	return slices.DeleteFunc(out, func(c cliff) bool {
		if pairs[c.A] == cliffsOfGraph || pairs[c.B] == cliffsOfGraph {
			return true
		}
		pairs[c.A]++
		pairs[c.B]++
		return false
	})
}

// stereoisomers says that two molecules differ in stereochemistry alone.
func (d *Data) stereoisomers(i int, hit nearest.Hit) bool {
	g, h := d.Graphs[i], d.Graphs[hit.Index]
	return d.molecules && g != nil && h != nil && g.N() == h.N() && dataset.Same(g, h) == dataset.OtherStereo
}
