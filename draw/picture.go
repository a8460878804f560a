package draw

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"
	"strings"
)

// Size is the largest size of a picture of a graph, and the size of a chart, in pixels.
type Size struct{ Width, Height float64 }

// DefaultSize is wide enough for a page and a slide.
var DefaultSize = Size{640, 420}

// check returns an error for a size outside of the limits.
func (s Size) check(least Size) error {
	const most = 10000
	if !(s.Width >= least.Width && s.Width <= most && s.Height >= least.Height && s.Height <= most) {
		return fmt.Errorf("Size: %v×%v pixels, want %v×%v to %d×%d", s.Width, s.Height, least.Width, least.Height, most, most)
	}
	return nil
}

// Picture is a finished drawing: a page of shapes in pixels, x to the right and y down.
// It is written as SVG text or as PNG; both show the same.
type Picture struct {
	Size
	// Vertices are where Graph has put the vertices, to two decimals; nil for other pictures, and
	// for a graph that is drawn in part.
	Vertices [][2]float64
	Molecule bool // the picture is a structural formula

	title  string
	shapes []shape
}

// shape is something on the page. svg is in this file, raster, which does the same for PNG, in
// raster.go.
type shape interface {
	svg(b *bytes.Buffer)
	raster(c *canvas)
}

// newPicture returns a page with a white background. The title is for readers of the
// file; nothing is drawn for it.
func newPicture(width, height float64, title string) *Picture {
	p := &Picture{Size: Size{math.Ceil(width), math.Ceil(height)}, title: title}
	p.polygon(white, rectangle(0, 0, p.Width, p.Height)...)
	return p
}

func (p *Picture) add(s shape) { p.shapes = append(p.shapes, s) }

// line draws a line through the points, with round ends.
func (p *Picture) line(width float64, c color.NRGBA, pts ...point) { p.lines(width, c, [][]point{pts}) }

// lines draws many lines with the same stroke as one shape.
func (p *Picture) lines(width float64, c color.NRGBA, lines [][]point) {
	if len(lines) > 0 {
		p.add(&strokes{lines, width, c})
	}
}

func (p *Picture) polygon(fill color.NRGBA, pts ...point) { p.add(&filled{pts, fill}) }

func (p *Picture) disc(center point, r float64, fill color.NRGBA) {
	if r > 0 {
		p.add(&disc{center, r, fill})
	}
}

func (p *Picture) text(at point, s string, st style) {
	if s != "" {
		p.add(&text{at, clean(s), st})
	}
}

// label writes a text, cut to a width.
func (p *Picture) label(at point, s string, width float64, st style) {
	p.text(at, shorten(s, width, st), st)
}

func rectangle(x0, y0, x1, y1 float64) []point {
	return []point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}
}

// Sizes in pixels.
const (
	margin    = 12.0
	titleSize = 16.0
	gap       = 8.0 // between the title, the drawing and what stands below
)

var titleStyle = style{size: titleSize, color: black, bold: true, anchor: "middle"}

// headed returns the height that a title takes, with the margin above it.
func headed(title string) float64 {
	if title == "" {
		return margin
	}
	return margin + titleSize + gap
}

// heading writes the title on top of the page and returns where the rest begins.
func (p *Picture) heading(title string) float64 {
	p.label(point{p.Width / 2, margin + titleSize*0.8}, title, p.Width-2*margin, titleStyle)
	return headed(title)
}

