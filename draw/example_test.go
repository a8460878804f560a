package draw_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/kernel"
)

// A molecule whose atoms have values.
func ExampleGraph() {
	g, err := dataset.ParseSMILES("CC(=O)Oc1ccccc1C(=O)O", dataset.DefaultOptions())
	if err != nil {
		panic(err)
	}
	contributions := make([]float64, g.N())
	contributions[0], contributions[2] = 0.4, -0.2
	o := draw.DefaultOptions()
	o.Title = "aspirin"
	o.Values = draw.NewValues("contribution", contributions)
	p, err := draw.Graph(g, o)
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.HasPrefix(string(p.SVG()), "<svg"))
	// Output: true
}

// A report is one file of HTML that needs nothing else.
func ExampleReport() {
	k := &kernel.Matrix{Rows: 3, Cols: 3, Data: []float64{1, 0.8, 0.1, 0.8, 1, 0.2, 0.1, 0.2, 1}}
	heat, err := draw.HeatMap(context.Background(), "similarity", k, []string{"a", "a", "b"}, draw.DefaultSize)
	if err != nil {
		panic(err)
	}
	r := draw.Report{Title: "Three graphs", Sections: []draw.Section{{Heading: "Gram matrix", Blocks: []draw.Block{
		draw.Paragraph("Two of them are alike."), draw.Figure{Picture: heat, Caption: "Dark means similar."}}}}}
	html, err := r.HTML()
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.Contains(string(html), "<h2"), strings.Contains(string(html), "<script"))
	// Output: true false
}

// Kernel principal component analysis by hand: two groups are on two sides.
func ExampleKernelPCA() {
	k := &kernel.Matrix{Rows: 4, Cols: 4, Data: []float64{
		1, 1, 0, 0,
		1, 1, 0, 0,
		0, 0, 1, 1,
		0, 0, 1, 1}}
	e, err := draw.KernelPCA(context.Background(), k)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f %.2f, %.0f %% of the variance\n", e.Axes[0][0], e.Axes[0][2], 100*e.Share[0])
	// Output: 0.71 -0.71, 100 % of the variance
}
