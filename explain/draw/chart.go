package draw

import (
	"fmt"
	"math"
)

// Bar is a number with the half-length of its error bar, 0 for none.
type Bar struct {
	Name         string
	Value, Error float64
}

// BarChart describes bars from a baseline, horizontal so that names stay readable. Bars are in
// the given order.
type BarChart struct {
	Title, Axis string // the axis is named as "accuracy in %"
	Bars        []Bar
	Size        Size
	From        float64 // where bars begin, 0 unless there is a reason
}

// finite reports whether sums and differences of the numbers stay finite.
func finite(xs ...float64) bool {
	for _, x := range xs {
		if !(math.Abs(x) <= 1e300) {
			return false
		}
	}
	return true
}

// Picture draws the chart, higher than asked when there are too many bars for the height. The
// error names the size, or a bar that is not a finite number.
func (c BarChart) Picture() (*Picture, error) {
	if err := c.Size.check(); err != nil {
		return nil, err
	}
	if len(c.Bars) == 0 || !finite(c.From) {
		return nil, fmt.Errorf("bar chart %q: no bars, or they do not begin at a number", c.Title)
	}
	lo, hi := c.From, c.From
	widest := 0.0
	for _, b := range c.Bars {
		if !finite(b.Value, b.Error) || b.Error < 0 {
			return nil, fmt.Errorf("bar %q: %v ± %v, want finite numbers", b.Name, b.Value, b.Error)
		}
		lo, hi = min(lo, b.Value-b.Error), max(hi, b.Value+b.Error)
		widest = max(widest, measure(clean(b.Name), 12, false))
	}
	lo, hi = niceRange(lo, hi)
	size := c.Size
	size.Height = max(size.Height, 90+float64(len(c.Bars))*16)
	p := newPicture(size.Width, size.Height, c.Title)
	top := margin
	if c.Title != "" {
		top += titleSize + 8
		p.text(point{size.Width / 2, margin + titleSize*0.8}, shorten(c.Title, size.Width-2*margin, titleSize, true),
			style{size: titleSize, color: black, bold: true, anchor: middle})
	}
	bottom := size.Height - margin - 18
	if c.Axis != "" {
		bottom -= 16
		p.text(point{size.Width / 2, size.Height - margin - 2}, shorten(c.Axis, size.Width-2*margin, 12, false), style{size: 12, color: black, anchor: middle})
	}
	left := margin + min(widest, size.Width*0.35) + 8
	x := axis{lo: lo, hi: hi, a: left, b: size.Width - margin - 64}
	for _, t := range x.ticks(6) {
		p.line(1, Color{0xe8, 0xe8, 0xe8, 255}, point{x.at(t), top}, point{x.at(t), bottom})
		p.text(point{x.at(t), bottom + 14}, x.tickText(t), style{size: tickSize, color: gray, anchor: middle})
	}
	step := (bottom - top) / float64(len(c.Bars))
	half := min(step*0.36, 16)
	for i, b := range c.Bars {
		y := top + (float64(i)+0.5)*step
		p.polygon(rectangle(x.at(min(c.From, b.Value)), y-half, x.at(max(c.From, b.Value)), y+half), ClassColor(4))
		p.text(point{left - 7, y + 4}, shorten(b.Name, size.Width*0.35, 12, false), style{size: 12, color: black, anchor: end})
		label := fmt.Sprintf("%.4g", b.Value)
		far := max(b.Value, c.From)
		if b.Error > 0 {
			far = max(far, b.Value+b.Error)
			label += fmt.Sprintf(" ± %.2g", b.Error)
			a, e := x.at(b.Value-b.Error), x.at(b.Value+b.Error)
			tip := min(half*0.5, 5)
			p.lines(1.4, black, [][2]point{{{a, y}, {e, y}}, {{a, y - tip}, {a, y + tip}}, {{e, y - tip}, {e, y + tip}}})
		}
		p.text(point{x.at(far) + 6, y + 4}, label, style{size: tickSize, color: black})
	}
	p.line(1, gray, point{x.at(c.From), top}, point{x.at(c.From), bottom})
	return p, nil
}

// Series is a line through points; Error, if not nil, has the half-length of the error bar
// of each.
type Series struct {
	Name        string
	X, Y, Error []float64
}

// LineChart describes lines over two axes, either of which may be logarithmic.
type LineChart struct {
	Title, XAxis, YAxis string
	Series              []Series
	LogX, LogY          bool
	Size                Size
}

