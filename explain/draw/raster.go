package draw

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	imagedraw "image/draw"
	"image/png"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// MaxPixels is the largest number of pixels of a PNG.
const MaxPixels = 64 << 20

// PNG returns the picture as PNG, with scale pixels for one of the picture. Texts are set
// in the Go fonts, so that the bytes depend on nothing outside. The error says that the
// scale is not a positive number or the image would have more than MaxPixels.
func (p *Picture) PNG(scale float64) ([]byte, error) {
	w, h := math.Ceil(p.width*scale), math.Ceil(p.height*scale)
	if !(scale > 0) || !(w*h <= MaxPixels) {
		return nil, fmt.Errorf("scale %v makes %v×%v pixels, want a positive scale and at most %d pixels", scale, w, h, MaxPixels)
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
	outline [][]point // closed paths in pixels of the picture, wound alike
}

func (c *canvas) path(pts ...point) {
	moved := make([]point, len(pts))
	for i, q := range pts {
		moved[i] = q.add(c.shift)
	}
	c.outline = append(c.outline, moved)
}

// fill paints the inside of the outline (non-zero winding) and forgets it. Only the
// pixels around the shape are touched, so that many small shapes cost little.
func (c *canvas) fill(col Color) {
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, path := range c.outline {
		for _, q := range path {
			lo = point{min(lo.x, q.x), min(lo.y, q.y)}
			hi = point{max(hi.x, q.x), max(hi.y, q.y)}
		}
	}
	size := c.img.Rect.Size()
	x0, y0 := max(int(math.Floor(lo.x*c.scale)), 0), max(int(math.Floor(lo.y*c.scale)), 0)
	x1, y1 := min(int(math.Ceil(hi.x*c.scale))+1, size.X), min(int(math.Ceil(hi.y*c.scale))+1, size.Y)
	if len(c.outline) > 0 && x0 < x1 && y0 < y1 {
		c.r.Reset(x1-x0, y1-y0)
		for _, path := range c.outline {
			for i, q := range path {
				x, y := float32(q.x*c.scale-float64(x0)), float32(q.y*c.scale-float64(y0))
				if i == 0 {
					c.r.MoveTo(x, y)
				} else {
					c.r.LineTo(x, y)
				}
			}
			c.r.ClosePath()
		}
		c.r.Draw(c.img, image.Rect(x0, y0, x1, y1), image.NewUniform(col), image.Point{})
	}
	c.outline = c.outline[:0]
}

// arc appends to path the points of a circle from angle a over the angle sweep.
func arc(path []point, center point, r, a, sweep float64, steps int) []point {
	for i := range steps + 1 {
		t := a + sweep*float64(i)/float64(steps)
		path = append(path, point{center.x + r*math.Cos(t), center.y + r*math.Sin(t)})
	}
	return path
}

// strokesAtOnce is the number of segments that are filled together: the rounding errors of
// very many outlines would tint the background.
const strokesAtOnce = 512

func (s *strokes) raster(c *canvas) {
	r := s.width / 2
	steps := min(max(int(r*c.scale*2), 2), 24)
	for i, g := range s.segs {
		if i%strokesAtOnce == 0 {
			c.fill(s.color)
		}
		d := g[1].sub(g[0])
		a := math.Atan2(d.y, d.x)
		capsule := arc(nil, g[0], r, a+math.Pi/2, math.Pi, steps)
		c.path(arc(capsule, g[1], r, a-math.Pi/2, math.Pi, steps)...)
	}
	c.fill(s.color)
}

func (f *filled) raster(c *canvas) {
	c.path(f.pts...)
	c.fill(f.fill)
}

func (d *disc) raster(c *canvas) {
	if d.r > 0 {
		c.path(arc(nil, d.center, d.r, 0, 2*math.Pi, min(max(int(d.r*c.scale*4), 24), 128))...)
		c.fill(d.fill)
	}
}

func (e *cells) raster(c *canvas) {
	x := func(j int) int {
		return int(math.Round((c.shift.x + e.x0 + (e.x1-e.x0)*float64(j)/float64(e.cols)) * c.scale))
	}
	y := func(i int) int {
		return int(math.Round((c.shift.y + e.y0 + (e.y1-e.y0)*float64(i)/float64(e.rows)) * c.scale))
	}
	for i := range e.rows {
		for j := range e.cols {
			imagedraw.Draw(c.img, image.Rect(x(j), y(i), x(j+1), y(i+1)), image.NewUniform(e.color[i*e.cols+j]), image.Point{}, imagedraw.Over)
		}
	}
}

func encodeCells(c *cells) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, c.cols, c.rows))
	for i := range c.rows {
		for j := range c.cols {
			img.SetNRGBA(j, i, color.NRGBA(c.color[i*c.cols+j]))
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic("draw: " + err.Error()) // a small image in memory
	}
	return b.Bytes()
}

