//go:build amd64 || arm64

package cuda

import (
	"context"
	"math"
	"unsafe"

	"github.com/mlgkernel/mlg/spd"
)

// Sizes of what a slot holds of the matrices of Factors: their Vᵀ, and their tiles and roots.
const (
	panelBytes = 16 << 20
	heldBytes  = panelBytes + side*(8+8+8/spd.Lanes)
)

// CrossFactors implements spd.Device. The processor prepares all matrices. It compares those of orders
// above 64, and those whose pivots are out of the range of the GPU.
func (d *Device) CrossFactors(ctx context.Context, dst []float64, stride int, f *spd.Factors, q []float64, a []spd.Thin) error {
	if !fits(f, a) || factorSeconds(f, a) < d.Least {
		return spd.CPU{}.CrossFactors(ctx, dst, stride, f, q, a)
	}
	if !f.Check(stride, q, a) {
		return nil
	}
	place := make([]int32, len(q)/f.Order())
	for groups, from := f.Groups(), 0; len(groups) > 0; {
		l := newLandmarks(f, groups, from)
		for rest := a; len(rest) > 0; {
			if err := ctx.Err(); err != nil {
				return err
			}
			c := choose(l, place, rest)
			if err := d.factors(dst[from:], stride, l, q, c); err != nil {
				return err
			}
			rest = rest[len(c.a):]
		}
		groups, from = groups[len(l.groups):], from+l.n
	}
	for i := range a {
		for _, v := range dst[a[i].At*stride:][:f.Len()] {
			if math.IsNaN(v) {
				alone(dst, stride, f, q, a[i])
				break
			}
		}
	}
	return nil
}

// alone compares one matrix on the processor.
func alone(dst []float64, stride int, f *spd.Factors, q []float64, a spd.Thin) {
	var own []float64
	rows := make([]int32, len(a.Rows))
	for i, r := range a.Rows {
		own = append(own, q[int(r)*f.Order():][:f.Order()]...)
		rows[i] = int32(i)
	}
	f.Cross(dst, stride, own, []spd.Thin{{At: a.At, Rows: rows, X: a.X}})
}

// landmarks are matrices of Factors for which a slot has room.
type landmarks struct {
	f       *spd.Factors
	from, n int
	groups  []spd.FactorGroup
}

// newLandmarks takes the first groups.
func newLandmarks(f *spd.Factors, groups []spd.FactorGroup, from int) *landmarks {
	l := &landmarks{f: f, from: from}
	columns := 0
	for i, g := range groups {
		n := l.n + spd.Lanes*len(g.Tiles)
		if columns += g.Columns; n > side || 8*f.Order()*columns > panelBytes {
			break
		}
		l.groups, l.n = groups[:i+1], min(n, f.Len()-from)
	}
	return l
}

// chosen are matrices for which a slot has room.
type chosen struct {
	a       []spd.Thin
	entries int
	indices int     // rows of all matrices
	rows    []int32 // of q, which become rows 1, 2, … of U; row 0 is zero
	place   []int32 // by row of q: its row of U
}

// choose takes the first matrices. It overwrites place.
func choose(l *landmarks, place []int32, a []spd.Thin) *chosen {
	clear(place)
	c := &chosen{place: place}
	p, widest := l.f.Order(), 0
	for _, g := range l.groups {
		widest = max(widest, g.Columns)
	}
	for i := range a {
		m := len(a[i].Rows)
		rows, entries, indices := len(c.rows)+m+1, c.entries+spd.Size(m), c.indices+m
		bytes := 8*(p*rows+entries) + 4*indices + 64*(i+2) // at most
		if bytes > inputBytes-heldBytes || 8*widest*rows > inputBytes || 8*l.n*(i+1) > outputBytes {
			break
		}
		for _, r := range a[i].Rows {
			if place[r] == 0 {
				c.rows = append(c.rows, r)
				place[r] = int32(len(c.rows))
			}
		}
		c.a, c.entries, c.indices = a[:i+1], entries, indices
	}
	return c
}

// arena hands out shared memory, which is sent to the GPU as a whole.
type arena struct {
	memory []byte
	gpu    uint64 // its address there
	used   int
}

// take returns room for n numbers, and its address on the GPU.
func take[T float64 | int64 | int32](m *arena, n int) ([]T, uint64) {
	at, size := m.used, n*int(unsafe.Sizeof(T(0)))
	m.used += (size + 7) &^ 7
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(m.memory[at:m.used]))), n), m.gpu + uint64(at)
}

// put is take with numbers.
func put[T float64 | int64 | int32](m *arena, x []T) uint64 {
	room, at := take[T](m, len(x))
	copy(room, x)
	return at
}

// send copies what was taken to the GPU.
func (s *slot) send(m *arena) error {
	return s.do("cuMemcpyHtoDAsync_v2", m.gpu, s.p.at(m.memory), uint64(m.used), s.stream)
}

// matrices and tiles are addresses for the kernel factors.
type (
	matrices struct{ Entries, Rows, At, E, X uint64 }
	tiles    struct{ At, E, X uint64 }
)

