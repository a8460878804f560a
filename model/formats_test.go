package model

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// writers write a directed graph with labels, two attributes and labels of arcs in formats that other programs use.
var writers = map[dataset.Format]func(w *strings.Builder, g *graph.Graph){
	dataset.DOT: func(w *strings.Builder, g *graph.Graph) {
		fmt.Fprintf(w, "digraph %s { class=%s; ", g.ID(), g.Target())
		for v := range g.N() {
			fmt.Fprintf(w, "v%d [label=%s, a2=%v, a10=%v]; ", v, g.Label(v), g.Attributes(v)[0], g.Attributes(v)[1])
		}
		for e := range g.Arcs() {
			fmt.Fprintf(w, "v%d -> v%d [label=%s]; ", e.U, e.V, e.Label)
		}
		w.WriteString("}\n")
	},
	dataset.GML: func(w *strings.Builder, g *graph.Graph) {
		fmt.Fprintf(w, "graph [ directed 1 name %q class %q ", g.ID(), g.Target())
		for v := range g.N() {
			fmt.Fprintf(w, "node [ id %d label \"v%d\" type %q a10 %v a2 %v ] ", v+3, v, g.Label(v), g.Attributes(v)[1], g.Attributes(v)[0])
		}
		for e := range g.Arcs() {
			fmt.Fprintf(w, "edge [ source %d target %d label %q ] ", e.U+3, e.V+3, e.Label)
		}
		w.WriteString("]\n")
	},
	dataset.GEXF: func(w *strings.Builder, g *graph.Graph) {
		if w.Len() == 0 {
			w.WriteString("<gexf>")
		}
		fmt.Fprintf(w, `<graph name=%q class=%q defaultedgetype="directed"><attributes class="node"><attribute id="0" title="a10" type="float"/><attribute id="1" title="a2" type="float"/></attributes><nodes>`, g.ID(), g.Target())
		for v := range g.N() {
			fmt.Fprintf(w, `<node id="v%d" label=%q><attvalues><attvalue for="0" value="%v"/><attvalue for="1" value="%v"/></attvalues></node>`, v, g.Label(v), g.Attributes(v)[1], g.Attributes(v)[0])
		}
		w.WriteString("</nodes><edges>")
		for e := range g.Arcs() {
			fmt.Fprintf(w, `<edge source="v%d" target="v%d" label=%q/>`, e.U, e.V, e.Label)
		}
		w.WriteString("</edges></graph>")
	},
	dataset.Pajek: func(w *strings.Builder, g *graph.Graph) {
		fmt.Fprintf(w, "*Network %s\n*Vertices %d\n", g.ID(), g.N())
		for v := range g.N() {
			fmt.Fprintf(w, "%d v%d 0 0 type %s a10 %v a2 %v\n", v+1, v, g.Label(v), g.Attributes(v)[1], g.Attributes(v)[0])
		}
		w.WriteString("*Arcs\n")
		for e := range g.Arcs() {
			fmt.Fprintf(w, "%d %d 1 l %s\n", e.U+1, e.V+1, e.Label)
		}
	},
	dataset.NodeLink: func(w *strings.Builder, g *graph.Graph) {
		fmt.Fprintf(w, `{"directed": true, "graph": {"name": %q, "class": %q}, "nodes": [`, g.ID(), g.Target())
		for v := range g.N() {
			fmt.Fprintf(w, `%s{"id": "v%d", "label": %q, "a10": %v, "a2": %v}`, strings.Repeat(",", min(v, 1)), v, g.Label(v), g.Attributes(v)[1], g.Attributes(v)[0])
		}
		w.WriteString(`], "links": [`)
		i := 0
		for e := range g.Arcs() {
			fmt.Fprintf(w, `%s{"source": "v%d", "target": "v%d", "label": %q}`, strings.Repeat(",", min(i, 1)), e.U, e.V, e.Label)
			i++
		}
		w.WriteString("]}\n")
	},
	dataset.JSONLines: func(w *strings.Builder, g *graph.Graph) {
		line, err := dataset.AppendJSON(nil, g)
		if err != nil {
			panic(err)
		}
		w.Write(line)
	},
}

// readBack writes graphs in a format, and reads them as the options say.
func readBack(t *testing.T, f dataset.Format, graphs []*graph.Graph, o dataset.Options) *dataset.Dataset {
	t.Helper()
	var w strings.Builder
	for _, g := range graphs {
		writers[f](&w, g)
	}
	if f == dataset.GEXF {
		w.WriteString("</gexf>")
	}
	o.Format = f
	d, err := dataset.ReadFrom(t.Context(), strings.NewReader(w.String()), "graphs", o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A model that was trained from one format predicts the same for the same graphs from another.
func TestSameFromEveryFormat(t *testing.T) {
	r := graphtest.Rand(7)
	var graphs []*graph.Graph
	for i := range 36 {
		n := 5 + r.IntN(4)
		b := graph.NewBuilder(n)
		b.SetDirected()
		class := []string{"loop", "chain"}[i%2]
		for v := range n {
			b.SetLabel(v, string(rune('A'+r.IntN(2))))
			b.SetAttributes(v, []float64{float64(r.IntN(8)) / 4, float64(i%2) + r.Float64()})
			if v > 0 {
				b.AddLabeledEdge(v-1, v, 1, string(rune('x'+r.IntN(2))))
			}
		}
		if class == "loop" {
			b.AddLabeledEdge(n-1, 0, 1, "x")
		} else {
			b.AddLabeledEdge(0, n-1, 1, "x")
		}
		b.SetID(fmt.Sprint("g", i))
		b.SetTarget(class)
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		graphs = append(graphs, g)
	}
	training, test := graphs[:24], graphs[24:]
	predict := func(m *Model, f dataset.Format) []Prediction {
		d := readBack(t, f, test, dataset.DefaultOptions().Like(m.Reader))
		out, err := m.Predict(t.Context(), d.Graphs, DefaultPredictOptions())
		if err != nil {
			t.Fatal(f, err)
		}
		return out
	}
	for _, from := range []dataset.Format{dataset.JSONLines, dataset.GML} {
		d := readBack(t, from, training, dataset.DefaultOptions())
		o := DefaultLearnOptions()
		o.ForSVM()
		o.Folds, o.C, o.Reader = 3, []float64{1}, new(dataset.DefaultOptions())
		m, _, err := Learn(t.Context(), d, candidates(t, true), o)
		if err != nil {
			t.Fatal(err)
		}
		want := predict(m, from)
		for f := range writers {
			for i, p := range predict(m, f) {
				if p.Class != want[i].Class || math.Abs(p.Margin-want[i].Margin) > 1e-9 {
					t.Errorf("trained from %s: graph %d from %s is %s (%v), want %s (%v)", from, i, f, p.Class, p.Margin, want[i].Class, want[i].Margin)
				}
			}
		}
	}
}
