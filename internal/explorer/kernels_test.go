package explorer

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

// meaning asks what a text means; more is more of the query.
func (t *tester) meaning(text, more string) (out textAnswer) {
	t.Helper()
	t.get("/api/v1/kernel?text="+url.QueryEscape(text)+more, &out)
	return out
}

func wordsOf(list []param.Completion) string {
	var out []string
	for _, w := range list {
		out = append(out, w.Word)
	}
	return strings.Join(out, " ")
}

// A text has one way of writing. A single kernel has its parameters.
func TestKernelText(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	for text, want := range map[string][2]string{ // canonical text and kernel
		"":                         {"mlg", "mlg"},
		" wl  h=5 ":                {"wl", "wl"},
		"wl h=3":                   {"wl h=3", "wl"},
		"mlg base=labels*degree":   {"", ""}, // the product has no brackets, so degree is another kernel
		"mlg base=(labels*wl h=1)": {"mlg base=(labels*wl h=1)", "mlg"},
		"mlg radii=":               {"flg", "flg"},
		"wl subdivide":             {"wl subdivide", ""},
		"wl+sp":                    {"0.5 wl + 0.5 sp", ""},
		"(wl)":                     {"wl", ""},
	} {
		a := s.meaning(text, "")
		if a.Text != want[0] || a.Name != want[1] || (a.Name == "") != (len(a.Parameters) == 0) {
			t.Errorf("%q is %q of %q with %d parameters, want %q", text, a.Text, a.Name, len(a.Parameters), want)
		}
	}
	var values []string
	for _, p := range s.meaning("mlg radii=1,4 discount base=degree", "").Parameters {
		values = append(values, p.Name+" "+p.Value)
		if p.Help == "" || p.Type == "" {
			t.Errorf("parameter %+v", p)
		}
	}
	if got, want := strings.Join(values, ", "), "radii 1,4, eta 0.1, gamma 0.1, base degree, bonds auto, stereo auto, combine top, power 1, discount true, samples 100, rank 10, landmarks uniform, seed 0, exact false, pair_rank 0"; got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
	p := s.meaning("mlg", "").Parameters
	if e := p[1]; *e.Low != 1e-6 || *e.High != 1e6 || e.Default != "0.1" {
		t.Errorf("eta %+v", e)
	}
	if b := p[3]; !slices.Equal(b.Suggests, []string{"labels", "labels * degree", "degree", "heat", "wl"}) || len(b.Choices) > 0 {
		t.Errorf("base %+v", b)
	}
	if c := p[6]; !slices.Equal(c.Choices, []string{"top", "sum", "product", "mixed", "gmean"}) {
		t.Errorf("combine %+v", c)
	}
	if b := s.meaning("wl", "").Parameters; *b[0].High != 64 || !slices.Equal(b[1].Suggests, kernel.Names()) {
		t.Errorf("wl %+v", b)
	}
}

// A parameter of a single kernel can be set; what is wrong with the value has no place in the text.
func TestSetParameter(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	for _, c := range []struct{ text, set, value, want, wrong string }{
		{"wl", "h", "3", "wl h=3", ""},
		{"wl h=3", "h", "5", "wl", ""},
		{"mlg", "radii", "1, 4", "mlg radii=1,4", ""},
		{"mlg", "base", "labels*degree", "mlg base=(labels*degree)", ""},
		{"mlg", "discount", "true", "mlg discount", ""},
		{"", "eta", "0.5", "mlg eta=0.5", ""},
		{"wl", "h", "x", "", `wl: h = "x", want a whole number`},
		{"wl", "h", "65", "", "wl: h = 65, want 0 to 64"},
		{"mlg", "base", "x", "", `kernel on vertices "x"`},
		{"mlg", "zeta", "1", "", "no parameter zeta"},
		{"0.5 wl + 0.5 sp", "h", "1", "", "the brackets: no parameter h"},
	} {
		a := s.meaning(c.text, "&set="+c.set+"&value="+url.QueryEscape(c.value))
		if a.Text != c.want || (a.Error == nil) != (c.wrong == "") || a.Error != nil && (!strings.Contains(a.Error.Message, c.wrong) || a.Error.Position != nil) {
			t.Errorf("%q with %s = %s: %q, error %+v, want %q %q", c.text, c.set, c.value, a.Text, a.Error, c.want, c.wrong)
		}
	}
}

// The words that may follow a text are those of its language.
func TestKernelWords(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	for text, want := range map[string]string{
		"":                strings.Join(kernel.Names(), " "),
		"w":               "wl wl-edge wl-oa wl-sp",
		"wl + nsp":        "nspd",
		"wl ":             "h= base= labels= normalize= standardize incident subdivide stereo directed undirected",
		"wl h":            "h=",
		"wl h=":           "5",
		"wl h=3 sub":      "subdivide",
		"mlg combine=m":   "mixed",
		"mlg base=":       "labels attributes gaussian degree heat wl configuration",
		"mlg base=(l":     "labels",
		"mlg base=(wl h":  "h=",
		"core base=(od":   "odd-sth",
		"mlg radii=":      "1,2",
		"mlg radii=1,":    "",
		"0.5":             "",
		"core base=(mlg)": "",
		"wl h=3 )":        "",
	} {
		if got := wordsOf(s.meaning(text, "").Words); got != want {
			t.Errorf("behind %q: %s, want %s", text, got, want)
		}
	}
	a := s.meaning("w + sp", "&cursor=1")
	if a.Begun != "w" || wordsOf(a.Words) != "wl wl-edge wl-oa wl-sp" || *a.Error.Position != 0 {
		t.Errorf("before the end: %+v", a)
	}
}