var fonts = sync.OnceValue(func() [2]*sfnt.Font {
	var f [2]*sfnt.Font
	for i, ttf := range [][]byte{goregular.TTF, gobold.TTF} {
		var err error
		if f[i], err = sfnt.Parse(ttf); err != nil {
			panic("draw: built-in font: " + err.Error())
		}
	}
	return f
})

func typeface(bold bool) *sfnt.Font {
	if bold {
		return fonts()[1]
	}
	return fonts()[0]
}

// em is the size at which glyphs are loaded; outlines scale from there.
const em = 1024

// measure returns the width of s in a font of the given size.
func measure(s string, size float64, bold bool) float64 {
	f := typeface(bold)
	var buf sfnt.Buffer
	var w fixed.Int26_6
	for _, r := range s {
		g, err := f.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		if a, err := f.GlyphAdvance(&buf, g, fixed.I(em), font.HintingNone); err == nil {
			w += a
		}
	}
	return float64(w) / 64 / em * size
}

// shorten cuts s so that it is at most as wide as given, with an ellipsis for the rest.
func shorten(s string, width, size float64, bold bool) string {
	s = clean(s)
	if len(s) < 4096 && measure(s, size, bold) <= width {
		return s
	}
	kept := 0
	for i := range s {
		if i > 4096 || measure(s[:i]+"…", size, bold) > width {
			break
		}
		kept = i
	}
	return s[:kept] + "…"
}

func (t *text) raster(c *canvas) {
	f := typeface(t.bold)
	k := t.size / em / 64
	x := 0.0
	switch w := measure(t.s, t.size, t.bold); t.anchor {
	case middle:
		x = -w / 2
	case end:
		x = -w
	}
	var buf sfnt.Buffer
	for _, r := range t.s {
		g, err := f.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		segs, err := f.LoadGlyph(&buf, g, fixed.I(em), nil)
		if err != nil {
			continue
		}
		at := func(q fixed.Point26_6) point {
			dx, dy := x+float64(q.X)*k, float64(q.Y)*k
			if t.upward {
				dx, dy = dy, -dx
			}
			return point{t.at.x + dx, t.at.y + dy}
		}
		c.glyph(segs, at)
		if a, err := f.GlyphAdvance(&buf, g, fixed.I(em), font.HintingNone); err == nil {
			x += float64(a) * k
		}
	}
	c.fill(t.color)
}

// glyph adds the contours of a glyph to the outline, curves as short lines.
func (c *canvas) glyph(segs sfnt.Segments, at func(fixed.Point26_6) point) {
	const steps = 6
	var path []point
	for _, s := range segs {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if path != nil {
				c.path(path...)
			}
			path = []point{at(s.Args[0])}
		case sfnt.SegmentOpLineTo:
			path = append(path, at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			p0, p1, p2 := path[len(path)-1], at(s.Args[0]), at(s.Args[1])
			for i := 1; i <= steps; i++ {
				u := float64(i) / steps
				path = append(path, p0.scale((1-u)*(1-u)).add(p1.scale(2*u*(1-u))).add(p2.scale(u*u)))
			}
		case sfnt.SegmentOpCubeTo: // TrueType outlines have none
			path = append(path, at(s.Args[2]))
		}
	}
	if path != nil {
		c.path(path...)
	}
}
