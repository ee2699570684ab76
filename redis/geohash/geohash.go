// Package geohash stores positions on the earth as Redis does: as 52-bit geohashes, the scores
// of sorted sets.
package geohash

import (
	"math"

	"github.com/meowdis/meowdis/redis/trig"
)

// Redis stores a position as a zset score: a geohash of 52 bits, 26 of the latitude
// interleaved with 26 of the longitude. The latitude ends at the limits of the Web Mercator
// projection, so the bits differ from geohash.org's; GEOHASH converts.
const (
	// MaxLon and MaxLat limit the positions that can be stored, in degrees.
	MaxLon = 180.0
	MaxLat = 85.05112878

	maxStep     = 26
	earthRadius = 6372797.560856 // metres
	mercatorMax = 20037726.37
	evenBits    = 0x5555555555555555
	oddBits     = 0xaaaaaaaaaaaaaaaa
	alphabet    = "0123456789bcdefghjkmnpqrstuvwxyz"
)

// cell is a cell of the grid: a geohash of 2*step bits. The zero value means no cell.
type cell struct {
	bits uint64
	step uint
}

// Point is a position in degrees.
type Point struct{ Lon, Lat float64 }

// area holds the rectangle of a cell, in degrees.
type area struct{ minLon, maxLon, minLat, maxLat float64 }

func (a area) centre() Point {
	return Point{
		Lon: min(max((a.minLon+a.maxLon)/2, -MaxLon), MaxLon),
		Lat: min(max((a.minLat+a.maxLat)/2, -MaxLat), MaxLat),
	}
}

// Encode returns the score of a position. The position must be within MaxLon and MaxLat.
func Encode(p Point) uint64 { return encode(p, maxStep, MaxLat).bits }

func encode(p Point, step uint, latMax float64) cell {
	scale := float64(uint64(1) << step)
	lat := uint32((p.Lat + latMax) / (2 * latMax) * scale)
	lon := uint32((p.Lon + MaxLon) / (2 * MaxLon) * scale)
	return cell{bits: spread(lat) | spread(lon)<<1, step: step}
}

func (g cell) area() area {
	scale := float64(uint64(1) << g.step)
	lat, lon := float64(gather(g.bits)), float64(gather(g.bits>>1))
	return area{
		minLat: -MaxLat + float64(lat/scale*(2*MaxLat)), maxLat: -MaxLat + float64((lat+1)/scale*(2*MaxLat)),
		minLon: -MaxLon + float64(lon/scale*(2*MaxLon)), maxLon: -MaxLon + float64((lon+1)/scale*(2*MaxLon)),
	}
}

// Range holds the scores s with First <= s < Next.
type Range struct{ First, Next float64 }

// scores returns the range of scores of positions in the cell.
func (g cell) scores() Range {
	shift := 2 * (maxStep - g.step)
	return Range{float64(g.bits << shift), float64((g.bits + 1) << shift)}
}

// PointOf returns the position of a score, which may be any number.
func PointOf(score float64) Point {
	var bits uint64
	switch { // scores of no position convert as in C on x86
	case score < 0:
		bits = uint64(int64(score))
	case score < 1<<64:
		bits = uint64(score)
	}
	return cell{bits: bits, step: maxStep}.area().centre()
}

// IsScore reports whether Encode can return score.
func IsScore(score float64) bool {
	return score >= 0 && score < 1<<(2*maxStep) && score == math.Trunc(score)
}

// spread moves the bits of v to the even bit positions.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	x = (x | x<<2) & 0x3333333333333333
	return (x | x<<1) & evenBits
}

// gather reverses spread.
func gather(x uint64) uint32 {
	x &= evenBits
	x = (x | x>>1) & 0x3333333333333333
	x = (x | x>>2) & 0x0f0f0f0f0f0f0f0f
	x = (x | x>>4) & 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return uint32(x | x>>16)
}

// move returns the cell dx columns east and dy rows north, wrapping around; each is -1, 0 or
// 1. A position on the very edge (180 degrees east) has one bit too many: a coordinate that
// does not move keeps it, as in Redis.
func (g cell) move(dx, dy int) cell {
	keep := uint64(math.MaxUint64) >> (64 - 2*g.step)
	g.bits = shiftBits(g.bits&oddBits, oddBits&keep, evenBits&keep, dx) | shiftBits(g.bits&evenBits, evenBits&keep, oddBits&keep, dy)
	return g
}

// shiftBits adds d to the number x, which uses the bits in mine. others has the bits in
// between.
func shiftBits(x, mine, others uint64, d int) uint64 {
	switch {
	case d > 0:
		return (x + others + 1) & mine
	case d < 0:
		return ((x | others) - (others + 1)) & mine
	}
	return x
}

// degree is one degree in radians, computed in doubles: the exact quotient of a Go constant
// would differ in the last digit.
var degree = func(pi float64) float64 { return pi / 180 }(math.Pi)

func radians(degrees float64) float64 { return degrees * degree }
func degrees(radians float64) float64 { return radians / degree }

