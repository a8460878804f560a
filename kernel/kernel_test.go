package kernel

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/param"
)

// size is exp(−Rate·|n−m|) for graphs of n and m vertices, a kernel with unit diagonal, times Scale.
type size struct {
	Rate   float64   `json:"rate" want:"positive" help:"How fast it falls."`
	Scale  int       `json:"scale" want:"1 to 9" help:"A factor."`
	Kind   string    `json:"kind" want:"one of plain fancy" help:"Has no effect."`
	List   []int     `json:"list" want:"at least 0" help:"Has no effect."`
	Reals  []float64 `json:"reals" help:"Has no effect."`
	Seed   uint64    `json:"seed" help:"Has no effect."`
	Flag   bool      `json:"flag" help:"Has no effect."`
	Hidden int       `json:"-"`
}

func defaultSize() size { return size{Rate: 1, Scale: 1, Kind: "plain", List: []int{1, 2}} }

func init() { Register(defaultSize(), "numbers of vertices") }

var fits atomic.Int64

func (k size) Name() string    { return "size" }
func (k size) String() string  { return Text(k) }
func (k size) Validate() error { return Check(k) }

func (k size) Fit(_ context.Context, graphs []*graph.Graph) (*Fitted, error) {
	fits.Add(1)
	return &Fitted{sizeMap{k}, &Graphs{graphs}}, nil
}

func (k size) Decode([]byte) (Map, error) { return sizeMap{k}, nil }

type sizeMap struct{ k size }

func (m sizeMap) Transform(_ context.Context, graphs []*graph.Graph) (Features, error) {
	return &Graphs{graphs}, nil
}

func (m sizeMap) Fill(_ context.Context, dst []float64, stride int, b Block) error {
	for i, g := range b.A.(*Graphs).List[b.I0:b.I1] {
		for j, h := range b.B.(*Graphs).List[b.J0:b.J1] {
			dst[i*stride+j] = float64(m.k.Scale) * math.Exp(-m.k.Rate*math.Abs(float64(g.N()-h.N())))
		}
	}
	return nil
}

func (m sizeMap) Join(parts ...Features) Features              { return JoinGraphs(parts...) }
func (m sizeMap) AppendBinary(b []byte) ([]byte, error)        { return b, nil }
func (m sizeMap) DecodeFeatures(data []byte) (Features, error) { return DecodeGraphs(data) }

