package translator

import (
	"math"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/geohash"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var geoTranslations = translations{
	{"GEOADD", geoadd},
	{"GEODIST", geodist},
	{"GEOPOS", geomembers(resp.NilArray, position)},
	{"GEOHASH", geomembers(resp.Nil, func(score float64) resp.Value { return resp.MakeBulk(geohash.Text(score)) })},
	{"GEOSEARCH", geosearch(geoForm{key: 1, options: 2})},
	{"GEOSEARCHSTORE", geosearch(geoForm{key: 2, options: 3, store: 1})},
	{"GEORADIUS", geosearch(geoForm{key: 1, options: 6, radius: true, storing: true})},
	{"GEORADIUSBYMEMBER", geosearch(geoForm{key: 1, options: 5, radius: true, storing: true, byMember: true})},
	{"GEORADIUS_RO", geosearch(geoForm{key: 1, options: 6, radius: true})},
	{"GEORADIUSBYMEMBER_RO", geosearch(geoForm{key: 1, options: 5, radius: true, byMember: true})},
}

// unitOf returns the length of a unit in metres, 0 for an unknown unit.
func unitOf(b []byte) float64 {
	switch strings.ToUpper(string(b)) {
	case "M":
		return 1
	case "KM":
		return 1000
	case "FT":
		return 0.3048
	case "MI":
		return 1609.34
	}
	return 0
}

const (
	errGeoUnit   = "ERR unsupported unit provided. please use M, KM, FT, MI"
	errGeoMember = "ERR could not decode requested zset member"
)

// lonLat parses a position; bad is the text of the error reply.
func lonLat(lon, lat []byte) (p geohash.Point, bad string) {
	var ok1, ok2 bool
	if p.Lon, ok1 = parseFloat(lon); !ok1 {
		return p, errNotFloat
	}
	if p.Lat, ok2 = parseFloat(lat); !ok2 {
		return p, errNotFloat
	}
	if p.Lon < -geohash.MaxLon || p.Lon > geohash.MaxLon || p.Lat < -geohash.MaxLat || p.Lat > geohash.MaxLat {
		return p, "ERR invalid longitude,latitude pair " + fixed(p.Lon, 6) + "," + fixed(p.Lat, 6)
	}
	return p, ""
}

// geoadd is ZADD with geohashes as scores, as in Redis.
func geoadd(c *Call) Plan {
	i := 2
	var nx, xx bool
	for ; i < len(c.Args); i++ {
		nx, xx = nx || c.is(i, "NX"), xx || c.is(i, "XX")
		if !c.is(i, "NX") && !c.is(i, "XX") && !c.is(i, "CH") {
			break
		}
	}
	if n := len(c.Args) - i; n%3 != 0 || n == 0 || nx && xx {
		return fail(errSyntax)
	}
	args := append([][]byte{[]byte("ZADD")}, c.Args[1:i]...)
	for ; i < len(c.Args); i += 3 {
		p, bad := lonLat(c.Args[i], c.Args[i+1])
		if bad != "" {
			return fail(bad)
		}
		args = append(args, strconv.AppendUint(nil, geohash.Encode(p), 10), c.Args[i+2])
	}
	add := *c
	add.Args = args
	return zadd(&add)
}

// scoresOf reads the key's type and the scores of members. scoreRows returns the scores.
func (c *Call) scoresOf(key []byte, members ...[]byte) []store.Stmt {
	return append([]store.Stmt{c.typeOf(key)}, c.stmtsForNames(key, members, sqlZMScore)...)
}

func scoreRows(r *store.Result) []store.Row { return nameRows(r, 1, len(r.Rows)-1) }

func geodist(c *Call) Plan {
	unit := 1.0
	switch {
	case len(c.Args) == 5:
		if unit = unitOf(c.Args[4]); unit == 0 {
			return fail(errGeoUnit)
		}
	case len(c.Args) > 5:
		return fail(errSyntax)
	}
	return read(checkType(zsetType, resp.Nil, func(r *store.Result) resp.Value {
		rows := scoreRows(r)
		a, b := rows[0][0], rows[1][0]
		if a.IsNull() || b.IsNull() {
			return resp.Nil
		}
		return distanceReply(geohash.Distance(geohash.PointOf(a.Float()), geohash.PointOf(b.Float())) / unit)
	}), c.scoresOf(c.Args[1], c.Args[2], c.Args[3])...)
}

// distanceReply prints four decimals. As in Redis, it rounds the product with 10000. The product is a float, too, so it
// may be halfway where d is not.
func distanceReply(d float64) resp.Value {
	return resp.MakeString(fixed(math.RoundToEven(d*1e4)/1e4, 4))
}

// fixed formats f like C's %.nf.
func fixed(f float64, n int) string {
	return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'f', n, 64), "+"))
}

// position returns a score as an array of longitude and latitude.
func position(score float64) resp.Value {
	p := geohash.PointOf(score)
	return resp.MakeArray(resp.MakeDouble(p.Lon), resp.MakeDouble(p.Lat))
}

// geomembers translates GEOPOS and GEOHASH: show for each member that exists, missing for the rest.
func geomembers(missing resp.Value, show func(score float64) resp.Value) func(*Call) Plan {
	return func(c *Call) Plan {
		members := c.Args[2:]
		none := resp.Value{Kind: resp.Array, Elems: make([]resp.Value, len(members))}
		for i := range members {
			none.Elems[i] = missing
		}
		return read(checkType(zsetType, none, func(r *store.Result) resp.Value {
			elems := make([]resp.Value, len(members))
			for i, row := range scoreRows(r) {
				elems[i] = missing
				if !row[0].IsNull() {
					elems[i] = show(row[0].Float())
				}
			}
			return resp.Value{Kind: resp.Array, Elems: elems}
		}), c.scoresOf(c.Args[1], members...)...)
	}
}
