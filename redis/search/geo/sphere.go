package geo

import (
	"math"
	"slices"
)

func sortFloats(v []float64) { slices.Sort(v) }

// vector holds a point on the unit sphere.
type vector struct{ x, y, z float64 }

func onSphere(p Point) vector {
	lon, lat := p.X*math.Pi/180, p.Y*math.Pi/180
	return vector{math.Cos(lat) * math.Cos(lon), math.Cos(lat) * math.Sin(lon), math.Sin(lat)}
}

func (v vector) dot(w vector) float64 { return v.x*w.x + v.y*w.y + v.z*w.z }
func (v vector) cross(w vector) vector {
	return vector{v.y*w.z - v.z*w.y, v.z*w.x - v.x*w.z, v.x*w.y - v.y*w.x}
}
func (v vector) times(k float64) vector { return vector{v.x * k, v.y * k, v.z * k} }
func (v vector) unit() vector {
	n := math.Sqrt(v.dot(v))
	if n == 0 {
		return vector{1, 0, 0}
	}
	return v.times(1 / n)
}

// flatten returns the shapes on a plane. Shapes on a sphere, whose edges are arcs of great circles, are projected from the
// sphere's center: that keeps arcs straight. Two shapes that are not in one hemisphere are compared by their longitudes and
// latitudes, unless they are so far from each other that they are apart.
func flatten(a, b *Shape, spherical bool) (flatA, flatB *Shape, apart bool) {
	if !spherical {
		return a, b, false
	}
	if a.rings == nil && b.rings == nil {
		return a, b, false
	}
	centerA, radiusA := a.circle()
	centerB, radiusB := b.circle()
	angle := math.Acos(max(-1, min(1, centerA.dot(centerB))))
	if angle > radiusA+radiusB+1e-9 && radiusA < math.Pi/2 && radiusB < math.Pi/2 {
		return a, b, true
	}
	center := vector{centerA.x + centerB.x, centerA.y + centerB.y, centerA.z + centerB.z}.unit()
	flatA, okA := a.project(center)
	flatB, okB := b.project(center)
	if !okA || !okB {
		return a, b, false
	}
	return flatA, flatB, false
}

// circle returns the middle of a shape's points, and the angle that reaches the farthest.
func (s *Shape) circle() (center vector, radius float64) {
	points := s.points()
	var sum vector
	for _, p := range points {
		v := onSphere(p)
		sum = vector{sum.x + v.x, sum.y + v.y, sum.z + v.z}
	}
	center = sum.unit()
	least := 1.0
	for _, p := range points {
		least = min(least, center.dot(onSphere(p)))
	}
	return center, math.Acos(max(-1, least))
}

// project returns the shape on the plane that touches the sphere at center; ok is false if a point is not in the hemisphere
// around center.
func (s *Shape) project(center vector) (flat *Shape, ok bool) {
	east := vector{0, 0, 1}.cross(center)
	if east.dot(east) < 1e-12 {
		east = vector{0, 1, 0}
	}
	east = east.unit()
	north := center.cross(east)
	ok = true
	move := func(p Point) Point {
		v := onSphere(p)
		d := v.dot(center)
		if d < 1e-3 {
			ok = false
			return p
		}
		return Point{v.dot(east) / d, v.dot(north) / d}
	}
	flat = &Shape{at: move(s.at)}
	if s.rings != nil {
		ok = true
	}
	for _, ring := range s.rings {
		moved := make([]Point, len(ring))
		for i, p := range ring {
			moved[i] = move(p)
		}
		flat.rings = append(flat.rings, moved)
	}
	return flat, ok
}