func chain(t *testing.T, n int) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(n)
	for v := range n {
		b.SetAttributes(v, []float64{float64(n + v)})
		if v > 0 {
			b.AddEdge(v-1, v)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestText(t *testing.T) {
	k := defaultSize()
	if got, want := k.String(), "size"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	k.Reals, k.Flag, k.Kind = []float64{0.5, 1e-9}, true, "a b"
	if got, want := k.String(), `size kind="a b" reals=0.5,1e-09 flag`; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

// A kernel comes back from its text; another text is an error that says what is wrong with it.
func TestParse(t *testing.T) {
	k := defaultSize()
	k.Reals, k.Flag, k.Kind, k.Rate = []float64{0.5, 1e-9}, true, "fancy", 0.25
	for _, want := range []string{"size", k.String()} {
		if got, err := Parse(want); err != nil || got.String() != want {
			t.Errorf("%s comes back as %v, %v", want, got, err)
		}
	}
	if got, err := Parse("  size   flag=false  rate=2 "); err != nil || got.String() != "size rate=2" {
		t.Errorf("with spaces: %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                         "the end, want a name",
		"sizes":                    `kernel "sizes", want one of`,
		"size rate=fast":           `size: rate = "fast", want a number (character 11 of "size rate=fast")`,
		"size rat=1":               "size: no parameter rat, want one of rate, scale, kind, list, reals, seed, flag, standardize, incident, subdivide, stereo, directed, undirected (character 6",
		`size kind="a b`:           `no quotation mark at the end of "a b`,
		"size rate=-1":             "size: rate = -1, want a positive, finite number (character 11",
		"size rate=0":              "size: rate = 0, want a positive, finite number",
		"size scale=10":            "size: scale = 10, want 1 to 9",
		"size scale=1.5":           `size: scale = "1.5", want a whole number`,
		"size kind=odd":            `size: kind = "odd", want plain or fancy`,
		"size list=1,-1":           "size: list = 1,-1, want at least 0 for each",
		"size list=1,0.5":          `size: list = "1,0.5", want integers with commas between them`,
		"size hidden=1":            "size: no parameter hidden, want one of rate",
		"size subdivided":          "size: no parameter subdivided",
		"size subdivide=no":        `size: subdivide = "no", want true or false (character 6`,
		"size directed undirected": "directed and undirected exclude each other (character 15",
		"size size":                "size stands behind another kernel, want + or * between them (character 6",
		"size +":                   "the end, want a name (character 7",
		"size * (size + size":      "the end, want a closing bracket",
		"size)":                    `')', want +, * or the end`,
		"0.5 size + size":          "weights of some terms, want all or none to have one (character 12",
		"0 size":                   "the weight 0, want a positive, finite number",
		"-1 size":                  "the weight -1, want a positive, finite number",
		"1e400 size":               "the weight 1e400, want a positive, finite number",
		"size + size rate=-1":      "size: rate = -1, want a positive, finite number (character 18",
		"size + size scale=2":      "",
		"(size + size) rate=1":     "the brackets: no parameter rate, want one of standardize, incident, subdivide, stereo, directed, undirected (character 15",
		strings.Repeat("(", 100):   "more than 64 brackets",
		strings.Repeat("a", 2<<20): "aaa…\", want one of",
	} {
		if _, err := Parse(text); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.30q: error %v, want %s", text, err, want)
		}
	}
}

// Sums and products are read as they are written, and have the structure that brackets say.
func TestParseSums(t *testing.T) {
	a, b := defaultSize(), defaultSize()
	b.Rate = 2
	for text, want := range map[string]Kernel{
		"size":                          a,
		"(size)":                        SumOf(a),
		"size*size rate=2":              Product(a, b),
		"0.25 size + 0.75 size rate=2":  Weighted([]float64{0.25, 0.75}, []Kernel{a, b}),
		"0.25*size+0.75*size rate=2":    Weighted([]float64{0.25, 0.75}, []Kernel{a, b}),
		"size + size rate=2":            Mean(a, b),
		"1 size + 1 size rate=2":        Weighted([]float64{1, 1}, []Kernel{a, b}),
		"2 size":                        Weighted([]float64{2}, []Kernel{a}),
		"size rate=2e+0 subdivide":      Subdivided(b),
		"(size + size rate=2) incident": Incident(Mean(a, b)),
		"(size+size rate=2) * size":     Product(Mean(a, b), a),
		"size + (0.5 size + 0.5 size) * size rate=2 standardize": Sum{[]Term{{0.5, []Factor{{Kernel: a}}}, {0.5, []Factor{{Kernel: Mean(a, a)}, {b, Form{Standardize: true}}}}}},
	} {
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got.String() != want.String() {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
		for _, text := range []string{got.String(), FullText(got)} {
			if back, err := Parse(text); err != nil || back.String() != got.String() {
				t.Errorf("%s comes back as %v, %v, want %s", text, back, err, got)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`size kind="a b" flag rate=0.5`)
	f.Add("0.5 size list=1,2 + 0.5 (size * size subdivide) standardize")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := Parse(text)
		if err != nil {
			return
		}
		if back, err := Parse(k.String()); err != nil || back.String() != k.String() {
			t.Errorf("%q: %s comes back as %v, %v", text, k, back, err)
		}
	})
}

// The full text has all parameters.
func TestFullText(t *testing.T) {
	k := size{Rate: 0.1, Scale: 2, Kind: "fancy", Reals: []float64{1, math.Pi}, Seed: math.MaxUint64, Flag: true}
	want := "size rate=0.1 scale=2 kind=fancy list= reals=1,3.141592653589793 seed=18446744073709551615 flag"
	if got := FullText(k); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if back, err := Parse(want); err != nil || back.String() != k.String() {
		t.Errorf("%v, %v, want %v", back, err, k)
	}
	if d := defaultSize(); !reflect.DeepEqual(defaults["size"], Kernel(d)) {
		t.Errorf("the defaults have changed: %v", defaults["size"])
	}
}

// Every parameter changes the text, and comes back from it.
func TestWith(t *testing.T) {
	k := Kernel(defaultSize())
	for name, text := range map[string]string{"rate": "2.5", "scale": "3", "kind": "fancy", "list": "3, 4,5", "reals": "0.25", "seed": "9", "flag": "true"} {
		changed, err := With(k, name, text)
		if err != nil {
			t.Fatal(err)
		}
		if changed.String() == k.String() {
			t.Errorf("%s = %s does not change the text", name, text)
		}
		if back, err := Parse(changed.String()); err != nil || back.String() != changed.String() {
			t.Errorf("%s: %v, %v, want %v", name, back, err, changed)
		}
	}
	if c, err := With(k, "list", ""); err != nil || len(c.(size).List) != 0 {
		t.Errorf("an empty list: %v, %v", c, err)
	}
	for _, bad := range [][2]string{{"rate", "fast"}, {"scale", "1.5"}, {"list", "1,,2"}, {"flag", "yes"}, {"seed", "-1"}} {
		if _, err := With(k, bad[0], bad[1]); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("size: %s = %q, want ", bad[0], bad[1])) {
			t.Errorf("%v: error %v", bad, err)
		}
	}
}

func TestParameters(t *testing.T) {
	p := param.Of(defaultSize())
	if len(p) != 7 || p[2].Name != "kind" || !reflect.DeepEqual(p[2].Choices, []string{"plain", "fancy"}) || p[3].Type != "integers" || p[4].Type != "numbers" {
		t.Errorf("parameters %+v", p)
	}
}

func graphs(t *testing.T) []*graph.Graph {
	return []*graph.Graph{chain(t, 1), chain(t, 2), chain(t, 4), chain(t, 7)}
}

// A sum has the values of its definition, computed pair by pair, nested or written out, and
// fits what occurs twice once.
func TestSum(t *testing.T) {
	ctx := context.Background()
	rate := func(r float64) size { k := defaultSize(); k.Rate = r; return k }
	a, b, c := rate(0.1), rate(0.2), rate(0.4)
	s := Weighted([]float64{0.25, 0.75}, []Kernel{Product(Mean(a, b), c, a), Mean(Subdivided(a), Incident(Standardized(b)))})
	value := func(n, m int) float64 {
		k := func(r, d float64) float64 { return math.Exp(-r * math.Abs(d)) }
		d := float64(n - m)
		return 0.25*(k(0.1, d)+k(0.2, d))/2*k(0.4, d)*k(0.1, d) + 0.75*(k(0.1, 2*d)+k(0.2, d))/2 // a path of n vertices has n−1 edges
	}
	list := graphs(t)
	col := NewCollection(list)
	fits.Store(0)
	f, err := col.Fit(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	if got := fits.Load(); got != 5 || len(f.Factors) != 5 {
		t.Errorf("%d fits of %d factors, want 5: a, b, c, a and b of other forms of the graphs", got, len(f.Factors))
	}
	if want := 1.0; math.Abs(f.Self()-want) > 1e-15 {
		t.Errorf("self %v, want %v", f.Self(), want)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-15) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	gram, err := f.Gram(ctx)
	if err != nil {
		t.Fatal(err)
	}
	nested, err := col.Gram(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range list {
		for j, h := range list {
			near("gram", gram.At(i, j), value(g.N(), h.N()))
			near("nested", nested.At(i, j), value(g.N(), h.N()))
		}
	}
	fresh := []*graph.Graph{chain(t, 3), chain(t, 9)}
	for range 2 { // the first time with all workers for each factor, then with one
		cross, err := f.Cross(ctx, fresh)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range fresh {
			for j, h := range list {
				near("cross", cross.At(i, j), value(g.N(), h.N()))
			}
		}
	}
	k, err := f.Compare(ctx, fresh[0], fresh[1])
	if err != nil {
		t.Fatal(err)
	}
	near("compare", k, value(3, 9))

	if back, err := Parse(s.String()); err != nil || back.String() != s.String() {
		t.Errorf("back from its text %v, %v, want %v", back, err, s)
	}
}

// The values of a derived collection are those of kernels fitted to the first one, whatever is kept.
func TestDerived(t *testing.T) {
	ctx := context.Background()
	a, b := defaultSize(), defaultSize()
	b.Rate = 2
	family := Mean(a, b)
	all := graphs(t)
	n := len(all)
	more := slices.Clone(all[:2])
	slices.Reverse(more)
	at := []int{n + 1, 3, 0, n, 3}
	for _, k := range []Kernel{a, family, Product(family, a), Weighted([]float64{0.25, 0.75}, []Kernel{Product(a, b), Standardized(b)})} {
		fitted, err := NewCollection(all).Fit(ctx, k)
		if err != nil {
			t.Fatal(err)
		}
		cross, err := fitted.Cross(ctx, slices.Concat(all, more))
		if err != nil {
			t.Fatal(err)
		}
		gram, err := Between(ctx, fitted, mustTransform(t, fitted, slices.Concat(all, more)), mustTransform(t, fitted, slices.Concat(all, more)))
		if err != nil {
			t.Fatal(err)
		}
		for _, keep := range []bool{false, true} {
			whole := NewCollection(all).Derived(more, nil, keep)
			if got, err := whole.Gram(ctx, k); err != nil || !reflect.DeepEqual(got, gram) {
				t.Errorf("%s, keep %t: %v, %v, want %v", k, keep, got, err, gram)
			}
			part := NewCollection(all).Derived(more, at, keep)
			if got, err := part.Gram(ctx, k); err != nil || !reflect.DeepEqual(got, gram.Select(at, at)) {
				t.Errorf("%s of some graphs, keep %t: %v, %v, want %v", k, keep, got, err, gram.Select(at, at))
			}
			s, err := part.Fit(ctx, k)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range s.Factors {
				if _, given := f.Known().Map.(precomputedMap); given != keep {
					t.Errorf("factor %d is kept: %t, want %t", i, given, keep)
				}
			}
			if _, err := s.Transform(ctx, all[:1]); (err == nil) == keep {
				t.Errorf("keep %t: a new graph gives the error %v", keep, err)
			}
		}
		if first := gram.Select(UpTo(n), UpTo(n)); !reflect.DeepEqual(cross.Select(UpTo(n), UpTo(n)), first) {
			t.Errorf("%s: %v, want %v", k, cross, first)
		}
	}
}

func mustTransform(t *testing.T, s *FittedSum, graphs []*graph.Graph) Features {
	t.Helper()
	f, err := s.Transform(t.Context(), graphs)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// raw is a kernel whose values may not be normalised.
type raw struct {
	size
	Normalize bool `json:"normalize" help:"Whether they are."`
}

func (k raw) Name() string    { return "raw" }
func (k raw) String() string  { return Text(k) }
func (k raw) Validate() error { return Check(k) }

// Kernels that are not normalised are not combined, whoever asks, and alone they are as they are.
func TestNotNormalized(t *testing.T) {
	ctx := context.Background()
	col := NewCollection(graphs(t))
	a := defaultSize()
	for _, k := range []Kernel{Mean(a, raw{size: a}), Product(a, Product(raw{size: a})), Weighted([]float64{2}, []Kernel{raw{size: a}})} {
		_, err1 := col.Gram(ctx, k)
		_, err2 := col.Sum(k)
		_, err3 := k.Fit(ctx, graphs(t))
		for _, err := range []error{err1, err2, err3, k.Validate()} {
			if err == nil || !strings.Contains(err.Error(), "only normalised kernels can be combined") || !strings.Contains(err.Error(), "raw") {
				t.Errorf("%s: %v", k, err)
			}
		}
	}
	for _, k := range []Kernel{raw{size: a}, Product(Product(raw{size: a})), Mean(a, raw{a, true})} {
		if _, err := col.Fit(ctx, k); err != nil {
			t.Error(err)
		}
	}
	if err := Product(a, Weighted([]float64{2, 1}, []Kernel{a, a})).Validate(); err == nil {
		t.Error("a sum of other weights is combined")
	}
	// What a record does not tell, the matrix does.
	seven := a
	seven.Scale = 7
	_, err := col.Gram(ctx, Mean(a, seven))
	sum, err2 := col.Fit(ctx, Mean(a, seven))
	if err2 == nil {
		_, err2 = sum.Gram(ctx)
	}
	for _, err := range []error{err, err2} {
		if err == nil || !strings.Contains(err.Error(), "the kernel of graph 0 with itself is 7") {
			t.Errorf("error %v", err)
		}
	}
	for k, ok := range map[string]bool{"raw": false, "mean": true, "weights": false, "given": false} {
		x := map[string]Kernel{"raw": raw{size: a}, "mean": Mean(a, a, a), "weights": Weighted([]float64{2}, []Kernel{a}), "given": Precomputed{Kernel: raw{size: a}}}[k]
		if err := CheckNormalized(x); (err == nil) != ok {
			t.Errorf("%s: %v", k, err)
		}
	}
}

func TestExpandLimit(t *testing.T) {
	k := Kernel(defaultSize())
	for range 11 {
		k = Product(Mean(k, k))
		k = Mean(k, k)
	}
	if _, err := SumOf(k).Expand(nil); err == nil {
		t.Error("a sum of 2²² products is written out")
	}
}
