package draw

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
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
	Name   string    // what the values are, for the scale: "contribution"
}

// NewValues returns values whose limit is the largest absolute value, or 1 if all are 0.
func NewValues(name string, vertex []float64) *Values {
	limit := 0.0
	for _, x := range vertex {
		limit = max(limit, math.Abs(x))
	}
	if !(limit > 0) {
		limit = 1
	}
	return &Values{Vertex: vertex, Limit: limit, Name: name}
}

// Options say how a graph is drawn. Start from DefaultOptions.
type Options struct {
	Title         string  // above the graph
	Width, Height float64 // largest size of the picture in pixels, each at least 60
	Style         Style
	Values        *Values // colours of the vertices, nil for none
	Highlight     []int   // vertices to be marked
	Numbers       bool    // write the numbers of the vertices
	Seed          uint64  // of the layout of networks
	MaxVertices   int     // a larger graph is drawn in part, which the picture says
	MaxEdges      int
}

// DefaultOptions returns the options to start from.
func DefaultOptions() Options {
	return Options{Width: 600, Height: 450, Style: Auto, Seed: 1, MaxVertices: 5000, MaxEdges: 20000}
}

// Validate returns an error that names the first field that is wrong for a graph with n
// vertices.
func (o Options) Validate(n int) error {
	within := func(x float64) bool { return x >= 60 && x <= 10000 }
	if !within(o.Width) {
		return fmt.Errorf("Options.Width: %v pixels, want 60 to 10000", o.Width)
	}
	if !within(o.Height) {
		return fmt.Errorf("Options.Height: %v pixels, want 60 to 10000", o.Height)
	}
	if !slices.Contains([]Style{Auto, Molecule, Network}, o.Style) {
		return fmt.Errorf("Options.Style: %q, want auto, molecule or network", o.Style)
	}
	if o.MaxVertices < 1 || o.MaxEdges < 1 {
		return fmt.Errorf("Options.MaxVertices %d, MaxEdges %d, want positive numbers", o.MaxVertices, o.MaxEdges)
	}
	for _, v := range o.Highlight {
		if v < 0 || v >= n {
			return fmt.Errorf("Options.Highlight: vertex %d out of range [0, %d)", v, n)
		}
	}
	if o.Values == nil {
		return nil
	}
	if len(o.Values.Vertex) != n {
		return fmt.Errorf("Options.Values: %d values, want one for each of the %d vertices", len(o.Values.Vertex), n)
	}
	for v, x := range o.Values.Vertex {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("Options.Values: value of vertex %d is %v, want a finite number", v, x)
		}
	}
	if !(o.Values.Limit > 0) || math.IsInf(o.Values.Limit, 1) {
		return fmt.Errorf("Options.Values.Limit: %v, want a positive, finite number", o.Values.Limit)
	}
	return nil
}

// maxFormula is the largest graph that Auto draws as a molecule: more letters are not read.
const maxFormula = 500

// Graph draws a graph. It uses the coordinates of the graph, if it has useful ones, else it
// computes a layout: structural formulas for molecules, stress or force layouts for others. The error says which option is wrong.
func Graph(g *graph.Graph, o Options) (*Picture, error) {
	if err := o.Validate(g.N()); err != nil {
		return nil, err
	}
	note := ""
	if g.N() > o.MaxVertices {
		note = fmt.Sprintf("%d of %d vertices", o.MaxVertices, g.N())
		g, o = part(g, o)
	}
	adj := make(adjacency, g.N())
	for v := range adj {
		adj[v] = make([]int, g.Degree(v))
		for i, w := range g.Neighbors(v) {
			adj[v][i] = int(w)
		}
	}
	d := &drawing{g: g, o: o, note: note}
	if o.Style == Molecule || o.Style == Auto && g.N() <= maxFormula {
		if m, ok := readMolecule(g); ok {
			d.m = m
		}
	}
	var ok bool
	if d.pos, ok = given(g); !ok {
		if d.m != nil {
			element, linear := make([]string, g.N()), make([]bool, g.N())
			for v := range linear {
				element[v], linear[v] = d.m.atoms[v].symbol, d.m.linear(v)
			}
			d.pos, ok = moleculeLayout(adj, element, linear)
		}
		if !ok {
			d.pos = networkLayout(adj, o.Seed)
		}
	}
	return d.picture(), nil
}

