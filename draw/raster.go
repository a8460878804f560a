package draw

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// maxPixels is the largest number of pixels of a PNG.
const maxPixels = 64 << 20

// PNG returns the picture as PNG, with scale pixels for one of the picture. Texts are set
// in the Go fonts, so that the bytes depend on nothing outside. The error says that the
// scale is not a positive number or the image would have more than 64 Mi pixels.
func (p *Picture) PNG(scale float64) ([]byte, error) {
	w, h := math.Ceil(p.width*scale), math.Ceil(p.height*scale)
	if !(scale > 0) || !(w*h <= maxPixels) {
		return nil, fmt.Errorf("scale %v makes %v×%v pixels, want a positive scale and at most %d pixels", scale, w, h, maxPixels)
	}
	c := &canvas{img: image.NewRGBA(image.Rect(0, 0, max(int(w), 1), max(int(h), 1))), scale: scale, r: vector.NewRasterizer(1, 1)}
	for _, s := range p.shapes {
		s.raster(c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, c.img); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// canvas is an image that shapes are drawn on; outline collects a shape.
type canvas struct {
	img     *image.RGBA
	scale   float64
	r       *vector.Rasterizer
	shift   point     // where the shapes lie on the page
	outline [][]point // closed paths in pixels of the image, wound alike
}

// pixel returns where a point of the picture lies on the image.
func (c *canvas) pixel(p point) point { return p.add(c.shift).scale(c.scale) }

// path adds a closed path to the outline.
func (c *canvas) path(pts ...point) {
	closed := make([]point, len(pts))
	for i, q := range pts {
		closed[i] = c.pixel(q)
	}
	c.outline = append(c.outline, closed)
}

// fill paints the inside of the outline (non-zero winding) and forgets it. Only the
// pixels around the shape are touched, so that many small shapes cost little.
func (c *canvas) fill(col color.NRGBA) {
	lo, hi := bounds(slices.Concat(c.outline...))
	area := image.Rect(int(math.Floor(lo.x)), int(math.Floor(lo.y)), int(math.Ceil(hi.x))+1, int(math.Ceil(hi.y))+1).Intersect(c.img.Rect)
	if !area.Empty() {
		c.r.Reset(area.Dx(), area.Dy())
		corner := point{float64(area.Min.X), float64(area.Min.Y)}
		for _, path := range c.outline {
			for i, q := range path {
				q = q.sub(corner)
				if i == 0 {
					c.r.MoveTo(float32(q.x), float32(q.y))
				} else {
					c.r.LineTo(float32(q.x), float32(q.y))
				}
			}
			c.r.ClosePath()
		}
		c.r.Draw(c.img, area, image.NewUniform(col), image.Point{})
	}
	c.outline = c.outline[:0]
}

// arc appends to path the points of a circle from angle a over the angle sweep.
func arc(path []point, center point, r, a, sweep float64, steps int) []point {
	for i := range steps + 1 {
		path = append(path, center.add(polar(r, a+sweep*float64(i)/float64(steps))))
	}
	return path
}

// strokesAtOnce is the number of segments that are filled together: the rounding errors of
// very many outlines would tint the background.
const strokesAtOnce = 512

func (s *strokes) raster(c *canvas) {
	r := s.width / 2
	steps := min(max(int(r*c.scale*2), 2), 24)
	for _, line := range s.lines {
		for i := 1; i < len(line); i++ {
			if len(c.outline) == strokesAtOnce {
				c.fill(s.color)
			}
			a := line[i].sub(line[i-1]).angle()
			capsule := arc(nil, line[i-1], r, a+math.Pi/2, math.Pi, steps)
			c.path(arc(capsule, line[i], r, a-math.Pi/2, math.Pi, steps)...)
		}
	}
	c.fill(s.color)
}

func (f *filled) raster(c *canvas) {
	c.path(f.pts...)
	c.fill(f.fill)
}

func (d *disc) raster(c *canvas) {
	c.path(arc(nil, d.center, d.r, 0, 2*math.Pi, min(max(int(d.r*c.scale*4), 24), 128))...)
	c.fill(d.fill)
}

func (e *cells) raster(c *canvas) {
	lo, hi := c.pixel(point{e.x0, e.y0}), c.pixel(point{e.x1, e.y1})
	area := image.Rect(int(math.Round(lo.x)), int(math.Round(lo.y)), int(math.Round(hi.x)), int(math.Round(hi.y)))
	size := e.img.Rect.Size()
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			// The cell that the middle of the pixel lies in.
			j, i := (2*(x-area.Min.X)+1)*size.X/(2*area.Dx()), (2*(y-area.Min.Y)+1)*size.Y/(2*area.Dy())
			c.img.Set(x, y, e.img.NRGBAAt(j, i))
		}
	}
}

