package draw

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Color is a colour with straight alpha.
type Color struct{ R, G, B, A uint8 }

// RGBA implements color.Color.
func (c Color) RGBA() (r, g, b, a uint32) { return color.NRGBA(c).RGBA() }

// Picture is a finished drawing: a page of shapes in pixels, x to the right and y down.
// It is written as SVG text or as PNG; both show the same.
type Picture struct {
	width, height float64
	title         string
	shapes        []shape
}

// shape is something on the page. Both renderings stand next to each other in the type.
type shape interface {
	svg(b *bytes.Buffer)
	raster(c *canvas)
}

// newPicture returns a page with a white background. The title is for readers of the
// file; nothing is drawn for it.
func newPicture(width, height float64, title string) *Picture {
	p := &Picture{width: math.Ceil(width), height: math.Ceil(height), title: title}
	p.polygon(rectangle(0, 0, p.width, p.height), white)
	return p
}

// Size returns width and height in pixels.
func (p *Picture) Size() (width, height float64) { return p.width, p.height }

func (p *Picture) add(s shape) { p.shapes = append(p.shapes, s) }

// line draws a line through the points, with round ends.
func (p *Picture) line(width float64, c Color, pts ...point) {
	segs := make([][2]point, 0, len(pts))
	for i := 1; i < len(pts); i++ {
		segs = append(segs, [2]point{pts[i-1], pts[i]})
	}
	p.lines(width, c, segs)
}

// lines draws many segments with the same stroke as one shape.
func (p *Picture) lines(width float64, c Color, segs [][2]point) {
	if len(segs) > 0 {
		p.add(&strokes{segs, width, c})
	}
}

// dashes draws a broken line from a to b.
func (p *Picture) dashes(width float64, c Color, a, b point, on, off float64) {
	d := b.sub(a)
	n := d.norm()
	if n == 0 {
		return
	}
	var segs [][2]point
	for s := 0.0; s < n; s += on + off {
		segs = append(segs, [2]point{a.add(d.scale(s / n)), a.add(d.scale(min(s+on, n) / n))})
	}
	p.lines(width, c, segs)
}

func (p *Picture) polygon(pts []point, fill Color) { p.add(&filled{pts, fill}) }

func (p *Picture) disc(center point, r float64, fill Color) { p.add(&disc{center, r, fill}) }

// ring draws a disc with a border inside its radius.
func (p *Picture) ring(center point, r, border float64, fill, edge Color) {
	p.disc(center, r, edge)
	p.disc(center, r-border, fill)
}

func (p *Picture) text(at point, s string, st style) {
	if s != "" {
		p.add(&text{at, clean(s), st})
	}
}

func rectangle(x0, y0, x1, y1 float64) []point {
	return []point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}
}

// SVG returns the picture as a self-contained SVG document.
func (p *Picture) SVG() []byte {
	var b bytes.Buffer
	w, h := num(p.width), num(p.height)
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

// num writes a coordinate with two decimals at most.
func num(x float64) string {
	s := strconv.FormatFloat(x, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

func paint(attr string, c Color) string {
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
		case r < 0x20 || r == 0x7f || r == 0xfffe || r == 0xffff || r == utf8.RuneError:
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// escape makes text safe inside elements and quoted attributes of SVG and HTML.
func escape(s string) string { return escaper.Replace(clean(s)) }

// strokes are line segments with round ends.
type strokes struct {
	segs  [][2]point
	width float64
	color Color
}

func (s *strokes) svg(b *bytes.Buffer) {
	b.WriteString(`<path d="`)
	last := point{math.Inf(1), 0}
	for _, g := range s.segs {
		if g[0] != last {
			b.WriteString("M" + num(g[0].x) + " " + num(g[0].y))
		}
		b.WriteString("L" + num(g[1].x) + " " + num(g[1].y))
		last = g[1]
	}
	b.WriteString(`" fill="none" stroke-width="` + num(s.width) + `" stroke-linecap="round" stroke-linejoin="round"` + paint("stroke", s.color) + "/>\n")
}

// filled is a polygon without border.
type filled struct {
	pts  []point
	fill Color
}

func (f *filled) svg(b *bytes.Buffer) {
	b.WriteString(`<path d="`)
	for i, q := range f.pts {
		cmd := "L"
		if i == 0 {
			cmd = "M"
		}
		b.WriteString(cmd + num(q.x) + " " + num(q.y))
	}
	b.WriteString(`Z"` + paint("fill", f.fill) + "/>\n")
}

type disc struct {
	center point
	r      float64
	fill   Color
}

func (d *disc) svg(b *bytes.Buffer) {
	fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="%s"%s/>`+"\n", num(d.center.x), num(d.center.y), num(d.r), paint("fill", d.fill))
}

// style is how a text looks. The zero anchor starts the text at its point.
type style struct {
	size   float64
	color  Color
	bold   bool
	anchor anchor
	upward bool // turned by 90 degrees against the clock
	exact  bool // the viewer shall keep the measured width, whatever its font
}

type anchor string

const (
	start  anchor = "start"
	middle anchor = "middle"
	end    anchor = "end"
)

// text stands with its baseline on the point at.
type text struct {
	at point
	s  string
	style
}

func (t *text) svg(b *bytes.Buffer) {
	fmt.Fprintf(b, `<text x="%s" y="%s" font-size="%s"%s`, num(t.at.x), num(t.at.y), num(t.size), paint("fill", t.color))
	if t.anchor == middle || t.anchor == end {
		b.WriteString(` text-anchor="` + string(t.anchor) + `"`)
	}
	if t.bold {
		b.WriteString(` font-weight="bold"`)
	}
	if t.upward {
		fmt.Fprintf(b, ` transform="rotate(-90 %s %s)"`, num(t.at.x), num(t.at.y))
	}
	if t.exact {
		b.WriteString(` textLength="` + num(measure(t.s, t.size, t.bold)) + `" lengthAdjust="spacingAndGlyphs"`)
	}
	b.WriteString(">" + escape(t.s) + "</text>\n")
}

// cells is a matrix of coloured cells that fills a rectangle.
type cells struct {
	x0, y0, x1, y1 float64
	rows, cols     int
	color          []Color // rows×cols
}

func (c *cells) svg(b *bytes.Buffer) {
	fmt.Fprintf(b, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,`,
		num(c.x0), num(c.y0), num(c.x1-c.x0), num(c.y1-c.y0))
	b.WriteString(base64.StdEncoding.EncodeToString(encodeCells(c)))
	b.WriteString(`"/>` + "\n")
}