// Picture draws the chart. The error names the size, or the point that cannot be drawn: not
// finite, or not positive on a logarithmic axis.
func (c LineChart) Picture() (*Picture, error) {
	if err := c.Size.check(); err != nil {
		return nil, err
	}
	x, y := axis{lo: math.Inf(1), hi: math.Inf(-1), log: c.LogX}, axis{lo: math.Inf(1), hi: math.Inf(-1), log: c.LogY}
	names := make([]string, len(c.Series))
	for k, s := range c.Series {
		names[k] = s.Name
		if len(s.X) != len(s.Y) || s.Error != nil && len(s.Error) != len(s.X) {
			return nil, fmt.Errorf("series %q: %d x, %d y, %d errors, want as many of each", s.Name, len(s.X), len(s.Y), len(s.Error))
		}
		for i := range s.X {
			e := 0.0
			if s.Error != nil {
				e = s.Error[i]
			}
			if !finite(s.X[i], s.Y[i], e) || e < 0 || c.LogX && !(s.X[i] > 0) || c.LogY && !(s.Y[i] > 0) {
				return nil, fmt.Errorf("series %q: point %d is (%v, %v ± %v), want finite numbers, positive on a logarithmic axis", s.Name, i, s.X[i], s.Y[i], e)
			}
			x.lo, x.hi = min(x.lo, s.X[i]), max(x.hi, s.X[i])
			y.hi = max(y.hi, s.Y[i]+e)
			if y.lo = min(y.lo, s.Y[i]); !c.LogY {
				y.lo = min(y.lo, s.Y[i]-e)
			}
		}
	}
	if x.lo > x.hi {
		return nil, fmt.Errorf("line chart %q: no points", c.Title)
	}
	x.lo, x.hi = c.span(x)
	y.lo, y.hi = c.span(y)
	f := newFrame(c.Size, c.Title, c.XAxis, c.YAxis, x, y, names, true, 0)
	for k, s := range c.Series {
		pts := make([]point, len(s.X))
		var bars [][2]point
		for i := range s.X {
			pts[i] = point{f.x.at(s.X[i]), f.y.at(s.Y[i])}
			if s.Error != nil && s.Error[i] > 0 {
				a := f.y.at(s.Y[i] + s.Error[i])
				b := f.y.a
				if lo := s.Y[i] - s.Error[i]; lo > y.lo {
					b = f.y.at(lo)
				}
				bars = append(bars, [2]point{{pts[i].x, a}, {pts[i].x, b}},
					[2]point{{pts[i].x - 3, a}, {pts[i].x + 3, a}}, [2]point{{pts[i].x - 3, b}, {pts[i].x + 3, b}})
			}
		}
		f.line(2, ClassColor(k), pts...)
		f.lines(1.2, ClassColor(k), bars)
		if len(pts) <= 200 {
			for _, q := range pts {
				mark(f.Picture, q, 4.2, k, white)
			}
		}
	}
	return f.Picture, nil
}

// span rounds the range of an axis.
func (c LineChart) span(x axis) (float64, float64) {
	if !x.log {
		return niceRange(x.lo, x.hi)
	}
	lo, hi := math.Pow(10, math.Floor(math.Log10(x.lo)+1e-9)), math.Pow(10, math.Ceil(math.Log10(x.hi)-1e-9))
	if lo == hi {
		hi *= 10
	}
	return max(lo, math.SmallestNonzeroFloat64), hi
}

// Spectrum draws eigenvalues in descending order on a logarithmic axis. Those that are not
// positive cannot stand there; the picture says how many there are.
func Spectrum(title string, values []float64, size Size) (*Picture, error) {
	s := Series{Name: "eigenvalue"}
	rest := 0
	for i, v := range values {
		switch {
		case !finite(v):
			return nil, fmt.Errorf("eigenvalue %d is %v, want a finite number", i, v)
		case v > 0:
			s.X, s.Y = append(s.X, float64(len(s.X)+1)), append(s.Y, v)
		default:
			rest++
		}
	}
	xName := "number"
	if rest > 0 {
		xName = fmt.Sprintf("number (%d values are not positive and left out)", rest)
	}
	for i := 1; i < len(s.Y); i++ {
		if s.Y[i] > s.Y[i-1] {
			return nil, fmt.Errorf("eigenvalue %d is larger than the one before, want them in descending order", i)
		}
	}
	return LineChart{Title: title, XAxis: xName, YAxis: "eigenvalue", Series: []Series{s}, LogY: true, Size: size}.Picture()
}