func (g *group) raster(c *canvas) {
	old := c.shift
	c.shift = c.shift.add(g.at)
	for _, s := range g.shapes {
		s.raster(c)
	}
	c.shift = old
}

var fonts = sync.OnceValue(func() map[bool]*sfnt.Font {
	parse := func(ttf []byte) *sfnt.Font {
		f, err := sfnt.Parse(ttf)
		if err != nil {
			panic("draw: built-in font: " + err.Error())
		}
		return f
	}
	return map[bool]*sfnt.Font{false: parse(goregular.TTF), true: parse(gobold.TTF)}
})

// em is the size at which glyphs are loaded; outlines scale from there.
const em = 1024

// glyphs calls f with every glyph of s, its place in s and where it begins, and returns the width of
// all. Letters that the font lacks are its box for them.
func (st style) glyphs(s string, f func(buf *sfnt.Buffer, g sfnt.GlyphIndex, i int, x float64)) float64 {
	var buf sfnt.Buffer
	face := fonts()[st.bold]
	x := 0.0
	for i, r := range s {
		g, err := face.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		f(&buf, g, i, x)
		if a, err := face.GlyphAdvance(&buf, g, fixed.I(em), font.HintingNone); err == nil {
			x += float64(a) / 64 / em * st.size
		}
	}
	return x
}

// measure returns the width of s.
func (st style) measure(s string) float64 {
	return st.glyphs(s, func(*sfnt.Buffer, sfnt.GlyphIndex, int, float64) {})
}

// shorten cuts s so that it is at most as wide as given, with an ellipsis for the rest.
func shorten(s string, width float64, st style) string {
	s = clean(s)
	room, kept := width-st.measure("…"), 0
	all := st.glyphs(s, func(_ *sfnt.Buffer, _ sfnt.GlyphIndex, i int, x float64) {
		if x <= room {
			kept = i
		}
	})
	if all <= width {
		return s
	}
	return s[:kept] + "…"
}

func (t *text) raster(c *canvas) {
	start := 0.0
	switch t.anchor {
	case "middle":
		start = -t.measure(t.s) / 2
	case "end":
		start = -t.measure(t.s)
	}
	t.glyphs(t.s, func(buf *sfnt.Buffer, g sfnt.GlyphIndex, _ int, x float64) {
		contours, err := fonts()[t.bold].LoadGlyph(buf, g, fixed.I(em), nil)
		if err != nil {
			return // a letter that cannot be drawn leaves its room
		}
		c.glyph(contours, func(q fixed.Point26_6) point {
			d := point{float64(q.X), float64(q.Y)}.scale(t.size / em / 64).add(point{start + x, 0})
			if t.upward {
				d = point{d.y, -d.x}
			}
			return t.at.add(d)
		})
	})
	c.fill(t.color)
}

// glyph adds the contours of a glyph to the outline, curves as short lines. TrueType outlines
// have straight lines and quadratic curves.
func (c *canvas) glyph(contours sfnt.Segments, at func(fixed.Point26_6) point) {
	const steps = 6
	var path []point
	for i, s := range contours {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			path = []point{at(s.Args[0])}
		case sfnt.SegmentOpLineTo:
			path = append(path, at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			p0, p1, p2 := path[len(path)-1], at(s.Args[0]), at(s.Args[1])
			for i := 1; i <= steps; i++ {
				u := float64(i) / steps
				path = append(path, p0.scale((1-u)*(1-u)).add(p1.scale(2*u*(1-u))).add(p2.scale(u*u)))
			}
		}
		if i+1 == len(contours) || contours[i+1].Op == sfnt.SegmentOpMoveTo {
			c.path(path...)
		}
	}
}
