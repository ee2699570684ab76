package geo

import "math"

// Within reports whether s is inside other: no point of s is outside, and a point is not on other's border.
func (s *Shape) Within(other *Shape, spherical bool) bool {
	a, b, apart := flatten(s, other, spherical)
	return !apart && within(a, b)
}

// Intersects reports whether the shapes share a point.
func (s *Shape) Intersects(other *Shape, spherical bool) bool {
	a, b, apart := flatten(s, other, spherical)
	return !apart && intersects(a, b)
}

func intersects(a, b *Shape) bool {
	switch {
	case a.rings == nil && b.rings == nil:
		return a.at == b.at
	case a.rings == nil:
		return b.locate(a.at) != outside
	case b.rings == nil:
		return a.locate(b.at) != outside
	case !boxesMeet(a, b):
		return false
	}
	if b.locate(a.rings[0][0]) != outside || a.locate(b.rings[0][0]) != outside {
		return true
	}
	return anyEdge(a, func(p, q Point) bool {
		return anyEdge(b, func(r, s Point) bool { return segmentsMeet(p, q, r, s) })
	})
}

func within(a, b *Shape) bool {
	switch {
	case a.rings == nil && b.rings == nil:
		return a.at == b.at
	case a.rings == nil:
		return b.locate(a.at) == inside
	case b.rings == nil || !boxesMeet(a, b):
		return false
	}
	leaves := anyEdge(a, func(p, q Point) bool { return b.leaves(p, q) })
	if leaves {
		return false
	}
	for _, hole := range b.rings[1:] { // a hole of b in the interior of a
		for i := 1; i < len(hole); i++ {
			if a.locate(hole[i]) == inside || a.locate(middle(hole[i-1], hole[i])) == inside {
				return false
			}
		}
	}
	return true
}

// leaves reports whether a part of a segment is outside the polygon: between its crossings with the border, the segment is
// on one side.
func (s *Shape) leaves(p, q Point) bool {
	cuts := []float64{0, 1}
	anyEdge(s, func(r, t Point) bool {
		d := cross(sub(q, p), sub(t, r))
		if d != 0 {
			if u := cross(sub(r, p), sub(t, r)) / d; u > 0 && u < 1 {
				cuts = append(cuts, u)
			}
			return false
		}
		for _, v := range []Point{r, t} {
			if u := project(p, q, v); u > 0 && u < 1 {
				cuts = append(cuts, u)
			}
		}
		return false
	})
	sortFloats(cuts)
	for i := 1; i < len(cuts); i++ {
		u := (cuts[i-1] + cuts[i]) / 2
		if s.locate(Point{p.X + u*(q.X-p.X), p.Y + u*(q.Y-p.Y)}) == outside {
			return true
		}
	}
	return s.locate(p) == outside
}

type location int

const (
	outside location = iota
	onBorder
	inside
)

// locate returns where a point lies: a hole's inside is outside of the polygon.
func (s *Shape) locate(p Point) location {
	in := false
	for _, ring := range s.rings {
		for i := 1; i < len(ring); i++ {
			a, b := ring[i-1], ring[i]
			if onSegment(p, a, b) {
				return onBorder
			}
			if (a.Y > p.Y) != (b.Y > p.Y) && p.X < (b.X-a.X)*(p.Y-a.Y)/(b.Y-a.Y)+a.X {
				in = !in
			}
		}
	}
	if in {
		return inside
	}
	return outside
}

func anyEdge(s *Shape, f func(p, q Point) bool) bool {
	for _, ring := range s.rings {
		for i := 1; i < len(ring); i++ {
			if f(ring[i-1], ring[i]) {
				return true
			}
		}
	}
	return false
}

func sub(a, b Point) Point         { return Point{a.X - b.X, a.Y - b.Y} }
func cross(a, b Point) float64     { return a.X*b.Y - a.Y*b.X }
func middle(a, b Point) Point      { return Point{(a.X + b.X) / 2, (a.Y + b.Y) / 2} }
func length(a Point) float64       { return math.Hypot(a.X, a.Y) }
func between(v, a, b float64) bool { return v >= min(a, b) && v <= max(a, b) }
func project(p, q, v Point) float64 {
	d := sub(q, p)
	return ((v.X-p.X)*d.X + (v.Y-p.Y)*d.Y) / (d.X*d.X + d.Y*d.Y)
}

// onSegment reports whether a point is on a segment, up to the rounding of doubles.
func onSegment(p, a, b Point) bool {
	const rounding = 1e-12
	d := sub(b, a)
	if p == a || p == b {
		return true
	}
	if math.Abs(cross(d, sub(p, a))) > rounding*length(d)*(1+length(sub(p, a))) {
		return false
	}
	return between(p.X, a.X, b.X) && between(p.Y, a.Y, b.Y)
}

func segmentsMeet(p, q, r, s Point) bool {
	if max(p.X, q.X) < min(r.X, s.X) || max(r.X, s.X) < min(p.X, q.X) ||
		max(p.Y, q.Y) < min(r.Y, s.Y) || max(r.Y, s.Y) < min(p.Y, q.Y) {
		return false
	}
	side := func(a, b, c Point) int {
		v := cross(sub(b, a), sub(c, a))
		switch {
		case v > 0:
			return 1
		case v < 0:
			return -1
		}
		return 0
	}
	if side(p, q, r)*side(p, q, s) < 0 && side(r, s, p)*side(r, s, q) < 0 {
		return true
	}
	return onSegment(r, p, q) || onSegment(s, p, q) || onSegment(p, r, s) || onSegment(q, r, s)
}

func boxesMeet(a, b *Shape) bool {
	low1, high1 := a.box()
	low2, high2 := b.box()
	return low1.X <= high2.X && low2.X <= high1.X && low1.Y <= high2.Y && low2.Y <= high1.Y
}

func (s *Shape) box() (low, high Point) {
	low, high = s.rings[0][0], s.rings[0][0]
	for _, p := range s.rings[0] {
		low = Point{min(low.X, p.X), min(low.Y, p.Y)}
		high = Point{max(high.X, p.X), max(high.Y, p.Y)}
	}
	return low, high
}
