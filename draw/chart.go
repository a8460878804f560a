package draw

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/internal/table"
)

// finite reports whether sums and differences of the numbers stay finite.
func finite(xs ...float64) bool {
	for _, x := range xs {
		if !(math.Abs(x) <= 1e300) {
			return false
		}
	}
	return true
}

// Bar is a number with the half-length of its error bar, 0 for none.
type Bar struct {
	Name         string
	Value, Error float64
}

// BarChart describes bars from 0, horizontal so that names stay readable. Bars are in the given
// order.
type BarChart struct {
	Title, Axis string // the axis is named as "accuracy in %"
	Bars        []Bar
	Size        Size
}

// Picture draws the chart, higher than asked when there are too many bars for the height. The
// error names the size, or a bar that is not a finite number.
func (c BarChart) Picture() (*Picture, error) {
	if err := c.Size.check(leastChart); err != nil {
		return nil, err
	}
	if len(c.Bars) == 0 {
		return nil, fmt.Errorf("bar chart %q: no bars", c.Title)
	}
	ends, y := []float64{0}, axis{lo: float64(len(c.Bars))} // downwards
	for _, b := range c.Bars {
		if !finite(b.Value, b.Error) || b.Error < 0 {
			return nil, fmt.Errorf("bar %q: %v ± %v, want finite numbers", b.Name, b.Value, b.Error)
		}
		ends = append(ends, b.Value-b.Error, b.Value+b.Error)
		y.places = append(y.places, b.Name)
	}
	size := c.Size
	size.Height = max(size.Height, 90+float64(len(c.Bars))*16)
	f := newFrame(size, c.Title, newAxis(c.Axis, ends, false), y, nil, nil, 64)
	half := min(math.Abs(f.y.at(1)-f.y.at(0))*0.36, 16)
	for i, b := range c.Bars {
		at := f.y.at(float64(i) + 0.5)
		f.polygon(ClassColor(0), rectangle(f.x.at(min(0, b.Value)), at-half, f.x.at(max(0, b.Value)), at+half)...)
		label := minus(fmt.Sprintf("%.4g", b.Value))
		if b.Error > 0 {
			v, d := table.Spread(4, b.Value, b.Error)
			label = v + " ± " + d
			lo, hi := f.x.at(b.Value-b.Error), f.x.at(b.Value+b.Error)
			tip := min(half*0.5, 5)
			f.lines(1.4, black, [][]point{{{lo, at}, {hi, at}}, {{lo, at - tip}, {lo, at + tip}}, {{hi, at - tip}, {hi, at + tip}}})
		}
		f.text(point{f.x.at(max(b.Value+b.Error, 0)) + 6, at + 4}, label, legendStyle)
	}
	f.line(1, gray, point{f.x.at(0), f.y.a}, point{f.x.at(0), f.y.b})
	return f.Picture, nil
}

// Series is a line through points.
type Series struct {
	Name string
	X, Y []float64
}

// LineChart describes lines over two axes; that of y is logarithmic unless Linear.
type LineChart struct {
	Title, XAxis, YAxis string
	Series              []Series
	Linear              bool
	Size                Size
}

// height returns where y is on its axis.
func (c LineChart) height(y float64) float64 {
	if c.Linear {
		return y
	}
	return math.Log10(y)
}

// Picture draws the chart. The error names the size, or the point that cannot be drawn: not
// finite, or y not positive on a logarithmic axis.
func (c LineChart) Picture() (*Picture, error) {
	if err := c.Size.check(leastChart); err != nil {
		return nil, err
	}
	var names []string
	var xs, ys []float64
	for _, s := range c.Series {
		names, xs = append(names, s.Name), append(xs, s.X...)
		if len(s.X) != len(s.Y) {
			return nil, fmt.Errorf("series %q: %d x and %d y, want the same number of each", s.Name, len(s.X), len(s.Y))
		}
		for i := range s.X {
			if !finite(s.X[i], s.Y[i]) || !c.Linear && !(s.Y[i] > 0) {
				return nil, fmt.Errorf("series %q: point %d is (%v, %v), want finite numbers, y positive", s.Name, i, s.X[i], s.Y[i])
			}
			ys = append(ys, c.height(s.Y[i]))
		}
	}
	if len(xs) == 0 {
		return nil, fmt.Errorf("line chart %q: no points", c.Title)
	}
	f := newFrame(c.Size, c.Title, newAxis(c.XAxis, xs, false), newAxis(c.YAxis, ys, !c.Linear), names, nil, 6)
	for k, s := range c.Series {
		pts := make([]point, len(s.X))
		for i := range pts {
			pts[i] = point{f.x.at(s.X[i]), f.y.at(c.height(s.Y[i]))}
		}
		f.line(2, ClassColor(k), pts...)
		if len(pts) <= 200 {
			for _, q := range pts {
				mark(f.Picture, q, 4.2, k, ClassColor(k), white)
			}
		}
	}
	return f.Picture, nil
}

