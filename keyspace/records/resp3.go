package records

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// RESP3 converts v, the reply to args, to its RESP3 shape. Servers that speak RESP2 and REST
// endpoints send arrays and strings for maps, pairs and doubles. A reply already in its RESP3
// shape is unchanged. So are replies to JSON.RESP and FORMAT EXPAND, whose numbers may be
// strings, and the replies inside an EXEC reply: see Replies.
func RESP3(args [][]byte, v resp.Value) resp.Value {
	if v.IsError() || len(args) == 0 {
		return v
	}
	return reshaped(commands.Known(args).Reply(args).RESP3, v)
}

// reshaped converts v to shape. A nil shape leaves v unchanged.
func reshaped(shape *commands.Shape, v resp.Value) resp.Value {
	if shape == nil || v.IsError() {
		return v
	}
	if form := forms[shape.Form]; form != nil {
		v = form(v)
	}
	if len(v.Elems) == 0 || v.Kind != resp.Array && v.Kind != resp.Map {
		return v
	}
	v.Elems = slices.Clone(v.Elems)
	for i := range v.Elems {
		if v.Kind == resp.Array || i%2 == 1 {
			v.Elems[i] = reshaped(shape.Each, v.Elems[i])
		}
	}
	if v.Kind == resp.Array {
		reshapePlaces(shape, v.Elems)
	} else {
		reshapeFields(shape, v.Elems)
	}
	return v
}

// reshapePlaces converts the elements of an array that have a shape by their index.
func reshapePlaces(shape *commands.Shape, elems []resp.Value) {
	for _, placed := range shape.At {
		at := placed.Place
		if at < 0 {
			at += len(elems)
		}
		if at < len(elems) {
			elems[at] = reshaped(placed.Of, elems[at])
		}
	}
}

// reshapeFields converts the values of a map that have a shape by their key.
func reshapeFields(shape *commands.Shape, pairs []resp.Value) {
	for i := 0; i+1 < len(pairs); i += 2 {
		for _, named := range shape.Named {
			if named.Key == string(pairs[i].Str) {
				pairs[i+1] = reshaped(named.Of, pairs[i+1])
			}
		}
	}
}

// forms convert a value that has the matching RESP2 form, and return any other value unchanged.
var forms = [...]func(resp.Value) resp.Value{
	commands.ToMap: asMap, commands.ToPairs: asPairs, commands.ToThirds: asThirds,
	commands.ToDouble: asDouble, commands.ToUnsigned: asUnsigned, commands.ToBool: asBool,
	commands.ToNumbers: asNumbers, commands.ToOne: asOne, commands.ToOneList: asOneList,
}

// asMap converts an array of alternating keys and values, or of pairs, to a map.
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

// asPairs converts an array of alternating elements to an array of pairs.
func asPairs(v resp.Value) resp.Value {
	if v.Kind != resp.Array || len(v.Elems)%2 != 0 || len(v.Elems) > 0 && v.Elems[0].Kind == resp.Array {
		return v
	}
	pairs := resp.EmptyArray
	for pair := range slices.Chunk(v.Elems, 2) {
		pairs.Elems = append(pairs.Elems, resp.MakeArray(pair...))
	}
	return pairs
}

// asThirds converts an array of keys, each followed by two values, to a map from keys to pairs.
func asThirds(v resp.Value) resp.Value {
	if v.Kind != resp.Array || len(v.Elems)%3 != 0 {
		return v
	}
	m := resp.EmptyMap
	for third := range slices.Chunk(v.Elems, 3) {
		m.Elems = append(m.Elems, third[0], resp.MakeArray(third[1:]...))
	}
	return m
}

// asDouble parses a string as a double.
func asDouble(v resp.Value) resp.Value {
	f, err := strconv.ParseFloat(string(v.Str), 64)
	if v.Kind != resp.Bulk || err != nil {
		return v
	}
	return resp.Value{Kind: resp.Double, Float: f, Str: v.Str}
}

// asUnsigned parses a string as an unsigned number that may exceed the int64 range.
func asUnsigned(v resp.Value) resp.Value {
	if _, err := strconv.ParseUint(string(v.Str), 10, 64); v.Kind != resp.Bulk || err != nil {
		return v
	}
	return resp.Value{Kind: resp.BigNumber, Str: v.Str}
}

// asBool converts an integer to a boolean. CF.INSERT's -1 is false.
func asBool(v resp.Value) resp.Value {
	if v.Kind == resp.Int {
		v.Kind, v.Int = resp.Bool, max(v.Int, 0)
	}
	return v
}

// asNumbers converts JSON text of one number or a list of numbers to an array.
func asNumbers(v resp.Value) resp.Value {
	if v.IsNull() {
		return resp.MakeArray(v)
	}
	text := v.Str
	if !bytes.HasPrefix(text, []byte("[")) {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	var list []*json.Number
	if v.Kind != resp.Bulk || json.Unmarshal(text, &list) != nil {
		return v
	}
	numbers := resp.EmptyArray
	for _, n := range list {
		switch {
		case n == nil:
			numbers.Elems = append(numbers.Elems, resp.Nil)
		default:
			numbers.Elems = append(numbers.Elems, number3(n))
		}
	}
	return numbers
}

// number3 converts a JSON number to an RESP3 integer or double.
func number3(n *json.Number) resp.Value {
	if i, err := n.Int64(); err == nil {
		return resp.MakeInt(i)
	}
	f, _ := n.Float64()
	return resp.MakeDouble(f)
}

// asOne wraps a value in an array unless it is an array.
func asOne(v resp.Value) resp.Value {
	if v.Kind == resp.Array {
		return v
	}
	return resp.MakeArray(v)
}

// asOneList wraps an array or a null in an array.
func asOneList(v resp.Value) resp.Value {
	if v.Kind == resp.Array && len(v.Elems) > 0 && (v.Elems[0].Kind == resp.Array || v.Elems[0].IsNull()) {
		return v
	}
	return resp.MakeArray(v)
}

// Replies converts the replies of one session, in order. It remembers the commands queued by
// MULTI to convert the replies inside an EXEC reply.
type Replies struct {
	queued []*commands.Shape
}

// RESP3 does the same as the function RESP3, and also converts the replies inside an EXEC
// reply.
func (r *Replies) RESP3(args [][]byte, v resp.Value) resp.Value {
	cmd := commands.Known(args)
	if cmd == nil {
		return v
	}
	if v.Kind == resp.Status && string(v.Str) == "QUEUED" {
		r.queued = append(r.queued, cmd.Reply(args).RESP3)
		return v
	}
	switch cmd.Name {
	case "MULTI", "EXEC", "DISCARD", "RESET":
		if cmd.Name == "MULTI" && v.IsError() { // nested MULTI: the open transaction continues
			return v
		}
		queued := r.queued
		r.queued = nil
		if cmd.Name == "EXEC" && v.Kind == resp.Array && len(v.Elems) == len(queued) {
			return inEach(queued, v)
		}
		return v
	}
	return RESP3(args, v)
}

// inEach converts each element to the shape of its command.
func inEach(shapes []*commands.Shape, v resp.Value) resp.Value {
	changed := slices.Clone(v.Elems)
	for i, shape := range shapes {
		changed[i] = reshaped(shape, changed[i])
	}
	return resp.MakeArray(changed...)
}
