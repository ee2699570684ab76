package translator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/geohash"
	"github.com/meowdis/meowdis/redis/partialsort"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// geoForm describes the syntax of one search command.
type geoForm struct {
	key      int  // position of the key to search
	options  int  // position of the first option
	store    int  // position of the destination, 0 for none
	radius   bool // a GEORADIUS form: centre and radius precede the options
	byMember bool // the centre is a member
	storing  bool // STORE and STOREDIST are options
}

// geoQuery holds a parsed search.
type geoQuery struct {
	shape     geohash.Shape
	unit      float64
	members   [][]byte // must all exist; the last one is the centre
	sort      int      // 1 nearest first, -1 farthest first, 0 unsorted
	count     int64    // 0 for all
	any       bool
	withDist  bool
	withHash  bool
	withCoord bool
	dest      []byte
	storeDist bool

	from, by bool // the centre and the shape are given

	// radiusError holds the error in the radius of a GEORADIUSBYMEMBER, reported only if the key and the member exist.
	radiusError string
}

// geoMatch is a member inside the shape.
type geoMatch struct {
	element
	distance float64 // metres
}

func geosearch(f geoForm) func(*Call) Plan {
	return func(c *Call) Plan {
		q, bad := c.parseGeo(f)
		key := c.Args[f.key]
		switch {
		case q.members == nil && bad != "":
			return c.geoError(f, bad)
		case q.members == nil:
			return c.searchShape(key, q)
		}
		// As in Redis, an unknown member is reported before an error in the arguments after it.
		return readThen(func(r *store.Result) Plan {
			switch missing := len(r.Rows[0]) == 0; {
			case missing && bad == "":
				return c.geoReply(q, nil, r.Work)
			case missing:
				return fail(bad)
			case string(r.Rows[0][0][0].Bytes()) != zsetType:
				return answer(wrongType)
			case slices.ContainsFunc(scoreRows(r), func(row store.Row) bool { return row[0].IsNull() }):
				return fail(errGeoMember)
			case q.radiusError != "":
				return fail(q.radiusError)
			case bad != "":
				return fail(bad)
			}
			q.shape.Centre = geohash.PointOf(scoreRows(r)[len(q.members)-1][0].Float())
			return c.searchShape(key, q)
		}, c.scoresOf(key, q.members...)...)
	}
}

// geoError replies to a bad call. As in Redis, a key of the wrong type is reported before an error in the arguments.
func (c *Call) geoError(f geoForm, bad string) Plan {
	return readThen(func(r *store.Result) Plan {
		if len(r.Rows[0]) > 0 && string(r.Rows[0][0][0].Bytes()) != zsetType {
			return answer(wrongType)
		}
		return fail(bad)
	}, c.typeOf(c.Args[f.key]))
}

const sqlGeoRange = `SELECT member, score FROM zsets WHERE key_id = ` + liveID + ` AND score >= ?4 AND score < ?5 ORDER BY score, member`

// searchShape reads the members in the ranges that cover the shape, and keeps the members inside it.
func (c *Call) searchShape(key []byte, q geoQuery) Plan {
	stmts := []store.Stmt{c.typeOf(key)}
	for _, scores := range q.shape.Ranges() {
		stmts = append(stmts, c.stmt(sqlGeoRange, key, store.Float(scores.First), store.Float(scores.Next)))
	}
	pick := func(r *store.Result) []geoMatch {
		var all []geoMatch
		for _, rows := range r.Rows[1:] {
			all = q.collect(all, rows, r.Work)
		}
		return q.order(all, r.Work)
	}
	if q.dest != nil {
		return readThen(func(r *store.Result) Plan {
			if len(r.Rows[0]) > 0 && string(r.Rows[0][0][0].Bytes()) != zsetType {
				return answer(wrongType)
			}
			return c.geoReply(q, pick(r), r.Work)
		}, stmts...)
	}
	return read(checkType(zsetType, resp.EmptyArray, func(r *store.Result) resp.Value { return q.reply(pick(r), r.Work) }), stmts...)
}

// stepsPerPlace counts the steps of decoding a place and computing its distance, stepsPerFound the steps of comparing
// two distances.
const (
	stepsPerPlace = 64
	stepsPerFound = 4
	matchMemory   = 2 * 56 // bytes
)

func (q *geoQuery) collect(all []geoMatch, rows []store.Row, w *store.Work) []geoMatch {
	for _, row := range rows {
		w.Step(stepsPerPlace)
		if q.any && int64(len(all)) >= q.count {
			return all
		}
		score := row[1].Float()
		if d, inside := q.shape.Distance(geohash.PointOf(score)); inside {
			w.Grow(matchMemory)
			all = append(all, geoMatch{element{row[0].Bytes(), score}, d})
		}
	}
	return all
}

// order sorts and truncates. COUNT without ANY selects the nearest.
func (q *geoQuery) order(all []geoMatch, w *store.Work) []geoMatch {
	sort := q.sort
	if sort == 0 && q.count > 0 && !q.any {
		sort = 1
	}
	n := len(all)
	if q.count > 0 {
		n = int(min(q.count, int64(n)))
	}
	if sort != 0 {
		partialsort.Sort(all, 0, n, func(a, b geoMatch) int {
			w.Step(stepsPerFound)
			return sort * cmp.Compare(a.distance, b.distance)
		})
	}
	return all[:n]
}

// geoReply returns or stores the members found.
func (c *Call) geoReply(q geoQuery, all []geoMatch, w *store.Work) Plan {
	if q.dest == nil {
		return answer(q.reply(all, w))
	}
	elems := make([]element, len(all))
	for i, f := range all {
		elems[i] = f.element
		if q.storeDist {
			elems[i].score = f.distance / q.unit
		}
	}
	return c.zsetStore(q.dest, elems)
}