// An error has its place in characters, the same in all operations.
func TestKernelErrors(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	for _, c := range []struct {
		text     string
		position int
		of, name string
		want     string
	}{
		{"wl h=x", 5, "wl", "h", "a whole number"},
		{"wl h=65", 5, "wl", "h", "0 to 64"},
		{"sp + wl g=1", 8, "wl", "g", "h"},
		{"wl + xl", 5, "", "xl", "composition"},
		{"mlg base=(labels * gaussian sigma=0)", 34, "gaussian", "sigma", "a positive, finite number"},
		{"core base=(wl h=65)", 16, "wl", "h", "0 to 64"},
		{`wl labels="ä" + mlg rank=65`, 11, "wl", "labels", "auto, labels, degrees or unlabeled"},
		{"wl +", 4, "", "", ""},
	} {
		a := s.meaning(c.text, "")
		if a.Error == nil || a.Error.Position == nil || *a.Error.Position != c.position || a.Error.Of != c.of || a.Error.Name != c.name {
			t.Errorf("%q: %+v, want %+v", c.text, a.Error, c)
			continue
		}
		if c.want != "" && a.Error.Want[0] != c.want || strings.Contains(a.Error.Message, "character") {
			t.Errorf("%q: %+v, want %s", c.text, a.Error, c.want)
		}
		_, out := s.do("GET", "/api/v1/neighbours?index=1&kernel="+url.QueryEscape(c.text), "", "")
		var e errorAnswer
		if err := json.Unmarshal(out, &e); err != nil {
			t.Fatal(err)
		}
		if e.Error.Position == nil || *e.Error.Position != c.position || e.Error.Message != a.Error.Message || e.Error.Field != "kernel" {
			t.Errorf("%q: %s, want what is wrong with the text", c.text, out)
		}
	}
	if _, out := s.do("GET", "/api/v1/neighbours?index=999", "", ""); !strings.Contains(string(out), `"position":null`) {
		t.Errorf("%s, want no position", out)
	}
}

// Every kernel has a map, predictions and pairs. Without scales there is a sentence in their place.
func TestEveryKernel(t *testing.T) {
	graphtest.Slow(t)
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	var info infoAnswer
	if s.get("/api/v1/info", &info); len(info.Kernels) != len(kernel.Names()) {
		t.Errorf("%d kernels, want %d", len(info.Kernels), len(kernel.Names()))
	}
	texts := []string{"0.5 mlg + 0.5 wl", "wl * sp subdivide"}
	for _, k := range info.Kernels {
		if k.About == "" {
			t.Errorf("nothing is said about %s", k.Name)
		}
		if k.Name != "lg" && k.Name != "gaussian" { // of graphs of one size, of attributes
			texts = append(texts, k.Name)
		}
	}
	for _, text := range texts {
		query := "kernel=" + url.QueryEscape(text)
		scales := strings.Contains(text, "lg")
		var m mapAnswer
		s.get("/api/v1/map?"+query, &m)
		var pair comparison
		s.get("/api/v1/compare?a=3&b=CCO&"+query, &pair)
		var v vertexAnswer
		s.post("/api/v1/vertex", `{"graph":{"index":3},"vertex":0,"level":0,"kernel":"`+text+`"}`, &v)
		k, err := s.server.given().data.chosen(text)
		if err != nil {
			t.Fatal(err)
		}
		levels := scales || len(explain.LevelsOf(k)) > 1
		if (m.Views.Scales == "") != scales || (pair.Note == "") != levels || (v.Note == "") != scales || (len(pair.Levels) > 0) != levels {
			t.Errorf("%s: without scales %q, pair %q with %d levels, vertex %q", text, m.Views.Scales, pair.Note, len(pair.Levels), v.Note)
		}
		for _, path := range []string{"evaluate?", "explain?smiles=CCO&", "predict?smiles=CCO&place=true&", "download/map.svg?color=error&"} {
			if code, out := s.do("GET", "/api/v1/"+path+query, "", ""); code != 200 {
				t.Errorf("%s: %s: %d %.200s", text, path, code, out)
			}
		}
	}
}

// The page computes exact kernels that do not take long.
func TestExactKernel(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	var got gramAnswer
	s.get("/api/v1/gram?rows=0-4&columns=0-4&kernel=mlg+exact", &got)
	k, err := kernel.Parse("mlg exact")
	if err != nil {
		t.Fatal(err)
	}
	fitted, err := k.Fit(t.Context(), s.server.given().data.Graphs)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fitted.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range got.Values {
		if !slices.Equal(row, want.Row(i)[:5]) {
			t.Errorf("row %d: %v, want %v", i, row, want.Row(i)[:5])
		}
	}
	r, large := graphtest.Rand(1), graphtest.Options{N: 600, Edge: 0.03, Labels: 3}
	d, err := fromDataset(&dataset.Dataset{Name: "large", Graphs: []*graph.Graph{graphtest.Random(r, large), graphtest.Random(r, large)}}, dataset.DefaultOptions(), "")
	if err != nil {
		t.Fatal(err)
	}
	if k, err = d.chosen("mlg exact"); err != nil {
		t.Fatal(err)
	}
	if err := d.foreseen(t.Context(), k); err == nil || !strings.Contains(err.Error(), "too long for the page") {
		t.Errorf("large graphs: %v", err)
	}
}
