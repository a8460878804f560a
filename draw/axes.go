package draw

import (
	"image/color"
	"math"
	"slices"
	"strconv"
)

// axis maps numbers to pixels: from lo at pixel a to hi at pixel b.
type axis struct {
	name   string
	lo, hi float64
	log    bool     // the numbers are logarithms to the base 10
	places []string // of the numbers ½, 1½, …, instead of ticks
	a, b   float64
}

func (x axis) at(v float64) float64 { return x.a + (x.b-x.a)*(v-x.lo)/(x.hi-x.lo) }

// tick is a text at a place of an axis.
type tick struct {
	at   float64
	text string
}

// ticks returns round numbers in the range: powers of ten on a logarithmic axis, else
// multiples of 1, 2 or 5 times a power of ten, about n of them.
func (x axis) ticks(n int) []tick {
	var t []tick
	switch {
	case x.places != nil:
		for i, s := range x.places {
			t = append(t, tick{float64(i) + 0.5, s})
		}
	case x.log:
		for e := x.lo; e <= x.hi; e += max(math.Ceil((x.hi-x.lo)/float64(n)), 1) {
			text := "1e" + strconv.Itoa(int(e))
			if e >= -2 && e <= 3 {
				text = minus(strconv.FormatFloat(math.Pow(10, e), 'g', -1, 64))
			}
			t = append(t, tick{e, text})
		}
	default:
		digits := 5
		if m := max(math.Abs(x.lo), math.Abs(x.hi)); m >= 1e5 || m < 1e-3 {
			digits = 3 // with an exponent
		}
		step := niceStep((x.hi - x.lo) / float64(n))
		for k := math.Ceil(x.lo/step - 1e-9); k*step <= x.hi+1e-9*step && len(t) < 50; k++ {
			v := k*step + 0 // not −0
			t = append(t, tick{v, minus(strconv.FormatFloat(v, 'g', digits, 64))})
		}
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

// newAxis returns an axis for some values, or their logarithms, widened to round ends.
func newAxis(name string, values []float64, log bool) axis {
	x := axis{name: name, lo: slices.Min(values), hi: slices.Max(values), log: log}
	if log {
		x.lo = math.Floor(x.lo + 1e-9)
		x.hi = max(math.Ceil(x.hi-1e-9), x.lo+1)
		return x
	}
	if x.lo == x.hi {
		d := max(math.Abs(x.lo)*0.1, 0.5)
		x.lo, x.hi = x.lo-d, x.hi+d
	}
	step := niceStep((x.hi - x.lo) / 8)
	lo, hi := math.Floor(x.lo/step+1e-9)*step, math.Ceil(x.hi/step-1e-9)*step
	if lo < hi { // else rounding at the last digit of large numbers
		x.lo, x.hi = lo, hi
	}
	return x
}

var leastChart = Size{300, 200}

// frame is the page of a chart: title, axes with names, and the area between them.
type frame struct {
	*Picture
	x, y axis
}

var (
	tickStyle = style{size: 11, color: gray, anchor: "middle"}
	nameStyle = style{size: 12, color: black, anchor: "middle"}
	gridColor = rgb(0xe8e8e8)
)

// newFrame lays out a chart. names are the legend, may be nil, in given colours or the usual; right is the room that is left
// beside the area.
func newFrame(size Size, title string, x, y axis, names []string, colors []color.NRGBA, right float64) *frame {
	f := &frame{newPicture(size.Width, size.Height, title), x, y}
	var l legend
	if len(names) > 1 {
		l = newLegend(names, size.Width, size.Height/3)
		l.colors = colors
	}
	top := f.heading(title)
	bottom := size.Height - margin - l.height
	l.draw(f.Picture, bottom)
	if x.name != "" {
		bottom -= 16
		f.label(point{size.Width / 2, bottom + 11}, x.name, size.Width-2*margin, nameStyle)
	}
	bottom -= 18
	left := margin
	if y.name != "" {
		left += 18
		upward := nameStyle
		upward.upward = true
		f.label(point{margin + 10, (top + bottom) / 2}, y.name, bottom-top, upward)
	}
	beside := tickStyle
	if y.places != nil {
		beside = nameStyle
	}
	beside.anchor = "end"
	widest := 0.0
	for _, t := range y.ticks(6) {
		widest = max(widest, beside.measure(clean(t.text)))
	}
	widest = min(widest, size.Width*0.35)
	left += widest + 8
	f.y.a, f.y.b = bottom, top
	f.x.a, f.x.b = left, size.Width-margin-right
	for _, t := range y.ticks(6) {
		at := f.y.at(t.at)
		f.label(point{left - 6, at + 4}, t.text, widest, beside)
		if y.places == nil {
			f.line(1, gridColor, point{f.x.a, at}, point{f.x.b, at})
		}
	}
	for _, t := range x.ticks(8) {
		at := f.x.at(t.at)
		f.line(1, gridColor, point{at, f.y.a}, point{at, f.y.b})
		f.text(point{at, bottom + 15}, t.text, tickStyle)
	}
	f.line(1, gray, point{f.x.a, f.y.b}, point{f.x.a, f.y.a}, point{f.x.b, f.y.a})
	return f
}