// Scatter describes points in the plane, coloured by class or by value.
type Scatter struct {
	Title, XAxis, YAxis string
	X, Y                []float64
	Class               []string      // one for each point, or nil
	Names               []string      // the classes in the order of their colours; nil: those that occur, in natural order
	Colors              []color.NRGBA // of the classes in this order; nil: ClassColor
	Value               *PointValues  // in place of classes, or nil
	Size                Size
}

// PointValues are numbers that colours show, with a scale beside the points.
type PointValues struct {
	Name     string
	Of       []float64 // one for each point, NaN for none
	TwoSided bool      // the scale has 0 in its middle
}

// Picture draws the points. Points of rare classes lie on top. The error names the size, or
// the point that is not finite.
func (s Scatter) Picture() (*Picture, error) {
	if err := s.Size.check(leastChart); err != nil {
		return nil, err
	}
	n := len(s.X)
	if n != len(s.Y) || s.Class != nil && len(s.Class) != n || n == 0 || s.Value != nil && len(s.Value.Of) != n {
		return nil, fmt.Errorf("scatter %q: %d x, %d y and %d classes, want the same number of each, and of values", s.Title, n, len(s.Y), len(s.Class))
	}
	for i := range s.X {
		if !finite(s.X[i], s.Y[i]) {
			return nil, fmt.Errorf("scatter %q: point %d is (%v, %v), want finite numbers", s.Title, i, s.X[i], s.Y[i])
		}
	}
	r := min(max(60/math.Sqrt(float64(len(s.X))), 2), 5)
	if s.Value != nil {
		return s.valued(r), nil
	}
	names, number := numbered(s.Class, len(s.X))
	if s.Names != nil {
		names = s.Names
		for i, c := range s.Class {
			number[i] = max(slices.Index(names, c), 0)
		}
	}
	count := make([]int, len(names)+1)
	order := make([]int, len(s.X))
	for i := range order {
		order[i] = i
		count[number[i]]++
	}
	slices.SortStableFunc(order, func(a, b int) int { return count[number[b]] - count[number[a]] })
	f := newFrame(s.Size, s.Title, newAxis(s.XAxis, s.X, false), newAxis(s.YAxis, s.Y, false), names, s.Colors, 6)
	for _, i := range order {
		if s.Names != nil && !slices.Contains(names, s.Class[i]) {
			f.disc(point{f.x.at(s.X[i]), f.y.at(s.Y[i])}, r, unknownColor)
			continue
		}
		mark(f.Picture, point{f.x.at(s.X[i]), f.y.at(s.Y[i])}, r, number[i], classColor(s.Colors, number[i]), white)
	}
	return f.Picture, nil
}

// valued draws the points in the colours of their values.
func (s Scatter) valued(r float64) *Picture {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range s.Value.Of {
		if !math.IsNaN(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	shade := numberColor
	if s.Value.TwoSided {
		shade = differenceColor
		hi = max(math.Abs(lo), math.Abs(hi))
		lo = -hi
	}
	const bar = 80 // width of the scale
	f := newFrame(s.Size, s.Title, newAxis(s.XAxis, s.X, false), newAxis(s.YAxis, s.Y, false), nil, nil, bar)
	for i, v := range s.Value.Of {
		at, c := point{f.x.at(s.X[i]), f.y.at(s.Y[i])}, unknownColor
		if !math.IsNaN(v) {
			c = shade((v - lo) / max(hi-lo, math.SmallestNonzeroFloat64))
		}
		f.disc(at, r, white)
		f.disc(at, 0.85*r, c)
	}
	if lo <= hi {
		x, top, bottom := s.Size.Width-margin-bar+20, f.y.b, f.y.a
		f.colorBar(box{x, top, x + 12, bottom}, shade)
		for _, t := range []float64{0, 0.5, 1} {
			text := minus(strconv.FormatFloat(lo+(hi-lo)*t, 'g', 3, 64))
			f.text(point{x + 16, bottom + (top-bottom)*t + 4}, text, style{size: tickStyle.size, color: gray})
		}
		upward := tickStyle
		upward.upward = true
		f.label(point{x - 5, (top + bottom) / 2}, s.Value.Name, bottom-top, upward)
	}
	return f.Picture
}

// numbered returns the classes of n objects and the number of each object's; all are in class 0
// without classes.
func numbered(class []string, n int) (names []string, number []int) {
	names, place := Classes(class)
	number = make([]int, n)
	for i, s := range class {
		number[i] = place[s]
	}
	return names, number
}
