package draw

import (
	"fmt"
	"math"
	"strconv"
)

// axis maps numbers to pixels: from lo at pixel a to hi at pixel b.
type axis struct {
	lo, hi float64
	a, b   float64
	log    bool
}

func (x axis) at(v float64) float64 {
	lo, hi := x.lo, x.hi
	if x.log {
		v, lo, hi = math.Log10(v), math.Log10(lo), math.Log10(hi)
	}
	return x.a + (x.b-x.a)*(v-lo)/(hi-lo)
}

// ticks returns round numbers in the range: powers of ten on a logarithmic axis, else
// multiples of 1, 2 or 5 times a power of ten, about n of them.
func (x axis) ticks(n int) []float64 {
	var t []float64
	if x.log {
		first, last := math.Ceil(math.Log10(x.lo)-1e-9), math.Floor(math.Log10(x.hi)+1e-9)
		step := max(math.Ceil((last-first)/float64(n)), 1)
		for e := first; e <= last; e += step {
			t = append(t, math.Pow(10, e))
		}
		return t
	}
	step := niceStep((x.hi - x.lo) / float64(n))
	for k := math.Ceil(x.lo/step - 1e-9); k*step <= x.hi+1e-9*step && len(t) < 50; k++ {
		t = append(t, k*step)
	}
	return t
}

func niceStep(raw float64) float64 {
	if !(raw > 0) {
		return 1
	}
	e := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, f := range []float64{1, 2, 5} {
		if raw <= f*e*1.0001 {
			return f * e
		}
	}
	return 10 * e
}

// niceRange widens a range to round ends.
func niceRange(lo, hi float64) (float64, float64) {
	if lo == hi {
		d := max(math.Abs(lo)*0.1, 0.5)
		lo, hi = lo-d, hi+d
	}
	step := niceStep((hi - lo) / 5)
	a, b := math.Floor(lo/step+1e-9)*step, math.Ceil(hi/step-1e-9)*step
	if !(a < b) { // rounding at the last digit of large numbers
		return lo, hi
	}
	return a, b
}

// tickText writes a tick, short: small and large numbers with an exponent.
func (x axis) tickText(v float64) string {
	if x.log {
		e := int(math.Round(math.Log10(v)))
		if e >= -2 && e <= 3 {
			return strconv.FormatFloat(v, 'f', max(-e, 0), 64)
		}
		return "1e" + strconv.Itoa(e)
	}
	if m := math.Max(math.Abs(x.lo), math.Abs(x.hi)); m >= 1e5 || m < 1e-3 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	if v == 0 || math.Abs(v) < 1e-9*(x.hi-x.lo) {
		return "0"
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}

// frame is the page of a chart: title, axes with names, and the area between them.
type frame struct {
	*Picture
	x, y   axis
	legend legend
}

// Size is the size of a chart in pixels, from 300 × 200 to 10000 × 10000.
type Size struct{ Width, Height float64 }

// DefaultSize is wide enough for a page and a slide.
var DefaultSize = Size{640, 420}

// check returns an error for a size that a chart cannot have.
func (s Size) check() error {
	if !(s.Width >= 300 && s.Width <= 10000 && s.Height >= 200 && s.Height <= 10000) {
		return fmt.Errorf("Size: %v×%v pixels, want 300×200 to 10000×10000", s.Width, s.Height)
	}
	return nil
}

const tickSize = 11.0

// newFrame lays out a chart. names are the legend, may be nil; xTicks false leaves the
// labels below the x axis to the caller, who gets below pixels for them.
func newFrame(size Size, title, xName, yName string, x, y axis, names []string, xTicks bool, below float64) *frame {
	f := &frame{Picture: newPicture(size.Width, size.Height, title), x: x, y: y}
	if len(names) > 1 {
		f.legend = newLegend(names, size.Width, size.Height/3)
	}
	top := margin + 4
	if title != "" {
		top += titleSize + 6
		f.text(point{size.Width / 2, margin + titleSize*0.8}, shorten(title, size.Width-2*margin, titleSize, true),
			style{size: titleSize, color: black, bold: true, anchor: middle})
	}
	bottom := size.Height - margin - f.legend.height
	f.legend.draw(f.Picture, bottom)
	if xName != "" {
		bottom -= 16
		f.text(point{size.Width / 2, bottom + 11}, shorten(xName, size.Width-2*margin, 12, false), style{size: 12, color: black, anchor: middle})
	}
	if xTicks {
		below = 18
	}
	bottom -= below
	left := margin
	if yName != "" {
		left += 18
		f.text(point{margin + 10, (top + bottom) / 2}, shorten(yName, bottom-top, 12, false), style{size: 12, color: black, anchor: middle, upward: true})
	}
	yTicks := y.ticks(6)
	widest := 0.0
	for _, t := range yTicks {
		widest = max(widest, measure(y.tickText(t), tickSize, false))
	}
	left += widest + 8
	f.y.a, f.y.b = bottom, top
	f.x.a, f.x.b = left, size.Width-margin-6
	grid := Color{0xe8, 0xe8, 0xe8, 255}
	for _, t := range yTicks {
		at := f.y.at(t)
		f.line(1, grid, point{f.x.a, at}, point{f.x.b, at})
		f.text(point{left - 6, at + 4}, y.tickText(t), style{size: tickSize, color: gray, anchor: end})
	}
	if xTicks {
		for _, t := range f.x.ticks(8) {
			at := f.x.at(t)
			f.line(1, grid, point{at, f.y.a}, point{at, f.y.b})
			f.text(point{at, bottom + 15}, f.x.tickText(t), style{size: tickSize, color: gray, anchor: middle})
		}
	}
	f.line(1, gray, point{f.x.a, f.y.b}, point{f.x.a, f.y.a}, point{f.x.b, f.y.a})
	return f
}