// hold brings landmarks to the GPU. They stay there until others come to the slot.
func (s *slot) hold(l *landmarks) error {
	if s.held.f == l.f && s.held.from == l.from {
		return nil
	}
	s.held = landmarks{}
	m := &arena{memory: s.memory[:heldBytes], gpu: s.landmarks}
	var e []float64
	var x []int64
	var at []int32
	e, s.tiles.E = take[float64](m, side)
	x, s.tiles.X = take[int64](m, side)
	at, s.tiles.At = take[int32](m, 2*side/spd.Lanes)
	column := 0
	for _, g := range l.groups {
		for _, t := range g.Tiles {
			at[0], at[1] = int32(column)+t.Column, t.Rank
			at = at[2:]
		}
		column += g.Columns
		e, x = e[copy(e, g.E):], x[copy(x, g.X):]
	}
	s.panels = m.gpu + uint64(m.used)
	for _, g := range l.groups {
		put(m, g.Panels)
	}
	if err := s.send(m); err != nil {
		return err
	}
	s.held = *l
	return nil
}

// factors compares chosen matrices with landmarks.
func (d *Device) factors(dst []float64, stride int, l *landmarks, q []float64, c *chosen) error {
	s := <-d.slots
	defer func() { d.slots <- s }()
	if err := s.prepare(d.context); err != nil {
		return err
	}
	if err := s.hold(l); err != nil {
		return err
	}
	m := &arena{memory: s.memory[heldBytes:inputBytes], gpu: s.input}
	qs, a, launches, err := d.load(m, l, q, c)
	if err != nil {
		return err
	}
	if err := s.send(m); err != nil {
		return err
	}
	if err := s.compare(l, 1+len(c.rows), qs, a, launches); err != nil {
		return err
	}
	values, err := s.fetch(len(c.a) * l.n)
	if err != nil {
		return err
	}
	for i := range c.a {
		copy(dst[c.a[i].At*stride:][:l.n], values[i*l.n:])
	}
	return nil
}

// compare launches the kernels: for as many landmarks at a time as there is room for the rows of their U.
func (s *slot) compare(l *landmarks, rows int, qs uint64, a matrices, launches []factorLaunch) error {
	p, column, from := l.f.Order(), 0, 0
	for groups := l.groups; len(groups) > 0; {
		n, columns, count := 0, 0, 0 // groups for whose U there is room, its columns and matrices
		for n < len(groups) && 8*rows*(columns+groups[n].Columns) <= inputBytes {
			columns += groups[n].Columns
			count += spd.Lanes * len(groups[n].Tiles)
			n++
		}
		groups = groups[n:]
		count = min(count, l.n-from)
		const threads, height = 128, 8 // HEIGHT of kernels.cu
		grid := [2]int{(columns + threads - 1) / threads, (rows + height - 1) / height}
		if err := s.launch(s.stream, launches[0].first, grid, threads, 0, s.laid, qs, int32(rows), int32(p),
			s.panels+uint64(8*p*column), int32(columns)); err != nil {
			return err
		}
		t := tiles{s.tiles.At + uint64(8*from/spd.Lanes), s.tiles.E + uint64(8*from), s.tiles.X + uint64(8*from)}
		for _, k := range launches {
			most := (count + k.columns - 1) / k.columns
			grid := [2]int{k.count, min(most, 1+2048/k.count)} // enough blocks for any GPU
			if err := s.launch(s.stream, k.second, grid, k.threads, 0, s.result+uint64(8*from), uint64(l.n), k.list, a,
				s.laid-uint64(8*column), int32(columns), t, int32(count)); err != nil {
				return err
			}
		}
		column, from = column+columns, from+count
	}
	return nil
}

// factorLaunch is a launch of the kernel factors, for the matrices of a list.
type factorLaunch struct {
	*kernels
	list  uint64
	count int
}

// load writes what the GPU must know of chosen matrices: the rows of q, the matrices, and lists of those
// that kernels of one order compare.
func (d *Device) load(m *arena, l *landmarks, q []float64, c *chosen) (qs uint64, a matrices, launches []factorLaunch, err error) {
	p := l.f.Order()
	rows, qs := take[float64](m, (1+len(c.rows))*p)
	clear(rows[:p])
	for i, r := range c.rows {
		copy(rows[(1+i)*p:], q[int(r)*p:][:p])
	}
	var packed, e []float64
	var x []int64
	packed, a.Entries = take[float64](m, c.entries)
	e, a.E = take[float64](m, len(c.a))
	x, a.X = take[int64](m, len(c.a))
	l.f.Prepare(packed, e, x, q, c.a)
	var at, places []int32
	at, a.At = take[int32](m, 3*len(c.a))
	places, a.Rows = take[int32](m, c.indices)
	entries, indices := 0, 0
	lists := make([][]int32, len(orders))
	for i, b := range c.a {
		n := len(b.Rows)
		at[3*i], at[3*i+1], at[3*i+2] = int32(entries), int32(indices), int32(n)
		for k, r := range b.Rows {
			places[indices+k] = c.place[r]
		}
		entries, indices = entries+spd.Size(n), indices+n
		k := orderOf(n)
		lists[k] = append(lists[k], int32(i))
	}
	for i, list := range lists {
		if len(list) > 0 {
			k, err := d.of("factors", orders[i])
			if err != nil {
				return 0, a, nil, err
			}
			launches = append(launches, factorLaunch{k, put(m, list), len(list)})
		}
	}
	return qs, a, launches, nil
}
