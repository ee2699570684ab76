package records

import (
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/resp"
)

// RESP3 is v, the reply to args, in the shape that RESP3 gives it: maps, pairs and
// doubles of a reply that came in RESP2's, as those of REST endpoints do, become
// such again. A reply that has its shape is left as it is, and so are those of
// JSON.RESP and of FORMAT EXPAND, whose numbers may be strings, those of JSON.TYPE,
// JSON.NUMINCRBY and JSON.NUMMULTBY, and those inside EXEC's: see Replies.
func RESP3(args [][]byte, v resp.Value) resp.Value {
	if v.IsError() || len(args) == 0 {
		return v
	}
	c := newCall(args)
	if reshape := c.reshape(); reshape != nil {
		return reshape(v)
	}
	return v
}

// reshape is what makes a reply to the call RESP3's, nil for one that is the same
// in both.
func (c call) reshape() func(resp.Value) resp.Value {
	switch c.name {
	case "HGETALL", "CONFIG GET", "ACL GETUSER", "MEMORY STATS", "HELLO", "XREAD", "XREADGROUP":
		return asMap
	case "XINFO STREAM":
		return streamInfo
	case "FUNCTION STATS":
		return functionStats
	case "COMMAND", "COMMAND INFO":
		return each(commandInfo)
	case "COMMAND DOCS":
		return commandDocs
	case "ARINFO":
		return arrayInfo
	case "ARLEN", "ARNEXT", "ARINSERT":
		return asInteger
	case "ARSCAN":
		return each(element(first, asInteger))
	case "XINFO GROUPS", "XINFO CONSUMERS", "MODULE LIST", "FUNCTION LIST":
		return each(asMap)
	case "ZSCORE", "ZINCRBY", "ZADD":
		return asDouble
	case "ZMSCORE":
		return each(asDouble)
	case "INCREX":
		if c.has("BYFLOAT") {
			return each(asDouble)
		}
	case "ZRANK", "ZREVRANK", "BZPOPMIN", "BZPOPMAX":
		return element(last, asDouble)
	case "ZMPOP", "BZMPOP":
		return element(last, each(element(last, asDouble)))
	case "GEOPOS":
		return each(each(asDouble))
	case "GEOSEARCH", "GEORADIUS", "GEORADIUSBYMEMBER", "GEORADIUS_RO", "GEORADIUSBYMEMBER_RO":
		if c.has("WITHCOORD") {
			return each(element(last, each(asDouble)))
		}
	case "VADD", "VREM", "VSETATTR", "VISMEMBER":
		return asBool
	case "VEMB":
		return embedding
	case "VINFO":
		return asMap
	case "VLINKS":
		if c.from(3).has("WITHSCORES") {
			return each(scoredMap)
		}
	case "VSIM":
		switch options := c.from(4); {
		case options.has("WITHSCORES") && options.has("WITHATTRIBS"):
			return scoredWithAttributes
		case options.has("WITHSCORES"):
			return scoredMap
		case options.has("WITHATTRIBS"):
			return asMap
		}
	case "LCS":
		if c.has("IDX") {
			return asMap
		}
	case "HRANDFIELD":
		if c.has("WITHVALUES") {
			return asPairs
		}
	case "ZPOPMIN", "ZPOPMAX":
		if len(c.args) < 3 {
			return element(last, asDouble)
		}
		return scored
	case "ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE", "ZUNION", "ZINTER", "ZDIFF", "ZRANDMEMBER":
		if c.has("WITHSCORES") {
			return scored
		}
	}
	return nil
}

// asMap is a map of an array whose elements alternate, or are pairs.
func asMap(v resp.Value) resp.Value {
	if v.Kind != resp.Array {
		return v
	}
	if len(v.Elems) > 0 && v.Elems[0].Kind == resp.Array {
		v.Elems = flattened(v.Elems)
	}
	if len(v.Elems)%2 != 0 {
		return v
	}
	return resp.MakeMap(v.Elems...)
}

