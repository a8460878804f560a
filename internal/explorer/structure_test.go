package explorer

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
)

// oddSeries are chains whose values follow their length, but for the eighth; the last is the sixth again, with another value.
func oddSeries() string {
	var b strings.Builder
	b.WriteString("name,smiles,y\n")
	for i := range 60 {
		y := float64(i%20) / 4
		if i == 8 {
			y = 9
		}
		fmt.Fprintf(&b, "m%d,%s%s,%g\n", i, strings.Repeat("C", 1+i%20), []string{"O", "N", "c1ccccc1"}[i/20], y)
	}
	return b.String() + "twin,OCCCCCC,3.5\n"
}

// Clusters are a partition around graphs that are nearest to their own; other lists have what was put there.
func TestStructure(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), func(o *Options) { o.Whole, o.Core = 50, 58 }) // some graphs are outside the core
	a := s.upload("name=series.csv&target=y", oddSeries())
	var out structureAnswer
	s.get("/api/v1/structure?source="+a.Source, &out)
	var all []int
	for _, g := range out.Clusters {
		if !slices.Contains(g.Members, g.Typical) {
			t.Errorf("cluster %+v without its typical graph", g)
		}
		all = append(all, g.Members...)
	}
	slices.Sort(all)
	if !slices.Equal(all, kernel.UpTo(61)) || len(out.Clusters) < 2 {
		t.Errorf("%d clusters of %v", len(out.Clusters), all)
	}
	if len(out.Scaffolds) != 2 || len(out.Scaffolds[0].Members) != 41 || len(out.Scaffolds[1].Members) != 20 {
		t.Errorf("scaffolds %+v", out.Scaffolds)
	}
	if len(out.Duplicates) == 0 || !slices.Equal(out.Duplicates[0].Members, []int{5, 60}) {
		t.Errorf("duplicates %+v", out.Duplicates)
	}
	if c := out.Cliffs[0]; c.A != 8 && c.B != 8 || math.Abs(*c.Difference) < 5 {
		t.Errorf("the steepest cliff is %+v", c)
	}
	for _, c := range out.Cliffs {
		if c.A == 5 && c.B == 60 {
			t.Errorf("equal graphs are a cliff: %+v", c)
		}
	}
	if out.All != (structureCounts{len(out.Clusters), 2, len(out.Duplicates), 0, len(out.Cliffs)}) {
		t.Errorf("all %+v", out.All)
	}
	var far outliersAnswer
	s.get("/api/v1/outliers?source="+a.Source, &far)
	if !slices.ContainsFunc(far.Outliers, func(o outlier) bool { return o.Graph == 8 && *o.Error < -2 }) {
		t.Errorf("outliers %+v", far)
	}

	// Classes: pairs of a cliff have different ones, outliers are taken for another.
	s.get("/api/v1/structure", &out)
	s.get("/api/v1/outliers", &far)
	d := s.server.given().data
	for _, c := range out.Cliffs {
		if c.Difference != nil || d.class[c.A] == d.class[c.B] {
			t.Errorf("cliff %+v of %s and %s", c, d.Targets[c.A], d.Targets[c.B])
		}
	}
	for _, o := range far.Outliers {
		if o.Predicted == d.Targets[o.Graph] || *o.Probability > 0.5 {
			t.Errorf("outlier %+v of class %s", o, d.Targets[o.Graph])
		}
	}
	// A model has no predictions of its own graphs, until it is cross-validated.
	m, err := FromModel("model", savedModel(t))
	if err != nil {
		t.Fatal(err)
	}
	saved := newTester(t, s.spec, m, nil)
	saved.get("/api/v1/outliers", &far)
	if len(far.Outliers) > 0 || !strings.Contains(far.Note, "Cross-validate") {
		t.Errorf("outliers %+v", far)
	}
	saved.get("/api/v1/evaluate?cross_validate=true", &evaluation{})
	saved.get("/api/v1/outliers", &far)
	if len(far.Outliers) == 0 || far.All != len(far.Outliers) || far.Note != "" {
		t.Errorf("outliers of a model that is cross-validated: %+v", far)
	}
}

// What the data consist of does not wait for a learner, and lists that are cut say how many there are.
func TestStructureAlone(t *testing.T) {
	var b strings.Builder
	b.WriteString("smiles,y\n")
	for i := range 720 { // a chain with one more atom has another value
		fmt.Fprintf(&b, "%s%sC(%s)%s,%d.5\n", []string{"O", "N", "F", "S", "Cl", "Br"}[i%6], strings.Repeat("C", i/6%12), []string{"O", "N"}[i/72%2], strings.Repeat("C", i/144), 2*(i/6%2))
	}
	b.WriteString("C[C@H](O)C(N)CC(Cl)CC,0.5\nC[C@@H](O)C(N)CC(Cl)CC,2.5\n")
	o := dataset.DefaultOptions()
	r, err := dataset.NewReader(strings.NewReader(b.String()), "halves.csv", o)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Load(t.Context(), r, o, Choices{})
	if err != nil {
		t.Fatal(err)
	}
	s := New(d, DefaultOptions())
	defer s.end()
	x, err := s.given().session("")
	if err != nil {
		t.Fatal(err)
	}
	a, err := x.structured(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, learned := x.training.peek(); learned {
		t.Error("a learner was trained")
	}
	if len(a.Cliffs) != mostPairs || a.All.Cliffs <= mostPairs {
		t.Errorf("%d cliffs of %d", len(a.Cliffs), a.All.Cliffs)
	}
	if c := a.Cliffs[0]; !c.Isomers || c.A != 720 || a.Cliffs[1].Isomers {
		t.Errorf("stereoisomers do not come first: %+v", a.Cliffs[:2])
	}
	pairs := map[int]int{}
	for _, c := range a.Cliffs {
		pairs[c.A]++
		pairs[c.B]++
	}
	if most := slices.Max(slices.Collect(maps.Values(pairs))); most != cliffsOfGraph {
		t.Errorf("%d pairs of one graph", most)
	}
}

// The first map has the principal components of the whole one, in place of both, until the other one is there.
func TestEarlyMap(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	var sketch, all, later mapAnswer
	s.get("/api/v1/map?part=early", &sketch)
	s.get("/api/v1/map", &all)
	s.get("/api/v1/map?part=early", &later)
	if !sketch.Early || all.Early || later.Early || !slices.Equal(sketch.PCA.X, all.PCA.X) || !slices.Equal(sketch.Neighbours.Y, all.PCA.Y) || slices.Equal(all.Neighbours.Y, all.PCA.Y) || !slices.Equal(later.Neighbours.X, all.Neighbours.X) {
		t.Errorf("early %v, all %v, then %v", sketch.Early, all.Early, later.Early)
	}
}
