package translator

import (
	"math"

	"github.com/meowdis/meowdis/trig"
)

// Redis keeps a position as a zset score: a geohash of 52 bits, 26 of the
// latitude interleaved with 26 of the longitude. The limits of the latitude are
// those of the Web Mercator projection, so the bits are not those of
// geohash.org; GEOHASH converts.
const (
	geoStepMax   = 26
	geoLonMax    = 180.0
	geoLatMax    = 85.05112878
	earthRadius  = 6372797.560856 // metres
	mercatorMax  = 20037726.37
	evenBits     = 0x5555555555555555
	oddBits      = 0xaaaaaaaaaaaaaaaa
	geohashChars = "0123456789bcdefghjkmnpqrstuvwxyz"
)

// geoBits is a cell of the grid: its geohash with 2*step bits. The zero value is
// no cell.
type geoBits struct {
	bits uint64
	step uint
}

type geoPoint struct{ lon, lat float64 }

// geoArea is what a cell covers.
type geoArea struct{ minLon, maxLon, minLat, maxLat float64 }

func (a geoArea) centre() geoPoint {
	return geoPoint{
		lon: min(max((a.minLon+a.maxLon)/2, -geoLonMax), geoLonMax),
		lat: min(max((a.minLat+a.maxLat)/2, -geoLatMax), geoLatMax),
	}
}

func encodeGeo(p geoPoint, step uint, latMax float64) geoBits {
	scale := float64(uint64(1) << step)
	lat := uint32((p.lat + latMax) / (2 * latMax) * scale)
	lon := uint32((p.lon + geoLonMax) / (2 * geoLonMax) * scale)
	return geoBits{bits: spread(lat) | spread(lon)<<1, step: step}
}

func (g geoBits) area() geoArea {
	scale := float64(uint64(1) << g.step)
	lat, lon := float64(gather(g.bits)), float64(gather(g.bits>>1))
	return geoArea{
		minLat: -geoLatMax + float64(lat/scale*(2*geoLatMax)), maxLat: -geoLatMax + float64((lat+1)/scale*(2*geoLatMax)),
		minLon: -geoLonMax + float64(lon/scale*(2*geoLonMax)), maxLon: -geoLonMax + float64((lon+1)/scale*(2*geoLonMax)),
	}
}

// score is the cell's geohash at full precision, and next that of the cell after
// it: the positions inside are between them.
func (g geoBits) score() (first, next float64) {
	shift := 2 * (geoStepMax - g.step)
	return float64(g.bits << shift), float64((g.bits + 1) << shift)
}

// pointOf is the position that a score stands for.
func pointOf(score float64) geoPoint {
	var bits uint64
	switch { // scores that no position has convert as they do in C on x86
	case score < 0:
		bits = uint64(int64(score))
	case score < 1<<64:
		bits = uint64(score)
	}
	return geoBits{bits: bits, step: geoStepMax}.area().centre()
}

// Position is where the score of a member of a geospatial index is; ok is false
// for a score that GEOADD would not have made.
func Position(score float64) (lon, lat float64, ok bool) {
	p := pointOf(score)
	return p.lon, p.lat, score >= 0 && score < 1<<(2*geoStepMax) && score == math.Trunc(score)
}

// spread puts the bits of v at the even places.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	x = (x | x<<2) & 0x3333333333333333
	return (x | x<<1) & evenBits
}

// gather is the reverse of spread.
func gather(x uint64) uint32 {
	x &= evenBits
	x = (x | x>>1) & 0x3333333333333333
	x = (x | x>>2) & 0x0f0f0f0f0f0f0f0f
	x = (x | x>>4) & 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return uint32(x | x>>16)
}

// move is the cell dx columns east and dy rows north; each is -1, 0 or 1. It
// wraps around. A coordinate that does not move keeps the bit too many that a
// position on the very edge (180 degrees east) has, as in Redis.
func (g geoBits) move(dx, dy int) geoBits {
	keep := uint64(math.MaxUint64) >> (64 - 2*g.step)
	g.bits = shiftBits(g.bits&oddBits, oddBits&keep, evenBits&keep, dx) | shiftBits(g.bits&evenBits, evenBits&keep, oddBits&keep, dy)
	return g
}

// shiftBits adds d to the number x, whose bits are at the places of mine; others
// are the places between them.
func shiftBits(x, mine, others uint64, d int) uint64 {
	switch {
	case d > 0:
		return (x + others + 1) & mine
	case d < 0:
		return ((x | others) - (others + 1)) & mine
	}
	return x
}

// degree is one degree in radians, divided as doubles, which is a last digit
// away from the exact quotient that a Go constant would be.
var degree = func(pi float64) float64 { return pi / 180 }(math.Pi)

