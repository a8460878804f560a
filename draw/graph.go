package draw

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/param"
)

// Style is how a graph is drawn.
type Style string

// The styles.
const (
	Auto     Style = "auto"     // a molecule where the labels allow it, up to 500 atoms
	Molecule Style = "molecule" // structural formula; falls back to Network when the graph is no molecule
	Network  Style = "network"  // discs and lines
)

// Values colours vertices, from blue (negative) over white to orange (positive).
type Values struct {
	Vertex []float64 // one for each vertex
	Limit  float64   // the absolute value of the strongest colour; positive
	Name   string    // name of the values, for the scale: "contribution to the margin for opioid"

	low, high string // what a negative and a positive value say, in a word
}

// NewValues returns values whose limit is the largest absolute value, or 1 if all are 0.
func NewValues(name string, vertex []float64) *Values {
	limit := 0.0
	for _, x := range vertex {
		limit = max(limit, math.Abs(x))
	}
	return &Values{Vertex: vertex, Limit: cmp.Or(limit, 1), Name: name}
}

// Options say how a graph is drawn. Start from DefaultOptions.
type Options struct {
	Title       string  // above the graph
	Size        Size    // the largest size of the picture, at least 60×60
	Style       Style   `want:"one of auto molecule network"`
	Values      *Values // colours of the vertices, with a scale below; nil for none
	Numbers     bool    // write the names of the vertices, or their numbers
	Transparent bool    // without the white background
	MaxVertices int     `want:"at least 1"` // a larger graph is drawn in part, which the picture says
	MaxEdges    int     `want:"at least 1"`

	names []string // texts at the vertices, nil for none
}

// DefaultOptions returns the options to start from.
func DefaultOptions() Options {
	return Options{Size: Size{600, 450}, Style: Auto, MaxVertices: 5000, MaxEdges: 20000}
}

// check returns an error that names the first field that is wrong for a graph with n
// vertices.
func (o Options) check(n int) error {
	if err := o.Size.check(Size{60, 60}); err != nil {
		return fmt.Errorf("Options.%w", err)
	}
	if err := param.Check("Options", o); err != nil || o.Values == nil {
		return err
	}
	if len(o.Values.Vertex) != n {
		return fmt.Errorf("Options.Values: %d values, want one for each of the %d vertices", len(o.Values.Vertex), n)
	}
	if v := slices.IndexFunc(o.Values.Vertex, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }); v >= 0 {
		return fmt.Errorf("Options.Values: value of vertex %d is %v, want a finite number", v, o.Values.Vertex[v])
	}
	if !(o.Values.Limit > 0) || math.IsInf(o.Values.Limit, 1) {
		return fmt.Errorf("Options.Values.Limit: %v, want a positive, finite number", o.Values.Limit)
	}
	return nil
}

// maxFormula is the largest graph that Auto draws as a molecule: more letters are not read.
const maxFormula = 500

// Graph draws a graph, with values on its vertices, a scale and a title if the options have them.
// It uses the coordinates of the graph, if it has useful ones, else it computes a layout: structural
// formulas for molecules, stress or force layouts for others. The error says which option is wrong.
func Graph(g *graph.Graph, o Options) (*Picture, error) {
	if err := o.check(g.N()); err != nil {
		return nil, err
	}
	if o.Numbers && o.names == nil {
		for v := range g.N() {
			o.names = append(o.names, g.Name(v))
		}
	}
	d := &drawing{g: g, o: o}
	if g.N() > o.MaxVertices {
		d.excerpt()
	}
	if o.Style == Molecule || o.Style == Auto && d.g.N() <= maxFormula {
		d.m = readMolecule(d.g)
	}
	d.arrange()
	return d.picture(), nil
}

// arrange finds positions, and the wedges of a molecule.
func (d *drawing) arrange() {
	adj := make(adjacency, d.g.N())
	for v := range adj {
		for _, w := range d.g.Neighbors(v) {
			adj[v] = append(adj[v], int(w))
		}
	}
	ringsKnown := false
	if d.m != nil {
		d.systems, ringsKnown = adj.ringSystems()
	}
	switch given, ok := givenLayout(d.g); {
	case ok:
		d.pos = given
	case ringsKnown:
		d.pos = moleculeLayout(adj, d.m, d.systems)
	default:
		d.pos = networkLayout(adj)
	}
	if d.m != nil {
		d.wedges = d.m.wedges(d.systems, d.pos)
	}
}