// Distance returns the great-circle distance of two points, in metres. Its products are
// converted so that no machine uses a fused multiply-add.
func Distance(a, b Point) float64 {
	v := trig.Sin((radians(b.Lon) - radians(a.Lon)) / 2)
	if v == 0 {
		return latDistance(a.Lat, b.Lat)
	}
	lat1, lat2 := radians(a.Lat), radians(b.Lat)
	u := trig.Sin((lat2 - lat1) / 2)
	return 2 * earthRadius * trig.Asin(math.Sqrt(float64(u*u)+float64(trig.Cos(lat1)*trig.Cos(lat2)*v*v)))
}

func latDistance(a, b float64) float64 { return earthRadius * math.Abs(radians(b)-radians(a)) }

// Shape is a circle or a box, in metres.
type Shape struct {
	Centre                Point
	Radius, Width, Height float64
	Box                   bool // use Width and Height, not Radius
}

// Distance returns the distance of p from the centre in metres. inside is false if p is
// outside the shape.
func (s Shape) Distance(p Point) (metres float64, inside bool) {
	if !s.Box {
		d := Distance(s.Centre, p)
		return d, d <= s.Radius
	}
	if latDistance(p.Lat, s.Centre.Lat) > s.Height/2 ||
		Distance(p, Point{s.Centre.Lon, p.Lat}) > s.Width/2 {
		return 0, false
	}
	return Distance(s.Centre, p), true
}

// bounds returns the bounding box of the shape, in degrees.
func (s Shape) bounds() area {
	w, h := s.Radius, s.Radius
	if s.Box {
		w, h = s.Width/2, s.Height/2
	}
	dlat := degrees(h / earthRadius)
	edge := s.Centre.Lat + dlat // the edge where a degree of longitude is shortest
	if s.Centre.Lat < 0 {
		edge = s.Centre.Lat - dlat
	}
	dlon := degrees(w / earthRadius / trig.Cos(radians(edge)))
	return area{
		minLon: s.Centre.Lon - dlon, maxLon: s.Centre.Lon + dlon,
		minLat: s.Centre.Lat - dlat, maxLat: s.Centre.Lat + dlat,
	}
}

// steps returns the bits per coordinate for cells so large that a cell and its neighbours cover
// the shape's radius.
func (s Shape) steps() uint {
	radius := s.Radius
	if s.Box {
		radius = math.Sqrt(s.Width/2*(s.Width/2) + s.Height/2*(s.Height/2))
	}
	if radius <= 0 {
		return maxStep
	}
	step := -1
	for ; radius < mercatorMax; radius *= 2 {
		step++
	}
	if lat := math.Abs(s.Centre.Lat); lat > 80 {
		step -= 2
	} else if lat > 66 {
		step--
	}
	return uint(min(max(step, 1), maxStep))
}

// searchOrder lists directions in Redis's search order: the cell itself, north, south, east, west,
// the corners.
var searchOrder = [9]struct{ dx, dy int }{{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}

// Ranges returns at most nine score ranges, in Redis's search order. They cover the shape and
// some area around it.
func (s Shape) Ranges() []Range {
	var ranges []Range
	for _, cell := range s.cells() {
		ranges = append(ranges, cell.scores())
	}
	return ranges
}

// cells returns at most nine cells that cover the shape, without cells outside its bounds.
func (s Shape) cells() []cell {
	bounds, step := s.bounds(), s.steps()
	middle := encode(s.Centre, step, MaxLat)
	if step > 1 && !s.covered(middle, bounds) {
		step--
		middle = encode(s.Centre, step, MaxLat)
	}
	area := middle.area()
	var cells []cell
	for _, d := range searchOrder {
		useless := d.dy < 0 && area.minLat < bounds.minLat || d.dy > 0 && area.maxLat > bounds.maxLat ||
			d.dx < 0 && area.minLon < bounds.minLon || d.dx > 0 && area.maxLon > bounds.maxLon
		next := middle.move(d.dx, d.dy)
		if step >= 2 && useless || next.bits == 0 && next.step == 0 {
			continue
		}
		// A huge shape has the same neighbour on both sides.
		if n := len(cells); n > 0 && cells[n-1] == next {
			continue
		}
		cells = append(cells, next)
	}
	return cells
}

// covered reports whether the middle cell and its neighbours cover bounds.
func (s Shape) covered(middle cell, bounds area) bool {
	return middle.move(0, 1).area().maxLat >= bounds.maxLat && middle.move(0, -1).area().minLat <= bounds.minLat &&
		middle.move(1, 0).area().maxLon >= bounds.maxLon && middle.move(-1, 0).area().minLon <= bounds.minLon
}

// Text returns the standard 11-character geohash of a score.
func Text(score float64) []byte {
	bits := encode(PointOf(score), maxStep, 90).bits
	out := make([]byte, 11)
	for i := range out {
		index := uint64(0) // 52 bits give ten characters; the last is padding
		if i < 10 {
			index = bits >> (52 - 5*(i+1)) & 31
		}
		out[i] = alphabet[index]
	}
	return out
}