// part returns the subgraph that is drawn of a graph that is too large: the first vertices
// of a breadth-first search from the vertex of the largest value, or else degree.
func part(g *graph.Graph, o Options) (*graph.Graph, Options) {
	rank := func(v int) float64 {
		if o.Values != nil {
			return math.Abs(o.Values.Vertex[v])
		}
		return float64(g.Degree(v))
	}
	root := 0
	for v := range g.N() {
		if rank(v) > rank(root) {
			root = v
		}
	}
	seen := make([]bool, g.N())
	var queue []int32
	for next := root; len(queue) < o.MaxVertices; next++ {
		v := next % g.N()
		if seen[v] {
			continue
		}
		seen[v] = true
		queue = append(queue, int32(v))
		for i := len(queue) - 1; i < len(queue) && len(queue) < o.MaxVertices; i++ {
			for _, w := range g.Neighbors(int(queue[i])) {
				if !seen[w] && len(queue) < o.MaxVertices {
					seen[w] = true
					queue = append(queue, w)
				}
			}
		}
	}
	at := map[int]int{}
	for i, v := range queue {
		at[int(v)] = i
	}
	var marks []int
	for _, v := range o.Highlight {
		if i, in := at[v]; in {
			marks = append(marks, i)
		}
	}
	o.Highlight = marks
	if o.Values != nil {
		values := *o.Values
		values.Vertex = make([]float64, len(queue))
		for i, v := range queue {
			values.Vertex[i] = o.Values.Vertex[v]
		}
		o.Values = &values
	}
	return g.Induced(queue), o
}

// given returns the coordinates of the graph, scaled to edges of length 1 in the median,
// if it has useful ones: finite, and no edge of length 0.
func given(g *graph.Graph) ([]point, bool) {
	pos := make([]point, g.N())
	for v := range pos {
		x, y, ok := g.Coordinates(v)
		if !ok || math.IsNaN(x+y) || math.Abs(x)+math.Abs(y) > 1e12 {
			return nil, false
		}
		pos[v] = point{x, y}
	}
	if g.N() == 0 {
		return nil, false
	}
	var lengths []float64
	for e := range g.Edges() {
		d := pos[e.U].distance(pos[e.V])
		if !(d > 1e-9) {
			return nil, false
		}
		lengths = append(lengths, d)
	}
	unit := 1.0
	if len(lengths) > 0 {
		slices.Sort(lengths)
		unit = lengths[len(lengths)/2]
	} else {
		lo, hi := bounds(pos)
		if g.N() > 1 && lo == hi {
			return nil, false
		}
		unit = max(hi.sub(lo).norm()/math.Sqrt(float64(g.N())), 1e-9)
	}
	for v := range pos {
		pos[v] = pos[v].scale(1 / unit)
	}
	return pos, true
}

// drawing is a graph with positions on its way to a picture.
type drawing struct {
	g    *graph.Graph
	o    Options
	m    *molecule // nil for a network
	pos  []point   // edges about 1 long, y upwards; pixels after fit
	unit float64   // pixels of a bond
	note string
}

// Sizes in pixels.
const (
	bondLength  = 32.0
	titleSize   = 16.0
	noteSize    = 12.0
	legendSize  = 11.0
	margin      = 12.0
	legendGap   = 8.0
	scaleHeight = 34.0
)

func (d *drawing) picture() *Picture {
	legend := d.legend()
	top, bottom := margin, margin
	if d.o.Title != "" {
		top += titleSize + legendGap
	}
	if d.o.Values != nil {
		bottom += scaleHeight
	}
	if d.m == nil && d.g.M() > d.o.MaxEdges {
		if d.note != "" {
			d.note += ", "
		}
		d.note += fmt.Sprintf("%d of %d edges", d.o.MaxEdges, d.g.M())
	}
	if d.note != "" {
		bottom += noteSize + legendGap
	}
	bottom += legend.height
	pad := 26.0
	want := bondLength
	if d.m == nil {
		pad = 14
		want = 40
	}
	lo, hi := bounds(d.pos)
	size := hi.sub(lo)
	d.unit = want
	roomX, roomY := d.o.Width-2*margin-2*pad, max(d.o.Height-top-bottom-2*pad, 20)
	d.unit = min(d.unit, max(roomX, 20)/max(size.x, 1e-9), roomY/max(size.y, 1e-9))
	width := size.x*d.unit + 2*margin + 2*pad
	if d.o.Title != "" {
		width = max(width, min(measure(clean(d.o.Title), titleSize, true)+2*margin, d.o.Width))
	}
	if d.o.Values != nil || legend.height > 0 || d.note != "" {
		width = max(width, min(260, d.o.Width))
	}
	width = min(max(width, 60, legend.width), d.o.Width)
	height := size.y*d.unit + 2*pad + top + bottom
	title := d.o.Title
	if title == "" {
		title = d.g.ID()
	}
	p := newPicture(width, height, title)
	left := (width - size.x*d.unit) / 2
	for v, q := range d.pos {
		d.pos[v] = point{left + (q.x-lo.x)*d.unit, top + pad + (hi.y-q.y)*d.unit}
	}
	if d.o.Title != "" {
		p.text(point{width / 2, margin + titleSize*0.8}, shorten(d.o.Title, width-2*margin, titleSize, true),
			style{size: titleSize, color: black, bold: true, anchor: middle})
	}
	if d.m != nil {
		d.molecule(p)
	} else {
		d.network(p)
	}
	y := height - bottom
	if d.note != "" {
		y += noteSize
		p.text(point{width / 2, y}, shorten(d.note, width-2*margin, noteSize, false), style{size: noteSize, color: gray, anchor: middle})
		y += legendGap
	}
	legend.draw(p, y)
	if d.o.Values != nil {
		colorScale(p, width, y+legend.height, d.o.Values)
	}
	return p
}

