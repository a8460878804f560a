package draw

import (
	"bytes"
	"encoding/xml"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// checkPicture decodes both renderings, and looks for numbers that are none.
func checkPicture(t testing.TB, p *Picture) {
	t.Helper()
	svg := p.SVG()
	if err := wellFormed(svg); err != nil {
		t.Fatalf("SVG: %v", err)
	}
	if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
		t.Fatal("SVG has a coordinate that is not a number")
	}
	b, err := p.PNG(1)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("PNG: %v", err)
	}
	w, h := p.Width, p.Height
	if img.Bounds().Dx() != int(w) || img.Bounds().Dy() != int(h) {
		t.Fatalf("PNG is %v, picture %v × %v", img.Bounds(), w, h)
	}
}

func wellFormed(doc []byte) error {
	d := xml.NewDecoder(bytes.NewReader(doc))
	for {
		if _, err := d.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// texts returns the texts of an SVG document in order.
func texts(t *testing.T, p *Picture) []string {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(p.SVG()))
	var all []string
	inside := false
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		switch x := tok.(type) {
		case xml.StartElement:
			inside = x.Name.Local == "text"
		case xml.EndElement:
			inside = false
		case xml.CharData:
			if inside {
				all = append(all, string(x))
			}
		}
	}
}

// Structural formulas show hetero atoms with their hydrogens and charges, and no carbon.
func TestFormulaTexts(t *testing.T) {
	for _, c := range []struct{ smiles, want string }{
		{"CCO", "O H"},
		{"CCN", "N H 2"},
		{"c1ccccc1", ""},
		{"c1cc[nH]c1", "N H"},
		{"c1ccncc1", "N"},
		{"c1ncc[nH]1", "N N H"},
		{"c1nsnc1C", "N S N"},
		{"Cn1cnnn1", "N N N N"},
		{"C[N+](=O)[O-]", "N + O O −"},
		{"C[N+](C)(C)C", "N +"},
		{"CS(=O)(=O)O", "S O O O H"},
		{"O=c1cc[nH]cc1", "O N H"},
		{"C", "C H 4"},
		{"FC(Cl)Br", "F Cl Br"},
		{"[2H]OC", "D O"},
		{"[13CH3]C[15NH2]", "13 C H 3 15 N H 2"},
		{"[CH3]", "C H 3 •"},
		{"C[CH]C", "C H •"},
		{"[O][O]", "O • O •"},
		{"[CH2]", "C H 2 ••"},
		{"[H]", "H •"},
		{"[H+].[Ca+2].[O-2].[Cl-]", "H + Ca 2+ O 2− Cl −"},
		{"[cH-]1cccc1", "C H −"},
		{"c1cc[n-]c1", "N −"},
		{"[O-][n+]1ccccc1", "O − N +"},
		{"CN=[N+]=[N-]", "N N + N −"},
		{"[C-]#[O+]", "C − O +"},
	} {
		p, err := Graph(parse(t, c.smiles), DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		got := texts(t, p)
		want := strings.Fields(c.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: texts %q, want %q", c.smiles, got, want)
		}
	}
}

// Bonds of benzene alternate: three double ones, on every other edge.
func TestKekule(t *testing.T) {
	for smiles, want := range map[string]int{"c1ccccc1": 3, "c1ccc2ccccc2c1": 5, "c1ccc2[nH]ccc2c1": 4, "o1cccc1": 2, "c1ccc2c(c1)[nH]c1ccccc12": 6} {
		m := readMolecule(parse(t, smiles))
		if m == nil {
			t.Fatalf("%s: no molecule", smiles)
		}
		doubles := make([]int, len(m.atoms))
		sum := 0
		for _, b := range m.bonds {
			if b.aromatic {
				t.Errorf("%s: bond %d–%d has no order", smiles, b.u, b.v)
			}
			if b.order == 2 {
				sum++
				doubles[b.u]++
				doubles[b.v]++
			}
		}
		if sum != want || slices.Max(doubles) > 1 {
			t.Errorf("%s: %d double bonds, want %d, at most one at an atom", smiles, sum, want)
		}
	}
	// Five aromatic carbons have no such structure: they stay aromatic.
	b := graph.NewBuilder(5)
	for v := range 5 {
		b.SetLabel(v, "C")
		b.AddLabeledEdge(v, (v+1)%5, 1, ":")
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	m := readMolecule(g)
	for _, b := range m.bonds {
		if !b.aromatic {
			t.Errorf("bond %d–%d got order %d", b.u, b.v, b.order)
		}
	}
}

// Bonds end before the letters of their atoms.
func TestBondsStopAtLetters(t *testing.T) {
	g := parse(t, "OCCN")
	o := DefaultOptions()
	p, err := Graph(g, o)
	if err != nil {
		t.Fatal(err)
	}
	var boxes []box
	for _, s := range p.shapes {
		if x, ok := s.(*text); ok {
			w := x.measure(x.s)
			boxes = append(boxes, box{x.at.x, x.at.y - capHeight*x.size, x.at.x + w, x.at.y})
		}
	}
	if len(boxes) == 0 {
		t.Fatal("no letters")
	}
	for _, s := range p.shapes {
		if l, ok := s.(*strokes); ok {
			for _, seg := range l.lines {
				for i := range 101 {
					q := seg[0].add(seg[1].sub(seg[0]).scale(float64(i) / 100))
					for _, b := range boxes {
						if q.x > b.x0 && q.x < b.x1 && q.y > b.y0 && q.y < b.y1 {
							t.Fatalf("a bond runs through a letter at (%.1f, %.1f)", q.x, q.y)
						}
					}
				}
			}
		}
	}
}

func TestAllDrugsRender(t *testing.T) {
	graphtest.Slow(t)
	for i, g := range drugs(t) {
		o := DefaultOptions()
		o.Title = g.ID()
		values := make([]float64, g.N())
		for v := range values {
			values[v] = math.Sin(float64(v))
		}
		o.Values = NewValues("contribution", values)
		p, err := Graph(g, o)
		if err != nil {
			t.Fatal(err)
		}
		if w, h := p.Width, p.Height; w > o.Size.Width || h > o.Size.Height {
			t.Errorf("%s is %v × %v, limit %v × %v", g.ID(), w, h, o.Size.Width, o.Size.Height)
		}
		if i%10 == 0 {
			checkPicture(t, p)
		} else if err := wellFormed(p.SVG()); err != nil {
			t.Errorf("%s: %v", g.ID(), err)
		}
	}
}

func TestDeterministic(t *testing.T) {
	graphtest.Slow(t)
	render := func() (svg, img [][]byte) {
		for _, smiles := range []string{"CN1CCC23C4Oc5c(O)ccc(CC1C2C=CC4O)c35", "C12C3C4C1C5C2C3C45", "CCO.CC"} {
			for _, style := range []Style{Molecule, Network} {
				o := DefaultOptions()
				o.Style = style
				p, err := Graph(parse(t, smiles), o)
				if err != nil {
					t.Fatal(err)
				}
				b, err := p.PNG(1.5)
				if err != nil {
					t.Fatal(err)
				}
				svg, img = append(svg, p.SVG()), append(img, b)
			}
		}
		return svg, img
	}
	svg, img := render()
	for range 3 {
		svg2, img2 := render()
		if !slices.EqualFunc(svg, svg2, bytes.Equal) || !slices.EqualFunc(img, img2, bytes.Equal) {
			t.Fatal("two runs gave different bytes")
		}
	}
}

const hostile = "<script>alert('x')</script>\"&\x00\xff\u202e]]>\ufffe"

func TestHostileTexts(t *testing.T) {
	b := graph.NewBuilder(2)
	b.AddEdge(0, 1)
	b.SetLabel(0, hostile)
	b.SetLabel(1, strings.Repeat("W", 100000))
	b.SetID(hostile)
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Title = hostile + strings.Repeat("long ", 10000)
	o.Numbers = true
	p, err := Graph(g, o)
	if err != nil {
		t.Fatal(err)
	}
	checkPicture(t, p)
	svg := string(p.SVG())
	if strings.Contains(svg, "<script") || strings.Contains(svg, "\x00") {
		t.Error("a text of the data became markup")
	}
	if !strings.Contains(svg, "&lt;script&gt;") {
		t.Error("the escaped label is missing")
	}
	for _, s := range p.shapes {
		if x, ok := s.(*text); ok && x.measure(x.s) > o.Size.Width {
			t.Errorf("a text of %d bytes is wider than the page", len(x.s))
		}
	}
}

// Large graphs are drawn within their limits, and say what is left out.
func TestLargeGraphs(t *testing.T) {
	b := graph.NewBuilder(20000)
	for v := 1; v < 20000; v++ {
		b.AddEdge(v, v/3)
		b.AddEdge(v, (v*7919)%v)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.MaxVertices, o.MaxEdges = 700, 300
	values := make([]float64, g.N())
	values[5] = -3
	o.Values = NewValues("v", values)
	p, err := Graph(g, o)
	if err != nil {
		t.Fatal(err)
	}
	checkPicture(t, p)
	all := strings.Join(texts(t, p), "|")
	if !strings.Contains(all, "700 of 20000 vertices") || !strings.Contains(all, "300 of ") {
		t.Errorf("texts %q do not say what is left out", all)
	}
	segs := 0
	for _, s := range p.shapes {
		if l, ok := s.(*strokes); ok {
			segs += len(l.lines)
		}
	}
	if segs != 300 {
		t.Errorf("%d edges drawn, limit 300", segs)
	}
}

// The vertices of a graph that is drawn in part keep their numbers.
func TestNumbersOfPart(t *testing.T) {
	b := graph.NewBuilder(10)
	for v := 1; v < 10; v++ {
		b.AddEdge(v-1, v)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.MaxVertices, o.Numbers = 3, true
	o.Values = NewValues("v", []float64{0, 0, 0, 0, 0, 0, 0, 1, 0, 0})
	p, err := Graph(g, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(t, p); !slices.Equal(got[:3], []string{"7", "6", "8"}) || p.Vertices != nil {
		t.Errorf("texts %q, vertices at %v", got, p.Vertices)
	}
}

// Two graphs side by side have one scale, and the numbers of the matched pairs on both sides.
func TestPair(t *testing.T) {
	g, h := parse(t, "CCO"), parse(t, "CO")
	o := DefaultOptions()
	o.Values = &Values{Limit: 2, Name: "share"}
	p, err := Pair("both", [2]Panel{{Graph: g, Title: "left", Values: []float64{1, 0, -2}}, {Graph: h, Title: "right", Values: []float64{0.5, 0}}}, [][2]int{{2, 1}, {1, 0}}, o)
	if err != nil {
		t.Fatal(err)
	}
	checkPicture(t, p)
	svg := string(p.SVG())
	for text, want := range map[string]int{">both</text>": 1, ">left</text>": 1, ">right</text>": 1, ">share</text>": 2, ">+2</text>": 2, ">1</text>": 2, ">2</text>": 0} {
		if got := strings.Count(svg, text); got != want {
			t.Errorf("%q is there %d times, want %d", text, got, want)
		}
	}
	if p, err = Pair("", [2]Panel{{Graph: g}, {Graph: h}}, nil, DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, p); !slices.Equal(got, []string{"O", "H", "O", "H"}) {
		t.Errorf("without pairs, values and titles there are the texts %q", got)
	}
}

// Vertices are where the picture says, and a picture without background begins with the graph.
func TestVertices(t *testing.T) {
	o := DefaultOptions()
	o.Transparent = true
	p, err := Graph(parse(t, "CC"), o)
	if err != nil {
		t.Fatal(err)
	}
	at := p.Vertices
	if l, ok := p.shapes[0].(*strokes); !ok || len(at) != 2 || !p.Molecule || math.Abs(l.lines[0][0].x-at[0][0]) > 0.01 || math.Abs(l.lines[0][1].y-at[1][1]) > 0.01 {
		t.Errorf("vertices at %v, shapes %v", at, p.shapes)
	}
}

func TestOptionErrors(t *testing.T) {
	g := parse(t, "CCO")
	for name, change := range map[string]func(*Options){
		"NaN×450":     func(o *Options) { o.Size.Width = math.NaN() },
		"600×1e+09":   func(o *Options) { o.Size.Height = 1e9 },
		"Style":       func(o *Options) { o.Style = "fancy" },
		"MaxVertices": func(o *Options) { o.MaxVertices = 0 },
		"2 values":    func(o *Options) { o.Values = NewValues("x", []float64{1, 2}) },
		"vertex 1 is": func(o *Options) { o.Values = NewValues("x", []float64{1, math.NaN(), 2}) },
		"Limit":       func(o *Options) { o.Values = &Values{Vertex: []float64{1, 2, 3}} },
	} {
		o := DefaultOptions()
		change(&o)
		if _, err := Graph(g, o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one that names %s", err, name)
		}
	}
	p, err := Graph(g, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, scale := range []float64{0, -1, math.NaN(), math.Inf(1), 1e6} {
		if _, err := p.PNG(scale); err == nil {
			t.Errorf("PNG at scale %v: no error", scale)
		}
	}
}

func TestEmptyGraph(t *testing.T) {
	g, err := graph.NewBuilder(0).Build()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Graph(g, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	checkPicture(t, p)
}

// The PNG shows what the shapes say: a black disc on white, a half-covered pixel at the rim.
func TestRaster(t *testing.T) {
	p := newPicture(20, 20, "")
	p.disc(point{10, 10}, 5, rgb(0))
	b, err := p.PNG(1)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	ink := 0.0
	for y := range 20 {
		for x := range 20 {
			r, _, _, _ := img.At(x, y).RGBA()
			ink += 1 - float64(r)/65535
		}
	}
	if want := math.Pi * 25; math.Abs(ink-want) > 1 {
		t.Errorf("the disc covers %.2f pixels, want %.2f", ink, want)
	}
	if r, _, _, _ := img.At(10, 10).RGBA(); r != 0 {
		t.Error("the centre is not black")
	}
	if r, _, _, _ := img.At(1, 1).RGBA(); r != 65535 {
		t.Error("the corner is not white")
	}
}

// A text that runs upwards stands on the left of its point, above it.
func TestRasterUpward(t *testing.T) {
	st := style{size: 10, color: black, upward: true}
	p := newPicture(40, 60, "")
	p.text(point{20, 50}, "HHH", st)
	b, err := p.PNG(1)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	ink := image.Rectangle{}
	for y := range 60 {
		for x := range 40 {
			if r, _, _, _ := img.At(x, y).RGBA(); r < 32768 {
				ink = ink.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	width, height := st.measure("HHH"), capHeight*st.size
	want := [4]float64{20 - height, 50 - width, 20, 50}
	for i, got := range []int{ink.Min.X, ink.Min.Y, ink.Max.X, ink.Max.Y} {
		if math.Abs(float64(got)-want[i]) > 2 {
			t.Fatalf("the text is in %v, want it in %.1f", ink, want)
		}
	}
}

// Twenty thousand lines to one point leave the rest of the page white: filled at once,
// their rounding errors tint it.
func TestRasterOfManyLines(t *testing.T) {
	const size = 380
	rng := rand.New(rand.NewPCG(1, 1))
	center := point{size / 2, size / 2}
	p := newPicture(size, size, "")
	var segs [][]point
	for i := range 20000 {
		segs = append(segs, []point{center.add(polar(size/2*math.Sqrt(rng.Float64()), float64(i))), center})
	}
	p.lines(0.5, gray, segs)
	b, err := p.PNG(1)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for y := range size {
		for x := range size {
			if r, _, _, _ := img.At(x, y).RGBA(); r != 65535 && center.distance(point{float64(x), float64(y)}) > size/2+6 {
				t.Fatalf("pixel (%d, %d) far from all lines has %d of 65535", x, y, r)
			}
		}
	}
}

// linearLight returns the light of a colour, red, green and blue in [0, 1].
func linearLight(c color.NRGBA) [3]float64 {
	var l [3]float64
	for i, v := range []uint8{c.R, c.G, c.B} {
		if x := float64(v) / 255; x <= 0.04045 {
			l[i] = x / 12.92
		} else {
			l[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return l
}

// lab returns CIE L*a*b* of linear sRGB light.
func lab(l [3]float64) [3]float64 {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*l[0] + 0.3576*l[1] + 0.1805*l[2]) / 0.9505)
	y := f(0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2])
	z := f((0.0193*l[0] + 0.1192*l[1] + 0.9505*l[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// Black letters are readable on the diverging scale. Classes with the same mark (every
// fourth) and neighbours in the list stay apart for people who lack red or green cones,
// by the matrices of Viénot, Brettel and Mollon (1999). No class has a colour that says for or against.
func TestColors(t *testing.T) {
	luminance := func(c color.NRGBA) float64 {
		l := linearLight(c)
		return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
	}
	for i := -10; i <= 10; i++ {
		c := diverging((float64(i)/10 + 1) / 2)
		if ratio := (luminance(c) + 0.05) / (luminance(black) + 0.05); ratio < 3 {
			t.Errorf("black on the colour of %v has contrast %.1f, want 3 at least", float64(i)/10, ratio)
		}
	}
	distance := func(a, b [3]float64) float64 {
		return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
	}
	for i, c := range classColors {
		for _, v := range []float64{0, 1} {
			if d := distance(lab(linearLight(c)), lab(linearLight(diverging(v)))); d < 30 {
				t.Errorf("class %d and an end of the diverging scale differ by %.1f, want 30", i, d)
			}
		}
	}
	sight := map[string][3][3]float64{
		"full colour":  {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protanopia":   {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
		"deuteranopia": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
	}
	for name, m := range sight {
		see := func(c color.NRGBA) [3]float64 {
			l := linearLight(c)
			var s [3]float64
			for i := range s {
				s[i] = min(max(m[i][0]*l[0]+m[i][1]*l[1]+m[i][2]*l[2], 0), 1)
			}
			return lab(s)
		}
		for i := range classColors {
			for j := range i {
				a, b := see(classColors[i]), see(classColors[j])
				d := distance(a, b)
				want := 5.0
				if (i-j)%4 == 0 || i-j == 1 {
					want = 20
				}
				if d < want {
					t.Errorf("%s: classes %d and %d differ by %.1f, want %v", name, j, i, d, want)
				}
			}
		}
	}
}