// asPairs is an array of pairs of an array whose elements alternate.
func asPairs(v resp.Value) resp.Value {
	if v.Kind != resp.Array || len(v.Elems)%2 != 0 || len(v.Elems) > 0 && v.Elems[0].Kind == resp.Array {
		return v
	}
	pairs := resp.EmptyArray
	for i := 0; i < len(v.Elems); i += 2 {
		pairs.Elems = append(pairs.Elems, resp.MakeArray(v.Elems[i], v.Elems[i+1]))
	}
	return pairs
}

func scored(v resp.Value) resp.Value { return each(element(last, asDouble))(asPairs(v)) }

// asDouble is a double of a string that is one.
func asDouble(v resp.Value) resp.Value {
	f, err := strconv.ParseFloat(string(v.Str), 64)
	if v.Kind != resp.Bulk || err != nil {
		return v
	}
	return resp.Value{Kind: resp.Double, Float: f, Str: v.Str}
}

// asInteger is a number beyond 64 bits of a string that is one.
func asInteger(v resp.Value) resp.Value {
	if _, err := strconv.ParseUint(string(v.Str), 10, 64); v.Kind != resp.Bulk || err != nil {
		return v
	}
	return resp.Value{Kind: resp.BigNumber, Str: v.Str}
}

// asBool is a boolean of 0 or 1.
func asBool(v resp.Value) resp.Value {
	if v.Kind == resp.Int {
		v.Kind = resp.Bool
	}
	return v
}

// embedding is what VEMB answers: doubles, or with RAW how the vector is kept, its
// bytes, and doubles.
func embedding(v resp.Value) resp.Value {
	if v.Kind != resp.Array || len(v.Elems) == 0 {
		return v
	}
	changed, raw := slices.Clone(v.Elems), 0
	if _, err := strconv.ParseFloat(string(changed[0].Str), 64); changed[0].Kind != resp.Double && err != nil {
		raw = 2
	}
	for i := raw; i < len(changed); i++ {
		changed[i] = asDouble(changed[i])
	}
	return resp.MakeArray(changed...)
}

func scoredMap(v resp.Value) resp.Value { return eachValue(asMap(v), asDouble) }

// scoredWithAttributes is a map of elements to their score and attributes, of an
// array in which the three alternate.
func scoredWithAttributes(v resp.Value) resp.Value {
	if v.Kind != resp.Array || len(v.Elems)%3 != 0 {
		return v
	}
	m := resp.EmptyMap
	for i := 0; i < len(v.Elems); i += 3 {
		m.Elems = append(m.Elems, v.Elems[i], resp.MakeArray(asDouble(v.Elems[i+1]), v.Elems[i+2]))
	}
	return m
}

// each changes the elements of an array.
func each(change func(resp.Value) resp.Value) func(resp.Value) resp.Value {
	return func(v resp.Value) resp.Value {
		if v.Kind != resp.Array {
			return v
		}
		changed := make([]resp.Value, len(v.Elems))
		for i, e := range v.Elems {
			changed[i] = change(e)
		}
		return resp.MakeArray(changed...)
	}
}

// The ends of an array.
const (
	first = iota
	last
)

// element changes one element of an array.
func element(end int, change func(resp.Value) resp.Value) func(resp.Value) resp.Value {
	return func(v resp.Value) resp.Value {
		if v.Kind != resp.Array || len(v.Elems) == 0 {
			return v
		}
		changed := slices.Clone(v.Elems)
		at := 0
		if end == last {
			at = len(changed) - 1
		}
		changed[at] = change(changed[at])
		return resp.MakeArray(changed...)
	}
}

// streamInfo is what XINFO STREAM answers: with FULL its groups are maps, and their
// consumers.
func streamInfo(v resp.Value) resp.Value {
	return within(asMap(v), "groups", each(func(group resp.Value) resp.Value {
		return within(asMap(group), "consumers", each(asMap))
	}))
}

