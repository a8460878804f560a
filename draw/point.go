package draw

import "math"

// point is a position or a vector in the plane.
type point struct{ x, y float64 }

func (p point) add(q point) point        { return point{p.x + q.x, p.y + q.y} }
func (p point) sub(q point) point        { return point{p.x - q.x, p.y - q.y} }
func (p point) scale(s float64) point    { return point{p.x * s, p.y * s} }
func (p point) dot(q point) float64      { return p.x*q.x + p.y*q.y }
func (p point) cross(q point) float64    { return p.x*q.y - p.y*q.x }
func (p point) norm() float64            { return math.Hypot(p.x, p.y) }
func (p point) distance(q point) float64 { return math.Hypot(p.x-q.x, p.y-q.y) }
func (p point) left() point              { return point{-p.y, p.x} }
func (p point) angle() float64           { return math.Atan2(p.y, p.x) }

// near reports whether q is nearer than a distance.
func (p point) near(q point, distance float64) bool {
	d := p.sub(q)
	return d.dot(d) < distance*distance
}

// direction returns the vector of length 1 that points as p does, and (1, 0) for the zero vector.
func (p point) direction() point {
	n := p.norm()
	if n == 0 {
		return point{1, 0}
	}
	return p.scale(1 / n)
}

// rotate turns p by the angle a around the origin.
func (p point) rotate(a float64) point {
	s, c := math.Sincos(a)
	return point{c*p.x - s*p.y, s*p.x + c*p.y}
}

func polar(r, a float64) point { return point{r, 0}.rotate(a) }

// reflect mirrors p at the line through a and b.
func (p point) reflect(a, b point) point {
	u := b.sub(a).direction()
	d := p.sub(a)
	return a.add(u.scale(2 * d.dot(u))).sub(d)
}

// mean returns the centre of some points.
func mean(ps []point) (center point) {
	for _, q := range ps {
		center = center.add(q.scale(1 / float64(len(ps))))
	}
	return center
}

// bounds returns the corners of the smallest rectangle around the points.
func bounds(ps []point) (lo, hi point) {
	if len(ps) == 0 {
		return
	}
	lo, hi = ps[0], ps[0]
	for _, q := range ps {
		lo = point{min(lo.x, q.x), min(lo.y, q.y)}
		hi = point{max(hi.x, q.x), max(hi.y, q.y)}
	}
	return
}

// crossing reports whether the open segments ab and cd cross.
func crossing(a, b, c, d point) bool {
	const eps = 1e-9
	u, v := b.sub(a), d.sub(c)
	s1, s2 := u.cross(c.sub(a)), u.cross(d.sub(a))
	t1, t2 := v.cross(a.sub(c)), v.cross(b.sub(c))
	return s1*s2 < -eps && t1*t2 < -eps
}
