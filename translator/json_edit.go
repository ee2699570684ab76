package translator

import (
	"bytes"
	"slices"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/document"
)

// jsonEdit changes each value of certain kinds at a path.
type jsonEdit struct {
	path *document.Path
	fits func(*document.Value) bool
	// noMatch holds the error of a legacy path without a value that fits.
	noMatch resp.Value
	// apply changes one value and returns its reply. An error refuses the whole command.
	apply func(*document.Value, *store.Work) resp.Value
	// backwards changes later and inner values first; for a legacy path in the order of LeavesFirst.
	backwards bool
	// adds holds the values that apply inserts; they may nest too deep.
	adds []*document.Value
	// shape, unless nil, makes the reply from the replies for each value, nil for values that do not fit, and from the
	// reply of a legacy path.
	shape func(each, legacy resp.Value) resp.Value
}

const pointerBytes = 8

// edit plans the edit. It replies with an array of the replies for each value, nil for values that do not fit. A legacy
// path also changes all values that fit, but replies for the one changed last.
func (c *Call) edit(e jsonEdit) Plan {
	return c.changeJSON(c.Args[1], jsonNoKey, func(root *document.Value, w *store.Work) resp.Value {
		values := e.path.Select(root, w)
		if e.path.Legacy && e.backwards {
			values = leavesFirst(root, values)
		}
		if len(e.adds) > 0 && tooDeep(root, fitting(values, e.fits), deepest(e.adds)) {
			return jsonTooDeep
		}
		each, last, ok := e.applyAll(values, w)
		if !ok {
			return last
		}
		return e.reply(each, last)
	})
}

// applyAll applies the edit to all values that fit. It returns the replies for each value and for the one changed last,
// which is an error if ok is false.
func (e *jsonEdit) applyAll(values []*document.Value, w *store.Work) (each []resp.Value, last resp.Value, ok bool) {
	w.Grow(int64(len(values)) * store.ValueBytes)
	each, last = make([]resp.Value, len(values)), e.noMatch
	charge := copying(e.adds...)
	for i := range values {
		if e.backwards && !e.path.Legacy {
			i = len(values) - 1 - i
		}
		if !e.fits(values[i]) {
			continue
		}
		if len(e.adds) > 0 {
			charge(w)
			w.Grow(2 * pointerBytes * int64(len(values[i].Elems)))
		}
		if last = e.apply(values[i], w); last.IsError() {
			return nil, last, false
		}
		each[i] = last
	}
	return each, last, true
}

// reply returns the reply to an edit. each holds the replies for the values, last the one for the value changed last.
func (e *jsonEdit) reply(each []resp.Value, last resp.Value) resp.Value {
	reply := resp.MakeArray(each...)
	switch {
	case e.shape != nil:
		return e.shape(reply, last)
	case e.path.Legacy:
		return last
	}
	return reply
}

func fitting(values []*document.Value, fits func(*document.Value) bool) []*document.Value {
	return slices.DeleteFunc(slices.Clone(values), func(v *document.Value) bool { return !fits(v) })
}

// leavesFirst sorts values of the document in the order of LeavesFirst.
func leavesFirst(root *document.Value, values []*document.Value) []*document.Value {
	if len(values) < 2 {
		return values
	}
	rank := map[*document.Value]int{}
	for i, v := range root.LeavesFirst() {
		rank[v] = i
	}
	values = slices.Clone(values)
	slices.SortStableFunc(values, func(a, b *document.Value) int { return rank[a] - rank[b] })
	return values
}

// editArrays is edit for the arrays at the path in argument i; apply inserts adds.
func (c *Call) editArrays(i int, backwards bool, adds []*document.Value, apply func(*document.Value, *store.Work) resp.Value) Plan {
	path, bad := c.jsonPath(i)
	if bad.IsError() {
		return answer(bad)
	}
	return c.edit(jsonEdit{path: path, fits: isKind(document.Array), noMatch: errNoPathOr("not an array"), apply: apply, backwards: backwards, adds: adds})
}

func isKind(kind document.Kind) func(*document.Value) bool {
	return func(v *document.Value) bool { return v.Kind == kind }
}

func jsonToggle(c *Call) Plan {
	path, bad := c.jsonPath(2)
	if bad.IsError() {
		return answer(bad)
	}
	return c.edit(jsonEdit{path: path, fits: isKind(document.Bool), noMatch: errNoPathOr("not a bool"),
		apply: func(v *document.Value, _ *store.Work) resp.Value {
			v.Bool = !v.Bool
			switch {
			case path.Legacy:
				return resp.MakeString(jsonWord(v.Bool))
			case v.Bool:
				return resp.One
			}
			return resp.Zero
		}})
}

// jsonNumber translates JSON.NUMINCRBY and its siblings. Over RESP2 the reply is JSON: for a JSONPath an array with
// null for values that are not numbers. Over RESP3 it is an array of numbers, also for a legacy path.
func jsonNumber(op document.Operation) func(*Call) Plan {
	return func(c *Call) Plan {
		path, bad := c.jsonPath(2)
		if bad.IsError() {
			return answer(bad)
		}
		args, bad := c.jsonValues(c.Args[3:])
		switch {
		case bad.IsError():
			return answer(bad)
		case !args[0].IsNumber():
			return fail("ERR bad input number")
		}
		return c.edit(jsonEdit{path: path, fits: (*document.Value).IsNumber, noMatch: errNoPathOr("does not contains a number"),
			apply: func(v *document.Value, w *store.Work) resp.Value {
				w.Grow(2 * store.ValueBytes)
				n, err := op(v, args[0])
				if err != nil {
					return resp.MakeError(err.Error())
				}
				*v = *n
				text := jsonText(v, w)
				number := jsonNumeral(v)
				text.RESP3 = &number
				return text
			},
			shape: func(each, legacy resp.Value) resp.Value {
				text := joinJSON(each)
				if path.Legacy {
					text = legacy
				}
				text.RESP3 = &each
				return text
			}})
	}
}

// joinJSON joins an array of bulks of JSON into one JSON array.
func joinJSON(v resp.Value) resp.Value {
	parts := make([][]byte, len(v.Elems))
	for i, e := range v.Elems {
		parts[i] = e.Str
		if e.IsNull() {
			parts[i] = []byte("null")
		}
	}
	return resp.MakeBulk(slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]")))
}

// jsonStrappend takes the optional path from argument 2, before the string.
func jsonStrappend(c *Call) Plan {
	last := len(c.Args) - 1
	if last > 3 {
		return answer(commands.WrongArity(c.Command))
	}
	at := 2
	if last == 2 {
		at = len(c.Args) // no path
	}
	path, bad := c.jsonPath(at)
	if bad.IsError() {
		return answer(bad)
	}
	args, bad := c.jsonValues(c.Args[last:])
	switch {
	case bad.IsError():
		return answer(bad)
	case args[0].Kind != document.String:
		return answer(wrongKind(document.String))
	}
	return c.edit(jsonEdit{path: path, fits: isKind(document.String), noMatch: errNoPathOr("not a string"),
		apply: func(v *document.Value, w *store.Work) resp.Value {
			w.Grow(int64(len(v.Str) + len(args[0].Str)))
			v.Str += args[0].Str
			return jsonLength(v, w)
		}})
}