// functionStats is what FUNCTION STATS answers: a map of engines, each a map.
func functionStats(v resp.Value) resp.Value {
	return within(asMap(v), "engines", func(v resp.Value) resp.Value { return eachValue(asMap(v), asMap) })
}

// arrayInfo is what ARINFO answers, whose averages are doubles.
func arrayInfo(v resp.Value) resp.Value {
	v = asMap(v)
	for _, average := range []string{"avg-dense-size", "avg-dense-fill", "avg-sparse-size"} {
		v = within(v, average, asDouble)
	}
	return v
}

// within changes the value of a key of a map.
func within(m resp.Value, key string, change func(resp.Value) resp.Value) resp.Value {
	if m.Kind != resp.Map {
		return m
	}
	changed := slices.Clone(m.Elems)
	for i := 0; i+1 < len(changed); i += 2 {
		if string(changed[i].Str) == key {
			changed[i+1] = change(changed[i+1])
		}
	}
	return resp.MakeMap(changed...)
}

// commandInfo is what COMMAND INFO answers about a command.
func commandInfo(v resp.Value) resp.Value {
	const facts, keySpecs, subcommands = 10, 8, 9
	if v.Kind != resp.Array || len(v.Elems) != facts {
		return v
	}
	changed := slices.Clone(v.Elems)
	changed[keySpecs] = each(func(spec resp.Value) resp.Value {
		spec = asMap(spec)
		for _, search := range []string{"begin_search", "find_keys"} {
			spec = within(spec, search, func(v resp.Value) resp.Value { return within(asMap(v), "spec", asMap) })
		}
		return spec
	})(changed[keySpecs])
	changed[subcommands] = each(commandInfo)(changed[subcommands])
	return resp.MakeArray(changed...)
}

// eachValue changes the values of a map.
func eachValue(m resp.Value, change func(resp.Value) resp.Value) resp.Value {
	if m.Kind != resp.Map {
		return m
	}
	changed := slices.Clone(m.Elems)
	for i := 1; i < len(changed); i += 2 {
		changed[i] = change(changed[i])
	}
	return resp.MakeMap(changed...)
}

// commandDocs is what COMMAND DOCS answers: a map of commands, each a map.
func commandDocs(v resp.Value) resp.Value {
	return eachValue(asMap(v), func(v resp.Value) resp.Value {
		return within(within(asMap(v), "arguments", argumentDocs), "subcommands", commandDocs)
	})
}

func argumentDocs(v resp.Value) resp.Value {
	return each(func(arg resp.Value) resp.Value { return within(asMap(arg), "arguments", argumentDocs) })(v)
}

// Replies are those of one session, in their order, so that it is known to what the
// replies inside EXEC's are.
type Replies struct {
	queued []func(resp.Value) resp.Value
}

// RESP3 is as the function RESP3, and does the same for what is inside EXEC's reply.
func (r *Replies) RESP3(args [][]byte, v resp.Value) resp.Value {
	if len(args) == 0 {
		return v
	}
	if v.Kind == resp.Status && string(v.Str) == "QUEUED" {
		r.queued = append(r.queued, newCall(args).reshape())
		return v
	}
	switch c := newCall(args); c.name {
	case "MULTI", "EXEC", "DISCARD", "RESET":
		if c.name == "MULTI" && v.IsError() { // it is open already, and stays so
			return v
		}
		queued := r.queued
		r.queued = nil
		if c.name == "EXEC" && v.Kind == resp.Array && len(v.Elems) == len(queued) {
			return inEach(queued, v)
		}
		return v
	}
	return RESP3(args, v)
}

func inEach(reshape []func(resp.Value) resp.Value, v resp.Value) resp.Value {
	changed := slices.Clone(v.Elems)
	for i, change := range reshape {
		if change != nil && !changed[i].IsError() {
			changed[i] = change(changed[i])
		}
	}
	return resp.MakeArray(changed...)
}
