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
	Clusters   []group   `json:"clusters" help:"groups of similar graphs; of two or more there are as many as have the largest silhouettes"`
	Scaffolds  []group   `json:"scaffolds" help:"molecules with one scaffold, from two on; the largest groups first"`
	Duplicates []group   `json:"duplicates" help:"equal molecules, or other graphs that the kernel cannot tell apart; those with the most different targets first"`
	Isomers    []group   `json:"isomers" help:"molecules that are equal but for stereochemistry; those with the most different targets first"`
	Cliffs     []cliff   `json:"cliffs" help:"pairs of similar graphs with different classes, or with values that differ by more than their standard deviation; the steepest first"`
	Outliers   []outlier `json:"outliers" help:"graphs whose target is far from its prediction, the farthest first"`
	Note       string    `json:"note" help:"why there are no outliers; otherwise empty"`
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
}

// outlier is a graph that learners that have not seen it cannot explain.
type outlier struct {
	Graph       int      `json:"graph"`
	Nearest     int      `json:"nearest" help:"the most similar graph, −1 for none"`
	Deviations  *float64 `json:"deviations" help:"how many standard deviations of measurements the prediction is off; null for classes, and where deviations are not known"`
	Error       *float64 `json:"error" help:"predicted less measured value; null for classes"`
	Predicted   string   `json:"predicted" help:"the class; empty for values"`
	Probability *float64 `json:"probability" help:"of the true class; null for values"`
}

// structured returns what the data consist of.
func (x *session) structured(ctx context.Context) (*structureAnswer, error) {
	p, err := x.placed(ctx)
	if err != nil {
		return nil, err
	}
	var t *training
	if x.s.data.task != noTask && !x.saved {
		if t, err = x.trained(ctx); err != nil {
			return nil, err
		}
	}
	return follows(ctx, x, &x.structure, "structure", func(ctx context.Context, f *fitted) (*structureAnswer, error) {
		out := &structureAnswer{Cliffs: x.s.data.cliffs(p.near, f.Kernel.Self())}
		if out.Clusters, err = f.clusters(ctx); err != nil {
			return nil, err
		}
		if out.Scaffolds, err = f.scaffolds(ctx, x.s.data); err != nil {
			return nil, err
		}
		self := f.Kernel.Self()
		out.Duplicates, out.Isomers = x.s.data.duplicates(p.near, self), x.s.data.isomers(p.near)
		out.Outliers = x.s.data.outliers(t, p.near)
		if t == nil || t.plan == nil {
			out.Note = "Outliers need predictions of graphs that the learner has not seen."
		}
		return out, nil
	})
}

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

// bySize sorts groups, large ones first, and leaves out the smallest of too many.
func bySize(groups []group) []group {
	slices.SortStableFunc(groups, func(a, b group) int { return len(b.Members) - len(a.Members) })
	return groups[:min(len(groups), mostGroups)]
}

// scaffolds groups molecules by their scaffolds.
func (f *fitted) scaffolds(ctx context.Context, d *Data) ([]group, error) {
	out := []group{}
	if !d.molecules || !chem.Molecules(d.Graphs) {
		return out, nil
	}
	of, err := chem.Scaffolds(d.Graphs)
	if err != nil {
		return out, nil // some are no molecules
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
	out = bySize(out)
	for k := range out {
		if out[k].Typical, err = f.typical(ctx, out[k].Members); err != nil {
			return nil, err
		}
	}
	return out, nil
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
	return d.joined(near, func(i int, hit nearest.Hit) bool {
		g, h := d.Graphs[i], d.Graphs[hit.Index]
		return g != nil && h != nil && g.N() == h.N() && dataset.Same(g, h) == dataset.OtherStereo
	})
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
	return out[:min(len(out), mostGroups)]
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

// cliffs returns pairs of graphs, one among the most similar ones of the other, whose targets differ most for their
// similarity: values by more than their standard deviation. Graphs are similar if nine in ten graphs have a nearest one that is
// not farther.
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
	far := distances[len(distances)*9/10]
	least := 0.0
	if d.task == regression {
		least = metrics.Deviation(choose.Pick(d.value, d.labelled(kernel.UpTo(len(d.IDs)))))
	}
	seen := map[[2]int]bool{}
	for i, hits := range near {
		for _, hit := range hits {
			a, b := min(i, hit.Index), max(i, hit.Index)
			if seen[[2]int{a, b}] || d.target(a) == "" || d.target(b) == "" || 1-hit.Similarity/self > far {
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
				out = append(out, c)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b cliff) int {
		return cmp.Or(cmp.Compare(b.Steepness, a.Steepness), a.A-b.A, a.B-b.B)
	})
	return out[:min(len(out), mostPairs)]
}

// farDeviations is from how many standard deviations on a value is an outlier. Of normal errors 2.7 % are.
const farDeviations = 2.2

// outliers returns graphs whose targets are far from what learners predict that have not seen them: values by more than some
// standard deviations, and classes that are not the predicted ones.
func (d *Data) outliers(t *training, near [][]nearest.Hit) []outlier {
	out := []outlier{}
	if t == nil || t.plan == nil {
		return out
	}
	held := t.plan.Held
	far := map[int]float64{} // by graph
	for at, i := range t.known {
		o := outlier{Graph: i, Nearest: -1}
		if len(near[i]) > 0 {
			o.Nearest = near[i][0].Index
		}
		if t.plan.Regression() {
			e := held.Values[at] - d.value[i]
			far[i], o.Error = math.Abs(e), &e
			if held.Deviations != nil && held.Deviations[at] > 0 {
				z := math.Abs(e) / held.Deviations[at]
				far[i], o.Deviations = z, &z
				if z < farDeviations {
					continue
				}
			}
			out = append(out, o)
			continue
		}
		said, truth := held.Labels[at], slices.Index(t.plan.Classes, d.target(i))
		if said == truth {
			continue
		}
		o.Predicted = t.plan.Classes[said]
		if held.Scores != nil && truth >= 0 {
			o.Probability = &held.Scores[at][truth]
			far[i] = -held.Scores[at][truth]
		}
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b outlier) int { return cmp.Compare(far[b.Graph], far[a.Graph]) })
	return out[:min(len(out), mostPairs)]
}