// givenLayout returns the coordinates of the graph, scaled to edges of length 1 in the median,
// if it has useful ones: finite, and no edge of length 0.
func givenLayout(g *graph.Graph) ([]point, bool) {
	pos := make([]point, g.N())
	for v := range pos {
		x, y, ok := g.Coordinates(v)
		if !ok || math.IsNaN(x+y) || math.Abs(x)+math.Abs(y) > 1e12 {
			return nil, false
		}
		pos[v] = point{x, y}
	}
	var lengths []float64
	for e := range g.Edges() {
		lengths = append(lengths, pos[e.U].distance(pos[e.V]))
	}
	if len(lengths) == 0 { // as if the vertices were the points of a grid
		lo, hi := bounds(pos)
		lengths = append(lengths, hi.distance(lo)/math.Sqrt(float64(g.N())))
	}
	slices.Sort(lengths)
	if !(lengths[0] > 1e-9) {
		return nil, false
	}
	for v := range pos {
		pos[v] = pos[v].scale(1 / lengths[len(lengths)/2])
	}
	return pos, true
}

// drawing is a graph with positions on its way to a picture.
type drawing struct {
	g       *graph.Graph
	o       Options
	m       *molecule    // nil for a network
	systems []ringSystem // of the molecule
	wedges  []wedge      // of the molecule
	pos     []point      // edges about 1 long, y upwards; pixels once there is a page
	bond    float64      // pixels of an edge
	remarks []string     // what is left out
}

// excerpt replaces a graph that is too large by a part of it: the first vertices of a
// breadth-first search from the vertex of the largest value, or else degree, then any others.
func (d *drawing) excerpt() {
	weight := func(v int) float64 { return float64(d.g.Degree(v)) }
	if d.o.Values != nil {
		weight = func(v int) float64 { return math.Abs(d.o.Values.Vertex[v]) }
	}
	root := 0
	for v := range d.g.N() {
		if weight(v) > weight(root) {
			root = v
		}
	}
	var near graph.Scratch
	chosen := near.Ball(d.g, root, d.g.N())
	for v := int32(0); len(chosen) < d.o.MaxVertices; v++ { // the component is smaller
		if !near.In(v) {
			chosen = append(chosen, v)
		}
	}
	chosen = chosen[:d.o.MaxVertices]
	d.remarks = append(d.remarks, fmt.Sprintf("%d of %d vertices", len(chosen), d.g.N()))
	d.g = d.g.Induced(chosen)
	if d.o.names != nil {
		d.o.names = selected(d.o.names, chosen)
	}
	if d.o.Values != nil {
		values := *d.o.Values
		values.Vertex = selected(values.Vertex, chosen)
		d.o.Values = &values
	}
}

func selected[T any, I int | int32](all []T, chosen []I) []T {
	out := make([]T, len(chosen))
	for i, v := range chosen {
		out[i] = all[v]
	}
	return out
}

const scaleHeight = 36.0 // pixels

var remarkStyle = style{size: 12, color: gray, anchor: "middle"}

// picture sets out the page: title, graph, remarks, legend, scale of the values.
func (d *drawing) picture() *Picture {
	whole := len(d.remarks) == 0
	pad, bond := 26.0, 32.0
	if d.m == nil {
		pad, bond = 14, 40
		if d.g.M() > d.o.MaxEdges {
			d.remarks = append(d.remarks, fmt.Sprintf("%d of %d edges", d.o.MaxEdges, d.g.M()))
		}
	}
	var key legend // of the labels of a network
	if d.m == nil && d.o.Values == nil {
		names, _ := Classes(d.g.Labels())
		key = newLegend(names, d.o.Size.Width, d.o.Size.Height/3)
	}
	top, below := headed(d.o.Title), key.height
	if d.o.Values != nil {
		below += scaleHeight
	}
	if len(d.remarks) > 0 {
		below += remarkStyle.size + gap
	}
	lo, hi := bounds(d.pos)
	extent := hi.sub(lo)
	d.bond = min(bond, max(d.o.Size.Width-2*margin-2*pad, 20)/max(extent.x, 1e-9),
		max(d.o.Size.Height-top-below-margin-2*pad, 20)/max(extent.y, 1e-9))
	extent = extent.scale(d.bond)
	width := max(60, extent.x+2*margin+2*pad, key.width, titleStyle.measure(clean(d.o.Title))+2*margin)
	if below > 0 {
		width = max(width, 260)
	}
	if d.o.Values != nil {
		width = max(width, 300, tickStyle.measure(d.o.Values.Name)+2*margin)
	}
	p := newPicture(min(width, d.o.Size.Width), extent.y+2*pad+top+below+margin, cmp.Or(d.o.Title, d.g.ID()))
	if d.o.Transparent {
		p.shapes = nil
	}
	p.Molecule = d.m != nil
	for v, q := range d.pos {
		d.pos[v] = point{(p.Width-extent.x)/2 + (q.x-lo.x)*d.bond, top + pad + (hi.y-q.y)*d.bond}
		if whole {
			p.Vertices = append(p.Vertices, [2]float64{rounded(d.pos[v].x), rounded(d.pos[v].y)})
		}
	}
	p.heading(d.o.Title)
	if d.m != nil {
		d.molecule(p)
	} else {
		d.network(p)
	}
	y := p.Height - margin - below
	if len(d.remarks) > 0 {
		y += remarkStyle.size
		p.label(point{p.Width / 2, y}, strings.Join(d.remarks, ", "), p.Width-2*margin, remarkStyle)
		y += gap
	}
	key.draw(p, y)
	if d.o.Values != nil {
		d.scale(p, y+key.height)
	}
	return p
}