// SVG returns the picture as a self-contained SVG document.
func (p *Picture) SVG() []byte {
	var b bytes.Buffer
	w, h := num(p.Width), num(p.Height)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img"`, w, h, w, h)
	b.WriteString(` font-family="Helvetica, Arial, sans-serif">` + "\n")
	if p.title != "" {
		b.WriteString("<title>" + escape(p.title) + "</title>\n")
	}
	for _, s := range p.shapes {
		s.svg(&b)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// rounded returns a coordinate with two decimals at most; it is never −0.
func rounded(x float64) float64 { return math.Round(100*x)/100 + 0 }

// num writes a coordinate with two decimals at most.
func num(x float64) string { return strconv.FormatFloat(rounded(x), 'f', -1, 64) }

func paint(attr string, c color.NRGBA) string {
	s := fmt.Sprintf(` %s="#%02x%02x%02x"`, attr, c.R, c.G, c.B)
	if c.A != 255 {
		s += fmt.Sprintf(` %s-opacity="%s"`, attr, num(float64(c.A)/255))
	}
	return s
}

// clean replaces what XML cannot hold: control characters, half surrogates, bytes that
// are not UTF-8.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < 0x20 || r == 0x7f || r == 0xfffe || r == 0xffff:
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// escape makes text safe inside elements and quoted attributes.
func escape(s string) string { return html.EscapeString(clean(s)) }

// writePath writes points as commands of an SVG path.
func writePath(b *bytes.Buffer, pts []point) {
	command := "M"
	for _, q := range pts {
		b.WriteString(command + num(q.x) + " " + num(q.y))
		command = "L"
	}
}

// strokes are lines with round ends.
type strokes struct {
	lines [][]point
	width float64
	color color.NRGBA
}

func (s *strokes) svg(b *bytes.Buffer) {
	b.WriteString(`<path d="`)
	for _, pts := range s.lines {
		writePath(b, pts)
	}
	b.WriteString(`" fill="none" stroke-width="` + num(s.width) + `" stroke-linecap="round" stroke-linejoin="round"` + paint("stroke", s.color) + "/>\n")
}

// filled is a polygon without border.
type filled struct {
	pts  []point
	fill color.NRGBA
}

func (f *filled) svg(b *bytes.Buffer) {
	b.WriteString(`<path d="`)
	writePath(b, f.pts)
	b.WriteString(`Z"` + paint("fill", f.fill) + "/>\n")
}

type disc struct {
	center point
	r      float64
	fill   color.NRGBA
}

func (d *disc) svg(b *bytes.Buffer) {
	fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="%s"%s/>`+"\n", num(d.center.x), num(d.center.y), num(d.r), paint("fill", d.fill))
}

// style is how a text looks.
type style struct {
	size   float64
	color  color.NRGBA
	bold   bool
	anchor string // what of the text is at its point: "middle", "end", or else the start
	upward bool   // turned by 90 degrees against the clock
	exact  bool   // the viewer shall keep the measured width, whatever its font
}

// text stands with its baseline on the point at.
type text struct {
	at point
	s  string
	style
}

func (t *text) svg(b *bytes.Buffer) {
	fmt.Fprintf(b, `<text x="%s" y="%s" font-size="%s"%s`, num(t.at.x), num(t.at.y), num(t.size), paint("fill", t.color))
	if t.anchor != "" {
		b.WriteString(` text-anchor="` + t.anchor + `"`)
	}
	if t.bold {
		b.WriteString(` font-weight="bold"`)
	}
	if t.upward {
		fmt.Fprintf(b, ` transform="rotate(-90 %s %s)"`, num(t.at.x), num(t.at.y))
	}
	if t.exact {
		b.WriteString(` textLength="` + num(t.measure(t.s)) + `" lengthAdjust="spacingAndGlyphs"`)
	}
	b.WriteString(">" + escape(t.s) + "</text>\n")
}

// cells is an image whose pixels are drawn as cells that fill a box.
type cells struct {
	box
	img *image.NRGBA
}

func (c *cells) svg(b *bytes.Buffer) {
	fmt.Fprintf(b, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,`,
		num(c.x0), num(c.y0), num(c.x1-c.x0), num(c.y1-c.y0))
	var data bytes.Buffer
	if err := png.Encode(&data, c.img); err != nil {
		panic("draw: " + err.Error()) // a small image in memory
	}
	b.WriteString(base64.StdEncoding.EncodeToString(data.Bytes()) + `"/>` + "\n")
}

// colorBar draws a scale of colours over the longer side of a box, t running from 0 on the left or
// below to 1.
func (p *Picture) colorBar(b box, ramp func(t float64) color.NRGBA) {
	const steps = 64
	along := image.Rect(0, 0, steps, 1)
	if b.y1-b.y0 > b.x1-b.x0 {
		along = image.Rect(0, 0, 1, steps)
	}
	img := image.NewNRGBA(along)
	for i := range steps {
		c := ramp(float64(i) / (steps - 1))
		img.SetNRGBA(min(i, along.Max.X-1), min(steps-1-i, along.Max.Y-1), c)
	}
	p.add(&cells{b, img})
}

// group is a picture on another one.
type group struct {
	at     point
	shapes []shape
}

func (g *group) svg(b *bytes.Buffer) {
	b.WriteString(`<g transform="translate(` + num(g.at.x) + " " + num(g.at.y) + `)">` + "\n")
	for _, s := range g.shapes {
		s.svg(b)
	}
	b.WriteString("</g>\n")
}
