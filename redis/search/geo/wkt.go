package geo

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Point is a point on a plane, or a longitude and a latitude in degrees.
type Point struct{ X, Y float64 }

// Shape is a point or a polygon.
type Shape struct {
	at    Point     // if it is a point
	rings [][]Point // of a polygon: the outer ring, then the holes; the last point of a ring is the first
}

// MaxPoints is how many points a shape may have.
const MaxPoints = 4096

var errWKT = errors.New("a shape is POINT(x y) or POLYGON((x y, ...), ...)")

// Parse parses a shape in WKT. spherical accepts only longitudes and latitudes.
func Parse(wkt string, spherical bool) (*Shape, error) {
	wkt = strings.TrimSpace(wkt)
	bracket := max(strings.IndexByte(wkt, '('), 0)
	word := strings.TrimRight(wkt[:bracket], " \t")
	p := &wktParser{rest: wkt[bracket:]}
	s := &Shape{}
	switch {
	case strings.EqualFold(word, "POINT"):
		ring := p.ring()
		if p.err == nil && len(ring) != 1 {
			p.err = errWKT
		}
		if p.err == nil {
			s.at = ring[0]
		}
	case strings.EqualFold(word, "POLYGON"):
		s.rings = p.polygon()
	default:
		return nil, errWKT
	}
	if p.err == nil && p.rest != "" {
		p.err = errWKT
	}
	if p.err == nil && spherical {
		p.err = s.checkDegrees()
	}
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}

// polygon reads rings in brackets.
func (p *wktParser) polygon() (rings [][]Point) {
	p.expect('(')
	for p.err == nil {
		ring := p.ring()
		if p.err == nil && (len(ring) < 4 || ring[0] != ring[len(ring)-1]) {
			p.err = errors.New("a ring of a polygon has at least four points, and its last point is its first")
		}
		rings = append(rings, ring)
		if !p.take(',') {
			break
		}
	}
	p.expect(')')
	return rings
}

func (s *Shape) checkDegrees() error {
	for _, p := range s.points() {
		if math.Abs(p.X) > 180 || math.Abs(p.Y) > 90 {
			return fmt.Errorf("%v %v is not a longitude and a latitude", p.X, p.Y)
		}
	}
	return nil
}

func (s *Shape) points() []Point {
	if s.rings == nil {
		return []Point{s.at}
	}
	var all []Point
	for _, ring := range s.rings {
		all = append(all, ring...)
	}
	return all
}

type wktParser struct {
	rest   string
	points int
	err    error
}

func (p *wktParser) skip() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

func (p *wktParser) take(c byte) bool {
	p.skip()
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	p.skip()
	return true
}

func (p *wktParser) expect(c byte) {
	if p.err == nil && !p.take(c) {
		p.err = errWKT
	}
}

// ring parses points in parentheses.
func (p *wktParser) ring() (ring []Point) {
	p.expect('(')
	for p.err == nil {
		ring = append(ring, Point{p.number(), p.number()})
		if p.points++; p.points > MaxPoints {
			p.err = fmt.Errorf("a shape has at most %d points", MaxPoints)
		}
		if !p.take(',') {
			break
		}
	}
	p.expect(')')
	return ring
}

func (p *wktParser) number() float64 {
	p.skip()
	n := 0
	for n < len(p.rest) && strings.IndexByte("+-.eE0123456789", p.rest[n]) >= 0 {
		n++
	}
	v, err := strconv.ParseFloat(p.rest[:n], 64)
	if err != nil && p.err == nil {
		p.err = errWKT
	}
	p.rest = p.rest[n:]
	return v
}
