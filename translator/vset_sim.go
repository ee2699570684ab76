package translator

import (
	"errors"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/filter"
	"github.com/meowdis/meowdis/translator/vector"
)

// vsimArgs holds the arguments of VSIM.
type vsimArgs struct {
	element []byte // the element to compare with; nil if a vector is given
	given   vectorArg
	bad     resp.Value // the first error in the vector or the options

	count              int64
	epsilon            float64 // the greatest distance, 0 to 1
	filter             *filter.Program
	scores, attributes bool
}

// parse parses the arguments. EF, FILTER-EF, TRUTH and NOTHREAD have no effect: every vector is compared.
func (o *vsimArgs) parse(c *Call) {
	o.count, o.epsilon = 10, 2
	if c.is(2, "ELE") {
		o.element, o.given.next = c.Args[3], 4
	} else {
		given, ok := c.parseVector(2, false)
		if !ok {
			o.bad = badVector
			return
		}
		o.given = given
	}
	for i := o.given.next; i < len(c.Args); i++ {
		if more := i+1 < len(c.Args); !o.option(c, &i, more) {
			if !o.bad.IsError() {
				o.bad = resp.MakeError("ERR syntax error in VSIM command")
			}
			return
		}
	}
}

// option parses the option at *i, with its value if it has one.
func (o *vsimArgs) option(c *Call, i *int, more bool) (ok bool) {
	at := *i
	positive := func(name string) (n int64) {
		*i++
		if n, ok = parseInt(c.Args[at+1]); !ok || n <= 0 {
			ok, o.bad = false, resp.MakeError("ERR invalid "+name)
		}
		return n
	}
	switch {
	case c.is(at, "WITHSCORES"):
		o.scores = true
	case c.is(at, "WITHATTRIBS"):
		o.attributes = true
	case c.is(at, "TRUTH"), c.is(at, "NOTHREAD"):
	case c.is(at, "COUNT") && more:
		o.count = positive("COUNT")
		return ok
	case c.is(at, "EF") && more:
		positive("EF")
		return ok
	case c.is(at, "FILTER-EF") && more:
		positive("FILTER-EF")
		return ok
	case c.is(at, "EPSILON") && more:
		*i++
		if o.epsilon, ok = parseFloat(c.Args[at+1]); !ok || o.epsilon <= 0 {
			o.bad = resp.MakeError("ERR invalid EPSILON")
			return false
		}
	case c.is(at, "FILTER") && more:
		*i++
		return o.compile(c.Args[at+1])
	default:
		return false
	}
	return true
}

func (o *vsimArgs) compile(expression []byte) bool {
	var err error
	var bad *filter.SyntaxError
	if o.filter, err = filter.Compile(expression); errors.As(err, &bad) {
		o.bad = resp.MakeError(commands.OneLine("ERR syntax error in FILTER expression near: " + string(bad.Near)))
	}
	return err == nil
}

func vsim(c *Call) Plan {
	var o vsimArgs
	o.parse(c)
	return readThen(func(r *store.Result) Plan {
		s, bad := vectorSetOf(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case len(r.Rows[0]) == 0:
			return answer(resp.EmptyArray)
		}
		v, bad := o.vector(s, r.Rows[1])
		if bad.IsError() {
			return answer(bad)
		}
		search := &vectorSearch{set: s, query: s.kind.Query(v), filter: o.filter, nearest: nearest{limit: int(min(o.count, s.count))}, skip: -1}
		return search.from(c, 0, func(found []neighbour) Plan { return o.answer(c, found) })
	}, c.record(c.Args[1], o.element)...)
}

// vector returns the vector to compare with, reduced to the dimension of the set. bad is the error of a missing element
// or of a vector that does not fit.
func (o *vsimArgs) vector(s vectorSet, rows []store.Row) (v []float32, bad resp.Value) {
	if o.element != nil {
		if len(rows) == 0 {
			return nil, resp.MakeError("ERR element not found in set")
		}
		return s.kind.Decode(rows[0][1].Bytes(), s.dim), o.bad
	}
	v = o.given.v
	switch {
	case v == nil:
		return nil, o.bad
	case len(v) == s.dim:
	case s.input == 0:
		return nil, errDimension(len(v), s.dim)
	case len(v) != s.input:
		return nil, errInputDimension(len(v), s.input)
	default:
		v = vector.Project(v, s.dim)
	}
	return v, o.bad
}

// answer plans the read of the elements found. In RESP3, scores and attributes are the values of a map; a pair of both
// is an array.
func (o *vsimArgs) answer(c *Call, found []neighbour) Plan {
	var slots []int64
	for _, n := range found {
		if n.distance/2 > float32(o.epsilon) {
			break
		}
		slots = append(slots, n.slot)
	}
	if len(slots) == 0 {
		found = nil
	}
	return read(func(r *store.Result) resp.Value {
		flat, pairs := resp.EmptyArray, resp.EmptyMap
		for i, row := range r.Rows[0] {
			element, values := bulk(row[0]), []resp.Value(nil)
			if o.scores {
				values = append(values, resp.MakeDouble(vector.Similarity(found[i].distance)))
			}
			if o.attributes {
				values = append(values, bulk(row[1]))
			}
			flat.Elems = append(append(flat.Elems, element), values...)
			if len(values) == 1 {
				pairs.Elems = append(pairs.Elems, element, values[0])
			} else {
				pairs.Elems = append(pairs.Elems, element, resp.MakeArray(values...))
			}
		}
		if o.scores || o.attributes {
			flat.RESP3 = &pairs
		}
		return flat
	}, c.elementsAt(c.Args[1], slots))
}
