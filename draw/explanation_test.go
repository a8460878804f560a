package draw

import (
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
)

// The picture says what is explained and has a scale with numbers; orange is for it, blue against it.
func TestExplanation(t *testing.T) {
	b := graph.NewBuilder(2)
	b.AddEdge(0, 1)
	b.SetLabel(0, "C")
	b.SetLabel(1, "O")
	b.SetID("methanol")
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	values := explain.Contributions{Vertices: []float64{-0.25, 1}, Sum: 0.75, Together: 1}
	class := &explain.Explanation{Graph: "methanol", Class: "polar", What: "margin for polar", Says: "margin for polar 0.750", Contributions: values}
	value := &explain.Explanation{Graph: "methanol", What: "logS", Says: "logS 1.750, 0.750 above the mean of 1.000", Contributions: values}
	slopes, large := *class, *class
	slopes.Slopes, large.Together = true, 7
	for _, c := range []struct {
		e    *explain.Explanation
		want string
	}{
		{class, "methanol: margin for polar 0.750|contributions to the margin for polar, sum +0.750|against|for|−1|−0.5|+0.5|+1"},
		{value, "methanol: logS 1.750, 0.750 above the mean of 1.000|contributions to logS, sum +0.750 from the mean|lowers|raises"},
		{&slopes, "slopes of the margin for polar"},
		{&large, "7 vertices share one"},
	} {
		p, err := Explanation(g, c.e, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		svg := string(p.SVG())
		for _, want := range strings.Split(c.want, "|") {
			if !strings.Contains(svg, want+"<") {
				t.Errorf("no %q in %s", want, svg)
			}
		}
		for _, x := range []float64{1, -0.25} {
			if want := paint("fill", diverging((x+1)/2)); !strings.Contains(svg, want) {
				t.Errorf("no colour %s of %v in %s", want, x, svg)
			}
		}
	}
	p, err := Comparison(g, g, &explain.Comparison{K: 0.75, G: values, H: values}, [][2]int{{0, 1}}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if svg := string(p.SVG()); !strings.Contains(svg, "methanol and methanol: similarity 0.750") || strings.Count(svg, "contributions to the similarity, sum +0.750") != 2 {
		t.Error(svg)
	}
}
