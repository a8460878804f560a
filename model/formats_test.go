package model

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/choose"
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
			fmt.Fprintf(w, "v%d -> v%d [label=%s, weight=%v]; ", e.U, e.V, e.Label, e.Weight)
		}
		w.WriteString("}\n")
	},
	dataset.GML: func(w *strings.Builder, g *graph.Graph) {
		fmt.Fprintf(w, "graph [ directed 1 name %q class %q ", g.ID(), g.Target())
		for v := range g.N() {
			fmt.Fprintf(w, "node [ id %d label \"v%d\" type %q a10 %v a2 %v ] ", v+3, v, g.Label(v), g.Attributes(v)[1], g.Attributes(v)[0])
		}
		for e := range g.Arcs() {
			fmt.Fprintf(w, "edge [ source %d target %d label %q weight %v ] ", e.U+3, e.V+3, e.Label, e.Weight)
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
			fmt.Fprintf(w, `<edge source="v%d" target="v%d" label=%q weight="%v"/>`, e.U, e.V, e.Label, e.Weight)
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
			fmt.Fprintf(w, "%d %d %v l %s\n", e.U+1, e.V+1, e.Weight, e.Label)
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
			fmt.Fprintf(w, `%s{"source": "v%d", "target": "v%d", "label": %q, "weight": %v}`, strings.Repeat(",", min(i, 1)), e.U, e.V, e.Label, e.Weight)
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

// loopsAndChains returns directed graphs of two classes with labels, two attributes, and labels and weights of arcs.
func loopsAndChains(t *testing.T, weighted bool) []*graph.Graph {
	t.Helper()
	r := graphtest.Rand(7)
	var graphs []*graph.Graph
	for i := range 36 {
		n := 5 + r.IntN(4)
		b := graph.NewBuilder(n)
		b.SetDirected()
		class := []string{"loop", "chain"}[i%2]
		weight := func() float64 {
			if weighted {
				return 0.5 + float64(r.IntN(3))
			}
			return 1
		}
		for v := range n {
			b.SetLabel(v, string(rune('A'+r.IntN(2))))
			b.SetAttributes(v, []float64{float64(r.IntN(8)) / 4, float64(i%2) + r.Float64()})
			if v > 0 {
				b.AddLabeledEdge(v-1, v, weight(), string(rune('x'+r.IntN(2))))
			}
		}
		if class == "loop" {
			b.AddLabeledEdge(n-1, 0, weight(), "x")
		} else {
			b.AddLabeledEdge(0, n-1, weight(), "x")
		}
		b.SetID(fmt.Sprint("g", i))
		b.SetTarget(class)
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		graphs = append(graphs, g)
	}
	return graphs
}

// learned returns a model of data that were read as the options say.
func learned(t *testing.T, d *dataset.Dataset, read dataset.Options, kernels []choose.Candidate) *Model {
	t.Helper()
	o := DefaultLearnOptions()
	o.ForSVM()
	o.Folds, o.C, o.Reader = 3, []float64{1}, &read
	m, _, err := Learn(t.Context(), d, kernels, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// samePredictions fails unless a model predicts for the graphs of a dataset what is wanted.
func samePredictions(t *testing.T, from string, m *Model, d *dataset.Dataset, want []Prediction) {
	t.Helper()
	got, err := m.Predict(t.Context(), d.Graphs, DefaultPredictOptions())
	if err != nil {
		t.Error(from, err)
		return
	}
	for i, p := range got {
		if p.Class != want[i].Class || math.Abs(p.Margin-want[i].Margin) > 1e-9 {
			t.Errorf("%s: graph %d is %s (%v), want %s (%v)", from, i, p.Class, p.Margin, want[i].Class, want[i].Margin)
		}
	}
}

// A model that was trained from one format predicts the same for the same graphs from another.
func TestSameFromEveryFormat(t *testing.T) {
	graphs := loopsAndChains(t, false)
	training, test := graphs[:24], graphs[24:]
	for _, from := range []dataset.Format{dataset.JSONLines, dataset.GML} {
		m := learned(t, readBack(t, from, training, dataset.DefaultOptions()), dataset.DefaultOptions(), candidates(t, true))
		want, err := m.Predict(t.Context(), test, DefaultPredictOptions())
		if err != nil {
			t.Fatal(err)
		}
		for f := range writers {
			samePredictions(t, fmt.Sprintf("trained from %s, %s", from, f), m, readBack(t, f, test, m.Like(dataset.DefaultOptions())), want)
		}
	}
}

// oddKeys writes graphs as GML under keys that no format reads by itself, with others that it would.
func oddKeys(graphs []*graph.Graph) string {
	var w strings.Builder
	for _, g := range graphs {
		fmt.Fprintf(&w, "graph [ directed 1 name %q class %q ", g.ID(), g.Target())
		for v := range g.N() {
			fmt.Fprintf(&w, "node [ id %d label \"v%d\" shape %q type \"t\" zeta %v alpha %v other %d ] ", v, v, g.Label(v), g.Attributes(v)[0], g.Attributes(v)[1], v)
		}
		for e := range g.Arcs() {
			fmt.Fprintf(&w, "edge [ source %d target %d color %q label \"l\" cost %v value 7 ] ", e.U, e.V, e.Label, e.Weight)
		}
		w.WriteString("]\n")
	}
	return w.String()
}

// A model of keys that were chosen predicts the same from formats in which these keys have other names, or none:
// those that are written, as mlg convert does, and those of other programs.
func TestChosenKeysFromEveryFormat(t *testing.T) {
	graphs := loopsAndChains(t, true)
	o := dataset.DefaultOptions()
	o.NodeLabel, o.Attributes, o.EdgeLabel, o.EdgeWeight = "shape", "zeta,alpha", "color", "cost"
	read := func(graphs []*graph.Graph, o dataset.Options) *dataset.Dataset {
		d, err := dataset.ReadFrom(t.Context(), strings.NewReader(oddKeys(graphs)), "g.gml", o)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	m := learned(t, read(graphs[:24], o), o, candidates(t, true))
	like := m.Like(dataset.DefaultOptions())
	test := read(graphs[24:], like)
	if len(test.Warnings) != 4 { // type and other of nodes, label and value of edges
		t.Errorf("warnings %q of the keys that are left out", test.Warnings)
	}
	want, err := m.Predict(t.Context(), test.Graphs, DefaultPredictOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"g.jsonl", "g.graphml", "G"} {
		path := filepath.Join(t.TempDir(), name)
		if err := dataset.WriteDataset(t.Context(), path, test, dataset.Auto); err != nil {
			t.Fatal(err)
		}
		d, err := dataset.Read(t.Context(), path, like)
		if err != nil {
			t.Error(err)
			continue
		}
		samePredictions(t, name, m, d, want)
		if said := strings.Join(d.Warnings, "\n"); !strings.Contains(said, `12 graphs have no node data "shape" of the model, so their labels count`) {
			t.Errorf("%s: warnings %q", name, d.Warnings)
		}
	}
	for f := range writers {
		samePredictions(t, string(f), m, readBack(t, f, graphs[24:], like), want)
	}
	// A graph that has nothing to take their place is wrong.
	if _, err := dataset.ReadFrom(t.Context(), strings.NewReader("digraph { a [x2=1]; a -> b }"), "g.dot", like); err == nil || !strings.Contains(err.Error(), `no node has data "shape"`) {
		t.Errorf("without any label: %v", err)
	}
	// Without a model the keys are the user's own.
	if _, err := dataset.ReadFrom(t.Context(), strings.NewReader(`{"nodes":1,"edges":[],"node_labels":["A"]}`), "g.jsonl", o); err == nil {
		t.Error("keys in data without keys are no error")
	}
}

// NetworkX writes truth values into GML as numbers. They change nothing for a model of another format, and
// one of GML finds them there.
func TestTruthValues(t *testing.T) {
	const graphml = `<graphml><key id="s" for="node" attr.name="size" attr.type="double"/><key id="e" for="node" attr.name="entry" attr.type="boolean"/>
<graph><node id="a"><data key="s">2</data><data key="e">true</data></node><node id="b"><data key="s">3</data><data key="e">false</data></node></graph></graphml>`
	const gml = `graph [ node [ id 0 label "a" size 2 entry 1 ] node [ id 1 label "b" size 3 entry 0 ] ]`
	read := func(name, text string, o dataset.Options) *dataset.Dataset {
		d, err := dataset.ReadFrom(t.Context(), strings.NewReader(text), name, o)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		name, from, other, to string
		keys                  string
		want                  []float64
	}{
		{"g.graphml", graphml, "h.gml", gml, "size", []float64{2}},
		{"g.gml", gml, "h.graphml", graphml, "entry,size", []float64{1, 2}},
	} {
		first := read(c.name, c.from, dataset.DefaultOptions())
		if first.AttributeKeys != c.keys {
			t.Errorf("%s: attributes are %q, want %q", c.name, first.AttributeKeys, c.keys)
		}
		o := dataset.DefaultOptions()
		o.AttributeKeys = first.AttributeKeys
		second := read(c.other, c.to, dataset.DefaultOptions().Like(&o))
		if got := second.Graphs[0].Attributes(0); !slices.Equal(got, c.want) || !slices.Equal(got, first.Graphs[0].Attributes(0)) {
			t.Errorf("%s like %s: attributes %v, want %v", c.other, c.name, got, c.want)
		}
	}
}