// colorScale draws the scale of the values below y.
func colorScale(p *Picture, width, y float64, v *Values) {
	const steps = 61
	w := min(180, width-4*margin)
	x := (width - w) / 2
	for i := range steps { // each over the rest of the one before: no seams
		p.polygon(rectangle(x+w*float64(i)/steps, y+14, x+w, y+24), Diverging(2*float64(i)/(steps-1)-1))
	}
	st := style{size: legendSize, color: gray, anchor: middle}
	p.text(point{width / 2, y + 10}, shorten(v.Name, width-2*margin, legendSize, false), st)
	limit := strconv.FormatFloat(v.Limit, 'g', 2, 64)
	p.text(point{x, y + 35}, "−"+limit, st)
	p.text(point{width / 2, y + 35}, "0", st)
	p.text(point{x + w, y + 35}, "+"+limit, st)
}

// valueColor returns the colour of the value of v.
func (d *drawing) valueColor(v int) Color { return Diverging(d.o.Values.Vertex[v] / d.o.Values.Limit) }

// network draws edges as lines and vertices as discs.
func (d *drawing) network(p *Picture) {
	n := d.g.N()
	r := min(max(d.unit*0.22, 1.2), 9)
	if n > 500 {
		r = min(max(d.unit*0.3, 0.9), 5)
	}
	if lo, hi := bounds(d.pos); n > 1 {
		// Discs cover a part of the page only.
		r = min(r, 0.2*math.Sqrt((hi.x-lo.x)*(hi.y-lo.y)/float64(n))+0.4)
		if n < 50 {
			r = max(r, 3)
		}
	}
	edge := Color{0x8c, 0x8c, 0x8c, 255}
	if d.g.M() > 3*n {
		edge.A = 110
	}
	skip := (d.g.M() + d.o.MaxEdges - 1) / d.o.MaxEdges
	var segs [][2]point
	k := 0
	for e := range d.g.Edges() {
		if k%max(skip, 1) == 0 {
			segs = append(segs, [2]point{d.pos[e.U], d.pos[e.V]})
		}
		k++
	}
	p.lines(min(max(r*0.2, 0.5), 1.4), edge, segs)
	marked := map[int]bool{}
	for _, v := range d.o.Highlight {
		marked[v] = true
		p.disc(d.pos[v], r+3.5, amber)
	}
	class := d.classes()
	for v, q := range d.pos {
		border := black
		if r < 3 {
			border = Color{}
		}
		switch {
		case d.o.Values != nil:
			p.ring(q, r, max(r*0.12, 0.6), d.valueColor(v), black)
		case class != nil:
			mark(p, q, r, class[d.g.Label(v)], border)
		default:
			mark(p, q, r, 0, border)
		}
		if d.o.Numbers {
			p.text(point{q.x + r + 1, q.y - r}, strconv.Itoa(v), style{size: 9, color: black})
		}
	}
}

// classes numbers the labels of a network for colours, nil without labels.
func (d *drawing) classes() map[string]int {
	if !d.g.HasLabels() || d.m != nil {
		return nil
	}
	names := slices.Clone(d.g.Labels())
	slices.SortFunc(names, naturally)
	class := map[string]int{}
	for i, s := range slices.Compact(names) {
		class[s] = i
	}
	return class
}

// legend explains the colours of the labels of a network.
func (d *drawing) legend() legend {
	class := d.classes()
	if class == nil || d.o.Values != nil {
		return legend{}
	}
	names := make([]string, len(class))
	for s, i := range class {
		names[i] = s
	}
	return newLegend(names, d.o.Width, d.o.Height/3)
}