func radians(degrees float64) float64 { return degrees * degree }
func degrees(radians float64) float64 { return radians / degree }

// geoDistance is the length of the great circle between two points, in metres. Its
// products are converted so that no machine adds them without rounding them first.
func geoDistance(a, b geoPoint) float64 {
	v := trig.Sin((radians(b.lon) - radians(a.lon)) / 2)
	if v == 0 {
		return latDistance(a.lat, b.lat)
	}
	lat1, lat2 := radians(a.lat), radians(b.lat)
	u := trig.Sin((lat2 - lat1) / 2)
	return 2 * earthRadius * trig.Asin(math.Sqrt(float64(u*u)+float64(trig.Cos(lat1)*trig.Cos(lat2)*v*v)))
}

func latDistance(a, b float64) float64 { return earthRadius * math.Abs(radians(b)-radians(a)) }

// geoShape is a circle, or a box when width and height are set, in metres.
type geoShape struct {
	centre                geoPoint
	radius, width, height float64
	box                   bool
}

// distance of p from the centre; false when p is outside of the shape.
func (s geoShape) distance(p geoPoint) (float64, bool) {
	if !s.box {
		d := geoDistance(s.centre, p)
		return d, d <= s.radius
	}
	if latDistance(p.lat, s.centre.lat) > s.height/2 ||
		geoDistance(p, geoPoint{s.centre.lon, p.lat}) > s.width/2 {
		return 0, false
	}
	return geoDistance(s.centre, p), true
}

// bounds is a rectangle of degrees around the shape.
func (s geoShape) bounds() geoArea {
	w, h := s.radius, s.radius
	if s.box {
		w, h = s.width/2, s.height/2
	}
	dlat := degrees(h / earthRadius)
	edge := s.centre.lat + dlat // the edge where a degree of longitude is shortest
	if s.centre.lat < 0 {
		edge = s.centre.lat - dlat
	}
	dlon := degrees(w / earthRadius / trig.Cos(radians(edge)))
	return geoArea{
		minLon: s.centre.lon - dlon, maxLon: s.centre.lon + dlon,
		minLat: s.centre.lat - dlat, maxLat: s.centre.lat + dlat,
	}
}

// steps is the precision at which the cells around the centre cover a radius.
func (s geoShape) steps() uint {
	radius := s.radius
	if s.box {
		radius = math.Sqrt(s.width/2*(s.width/2) + s.height/2*(s.height/2))
	}
	if radius == 0 {
		return geoStepMax
	}
	step := -1
	for ; radius < mercatorMax; radius *= 2 {
		step++
	}
	if lat := math.Abs(s.centre.lat); lat > 80 {
		step -= 2
	} else if lat > 66 {
		step--
	}
	return uint(min(max(step, 1), geoStepMax))
}

// around lists the directions in the order in which Redis searches: the cell
// itself, north, south, east, west, and the corners.
var around = [9]struct{ dx, dy int }{{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}

// cells is the at most nine cells that together cover the shape, without those
// that lie outside of its bounds.
func (s geoShape) cells() []geoBits {
	bounds, step := s.bounds(), s.steps()
	cell := encodeGeo(s.centre, step, geoLatMax)
	if step > 1 && !s.covered(cell, bounds) {
		step--
		cell = encodeGeo(s.centre, step, geoLatMax)
	}
	area := cell.area()
	var cells []geoBits
	for _, d := range around {
		useless := d.dy < 0 && area.minLat < bounds.minLat || d.dy > 0 && area.maxLat > bounds.maxLat ||
			d.dx < 0 && area.minLon < bounds.minLon || d.dx > 0 && area.maxLon > bounds.maxLon
		next := cell.move(d.dx, d.dy)
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

// covered reports whether the neighbours of cell reach beyond the bounds.
func (s geoShape) covered(cell geoBits, bounds geoArea) bool {
	return cell.move(0, 1).area().maxLat >= bounds.maxLat && cell.move(0, -1).area().minLat <= bounds.minLat &&
		cell.move(1, 0).area().maxLon >= bounds.maxLon && cell.move(-1, 0).area().minLon <= bounds.minLon
}

// geohashString is the standard 11-character geohash of a score.
func geohashString(score float64) []byte {
	bits := encodeGeo(pointOf(score), geoStepMax, 90).bits
	out := make([]byte, 11)
	for i := range out {
		index := uint64(0) // 52 bits make ten characters; the last is padding
		if i < 10 {
			index = bits >> (52 - 5*(i+1)) & 31
		}
		out[i] = geohashChars[index]
	}
	return out
}