func (q *geoQuery) reply(all []geoMatch, w *store.Work) resp.Value {
	values := 1 + boolInt(q.withDist) + boolInt(q.withHash) + boolInt(q.withCoord)
	if values > 1 {
		w.Grow(int64(len(all)*(values+5*boolInt(q.withCoord)+boolInt(q.withDist))) * store.ValueBytes)
	}
	out := resp.Value{Kind: resp.Array, Elems: make([]resp.Value, len(all))}
	for i, f := range all {
		w.Step(stepsPerPlace)
		item := append(make([]resp.Value, 0, values), resp.MakeBulk(f.member))
		if q.withDist {
			item = append(item, distanceReply(f.distance/q.unit))
		}
		if q.withHash {
			item = append(item, resp.MakeInt(int64(f.score)))
		}
		if q.withCoord {
			item = append(item, position(f.score))
		}
		out.Elems[i] = item[0]
		if len(item) > 1 {
			out.Elems[i] = resp.MakeArray(item...)
		}
	}
	return out
}

func (c *Call) parseGeo(f geoForm) (q geoQuery, bad string) {
	if f.radius {
		if bad := q.parseRadiusHead(c.Args, f); bad != "" {
			return q, bad
		}
	}
	for i := f.options; i < len(c.Args); {
		n, bad := q.option(c.Args[i:], f)
		if bad != "" {
			return q, bad
		}
		i += n
	}
	if f.store > 0 {
		q.dest = c.Args[f.store]
	}
	return q, q.check(c, f)
}

func (q *geoQuery) check(c *Call, f geoForm) string {
	name := string(c.Args[0]) // as typed
	switch {
	case q.dest != nil && (q.withDist || q.withHash || q.withCoord):
		what := "STORE option in GEORADIUS"
		if f.store > 0 {
			what = "GEOSEARCHSTORE"
		}
		return "ERR " + what + " is not compatible with WITHDIST, WITHHASH and WITHCOORD options"
	case !f.radius && !q.from:
		return "ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + name
	case !f.radius && !q.by:
		return "ERR exactly one of BYRADIUS and BYBOX can be specified for " + name
	case q.any && q.count == 0:
		return "ERR the ANY argument requires COUNT argument"
	}
	return ""
}

// parseRadiusHead parses the words between the key and the options of the GEORADIUS commands.
func (q *geoQuery) parseRadiusHead(args [][]byte, f geoForm) (bad string) {
	radius, unit := args[f.options-2], args[f.options-1]
	if f.byMember {
		q.members, q.radiusError = args[2:3], q.radius(radius, unit)
		return ""
	}
	if q.shape.Centre, bad = lonLat(args[2], args[3]); bad != "" {
		return bad
	}
	return q.radius(radius, unit)
}

func (q *geoQuery) radius(radius, unit []byte) (bad string) {
	r, ok := parseFloat(radius)
	switch q.unit = unitOf(unit); {
	case !ok:
		return "ERR need numeric radius"
	case r < 0:
		return "ERR radius cannot be negative"
	case q.unit == 0:
		return errGeoUnit
	}
	q.shape.Radius, q.by = r*q.unit, true
	return ""
}

func (q *geoQuery) boxOf(width, height, unit []byte) (bad string) {
	w, ok := parseFloat(width)
	if !ok {
		return "ERR need numeric width"
	}
	h, ok := parseFloat(height)
	switch q.unit = unitOf(unit); {
	case !ok:
		return "ERR need numeric height"
	case w < 0 || h < 0:
		return "ERR height or width cannot be negative"
	case q.unit == 0:
		return errGeoUnit
	}
	q.shape.Width, q.shape.Height, q.shape.Box, q.by = w*q.unit, h*q.unit, true, true
	return ""
}

// option parses one option and returns its number of words.
func (q *geoQuery) option(words [][]byte, f geoForm) (n int, bad string) {
	left := len(words) - 1
	switch word := strings.ToUpper(string(words[0])); {
	case word == "WITHDIST":
		q.withDist = true
	case word == "WITHHASH":
		q.withHash = true
	case word == "WITHCOORD":
		q.withCoord = true
	case word == "ANY":
		q.any = true
	case word == "ASC":
		q.sort = 1
	case word == "DESC":
		q.sort = -1
	case word == "COUNT" && left >= 1:
		var ok bool
		if q.count, ok = parseInt(words[1]); !ok {
			return 0, errNotInteger
		}
		if q.count <= 0 {
			return 0, "ERR COUNT must be > 0"
		}
		return 2, ""
	case f.storing && (word == "STORE" || word == "STOREDIST") && left >= 1:
		q.dest, q.storeDist = words[1], word == "STOREDIST"
		return 2, ""
	case f.store > 0 && word == "STOREDIST":
		q.storeDist = true
	default:
		return q.shapeOption(words, word, left, f)
	}
	return 1, ""
}

// shapeOption parses the options of GEOSEARCH that define the area.
func (q *geoQuery) shapeOption(words [][]byte, word string, left int, f geoForm) (n int, bad string) {
	switch {
	case f.radius:
	case word == "FROMMEMBER" && left >= 1 && (!q.from || q.members != nil): // the last one wins
		q.members, q.from = append(q.members, words[1]), true
		return 2, ""
	case word == "FROMLONLAT" && left >= 2 && q.members == nil:
		q.shape.Centre, bad = lonLat(words[1], words[2])
		q.from = true
		return 3, bad
	case word == "BYRADIUS" && left >= 2 && !q.shape.Box:
		return 3, q.radius(words[1], words[2])
	case word == "BYBOX" && left >= 3 && (!q.by || q.shape.Box):
		return 4, q.boxOf(words[1], words[2], words[3])
	}
	return 0, errSyntax
}