// scale draws the scale of the values below y: their name, colours with numbers, and the meaning of
// the ends.
func (d *drawing) scale(p *Picture, y float64) {
	values := d.o.Values
	w := min(180, p.Width-4*margin)
	x, middle := (p.Width-w)/2, p.Width/2
	p.colorBar(box{x, y + 14, x + w, y + 24}, diverging)
	p.label(point{middle, y + 10}, values.Name, p.Width-2*margin, tickStyle)
	for i := -2; i <= 2; i++ {
		p.text(point{middle + float64(i)*w/4, y + 35}, signed(values.Limit*float64(i)/2), tickStyle)
	}
	low, high := tickStyle, tickStyle
	low.anchor, high.anchor = "end", ""
	p.text(point{x - 5, y + 23}, values.low, low)
	p.text(point{x + w + 5, y + 23}, values.high, high)
}

// minus returns the text of a number with minus signs, which have the width of digits.
func minus(number string) string { return strings.ReplaceAll(number, "-", "−") }

// signed writes a number with its sign and two digits, or as an integer.
func signed(x float64) string {
	text := strconv.FormatFloat(math.Abs(x), 'g', 2, 64)
	if a := math.Abs(x); a >= 100 && a < 1e6 {
		text = strconv.FormatFloat(a, 'f', 0, 64)
	}
	switch {
	case x < 0:
		return "−" + text
	case x > 0:
		return "+" + text
	}
	return "0"
}

// valued draws a disc in the colour of the value of v.
func (d *drawing) valued(p *Picture, v int, r, border float64, edge color.NRGBA) {
	p.disc(d.pos[v], r, edge)
	p.disc(d.pos[v], r-border, diverging((d.o.Values.Vertex[v]/d.o.Values.Limit+1)/2))
}

// network draws edges as lines and vertices as discs.
func (d *drawing) network(p *Picture) {
	n := d.g.N()
	// Discs are smaller than edges, and cover a part of the page only.
	r := max(1, min(9, 0.22*d.bond, 0.2*math.Sqrt(p.Width*p.Height/float64(n))))
	edge := rgb(0x8c8c8c)
	if d.g.M() > 3*n {
		edge.A = 110
	}
	all, most := d.g.M(), min(d.g.M(), d.o.MaxEdges)
	var lines [][]point
	k := 0
	for e := range d.g.Edges() {
		if k*most/all < (k+1)*most/all { // most of them, spread evenly
			lines = append(lines, []point{d.pos[e.U], d.pos[e.V]})
		}
		k++
	}
	p.lines(min(max(r*0.2, 0.5), 1.4), edge, lines)
	if d.g.Directed() && all <= d.o.MaxEdges {
		d.arrowheads(p, r, edge)
	}
	border := black
	if r < 3 {
		border.A = 0
	}
	_, class := Classes(d.g.Labels())
	for v, q := range d.pos {
		if d.o.Values != nil {
			d.valued(p, v, r, max(r*0.12, 0.6), black)
		} else {
			mark(p, q, r, class[d.g.Label(v)], ClassColor(class[d.g.Label(v)]), border)
		}
		if d.o.names != nil {
			p.text(point{q.x + r + 1, q.y - r}, d.o.names[v], style{size: 9, color: black})
		}
	}
}

// arrowheads draws the heads of arcs at the discs of radius r, and self-loops as rings.
func (d *drawing) arrowheads(p *Picture, r float64, c color.NRGBA) {
	size := min(max(0.9*r, 2.5), 0.3*d.bond)
	for a := range d.g.Arcs() {
		from, to := d.pos[a.U], d.pos[a.V]
		length := from.distance(to)
		if a.U == a.V {
			ring := make([]point, 17)
			for i := range ring {
				ring[i] = to.add(point{0, -1.6 * r}).add(point{0.9 * r, 0}.rotate(float64(i) * math.Pi / 8))
			}
			p.line(1, c, ring...)
			continue
		}
		if !(length > 2*r) { // covered by the discs
			continue
		}
		along := to.sub(from).scale(1 / length)
		across := along.left().scale(0.4 * size)
		tip := to.sub(along.scale(r))
		back := tip.sub(along.scale(size))
		p.polygon(c, tip, back.add(across), back.sub(across))
	}
}
