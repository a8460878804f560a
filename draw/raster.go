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

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// maxPixels is the largest number of pixels of a PNG.
const maxPixels = 64 << 20

// PNG returns the picture as PNG, with scale pixels for one of the picture. Texts are set in the Go
// fonts. So the bytes depend on nothing outside. The error says that the scale is not a positive
// number or the image would have more than 64 Mi pixels.
func (p *Picture) PNG(scale float64) ([]byte, error) {
	w, h := math.Ceil(p.Width*scale), math.Ceil(p.Height*scale)
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
		at := func(q point) (x, y float32) {
			return float32(q.x - float64(area.Min.X)), float32(q.y - float64(area.Min.Y))
		}
		for _, path := range c.outline {
			c.r.MoveTo(at(path[0]))
			for _, q := range path[1:] {
				c.r.LineTo(at(q))
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
	draw.NearestNeighbor.Scale(c.img, area, e.img, e.img.Rect, draw.Src, nil)
}

func (g *group) raster(c *canvas) {
	old := c.shift
	c.shift = c.shift.add(g.at)
	for _, s := range g.shapes {
		s.raster(c)
	}
	c.shift = old
}

var fonts = sync.OnceValue(func() map[bool]*opentype.Font {
	parse := func(ttf []byte) *opentype.Font {
		f, err := opentype.Parse(ttf)
		if err != nil {
			panic("draw: built-in font: " + err.Error())
		}
		return f
	}
	return map[bool]*opentype.Font{false: parse(goregular.TTF), true: parse(gobold.TTF)}
})

// face returns the font of a text, in a size in pixels. Letters that it lacks are its box for them.
func (st style) face(size float64) font.Face {
	f, err := opentype.NewFace(fonts()[st.bold], &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		panic("draw: built-in font: " + err.Error())
	}
	return f
}

// em is the size at which texts are measured; widths scale from there.
const em = 1024

// measure returns the width of s.
func (st style) measure(s string) float64 {
	return float64(font.MeasureString(st.face(em), s)) / 64 / em * st.size
}

// shorten cuts s so that it is at most as wide as given, with an ellipsis for the rest.
func shorten(s string, width float64, st style) string {
	s = clean(s)
	if st.measure(s) <= width {
		return s
	}
	room, kept := width-st.measure("…"), 0
	for i, r := range s {
		if room < 0 {
			break
		}
		kept = i
		room -= st.measure(string(r))
	}
	return s[:kept] + "…"
}

// turned is an image seen with its right side down: a text on it runs upwards.
type turned struct{ img *image.RGBA }

func (t turned) ColorModel() color.Model     { return t.img.ColorModel() }
func (t turned) At(x, y int) color.Color     { return t.img.At(y, -x-1) }
func (t turned) Set(x, y int, c color.Color) { t.img.Set(y, -x-1, c) }
func (t turned) Bounds() image.Rectangle {
	r := t.img.Rect
	return image.Rect(-r.Max.Y, r.Min.X, -r.Min.Y, r.Max.X)
}

func (t *text) raster(c *canvas) {
	at := c.pixel(t.at)
	d := font.Drawer{Dst: c.img, Src: image.NewUniform(t.color), Face: t.face(t.size * c.scale)}
	if t.upward {
		d.Dst, at = turned{c.img}, point{-at.y, at.x}
	}
	switch width := t.measure(t.s) * c.scale; t.anchor {
	case "middle":
		at.x -= width / 2
	case "end":
		at.x -= width
	}
	d.Dot = fixed.Point26_6{X: fixed.Int26_6(math.Round(64 * at.x)), Y: fixed.Int26_6(math.Round(64 * at.y))}
	d.DrawString(t.s)
}
