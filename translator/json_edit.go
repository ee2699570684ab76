package translator

import (
	"bytes"
	"slices"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/translator/document"
)

// jsonEdit is a change of the values of certain kinds at a path, each on its own.
type jsonEdit struct {
	path *document.Path
	fits func(*document.Value) bool
	// complaint is the error of a legacy path that leads to no value that fits.
	complaint string
	// apply changes one value and returns the reply for it. An error refuses
	// the whole command.
	apply func(*document.Value) resp.Value
	// join, unless nil, makes something else of the array of replies.
	join func(resp.Value) resp.Value
}

// edit plans the edit. The reply is the array of the replies for each value, nil
// for one that does not fit; a legacy path changes its first value that fits and
// answers for that.
func (c *Call) edit(e jsonEdit) Plan {
	return c.changeJSON(c.Args[1], jsonNoKey, func(root *document.Value) resp.Value {
		reply := resp.EmptyArray
		for _, v := range e.path.SelectOnce(root) {
			one := resp.Nil
			if e.fits(v) {
				if one = e.apply(v); one.IsError() || e.path.Legacy {
					return one
				}
			}
			reply.Elems = append(reply.Elems, one)
		}
		if e.path.Legacy {
			return resp.MakeError(oneLine(e.complaint))
		}
		if e.join != nil {
			return e.join(reply)
		}
		return reply
	})
}

// editArrays is edit for the arrays at the path in argument i.
func (c *Call) editArrays(i int, apply func(*document.Value) resp.Value) Plan {
	path, bad := c.jsonPath(i)
	if bad.IsError() {
		return answer(bad)
	}
	return c.edit(jsonEdit{path: path, fits: isKind(document.Array), complaint: orNot(path, "an array"), apply: apply})
}

func isKind(kind document.Kind) func(*document.Value) bool {
	return func(v *document.Value) bool { return v.Kind == kind }
}

// orNot is the complaint that a legacy path leads to nothing of a kind.
func orNot(path *document.Path, kind string) string {
	return "ERR Path '" + path.Text + "' does not exist or not " + kind
}

func jsonToggle(c *Call) Plan {
	path, bad := c.jsonPath(2)
	if bad.IsError() {
		return answer(bad)
	}
	return c.edit(jsonEdit{path: path, fits: isKind(document.Bool), complaint: orNot(path, "a bool"),
		apply: func(v *document.Value) resp.Value {
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

// jsonNumber is JSON.NUMINCRBY and its kin. A JSONPath's reply is JSON: an array
// with null for what is no number.
func jsonNumber(op document.Operation) func(*Call) Plan {
	return func(c *Call) Plan {
		path, bad := c.jsonPath(2)
		if bad.IsError() {
			return answer(bad)
		}
		args, bad := jsonValues(c.Args[3:])
		switch {
		case bad.IsError():
			return answer(bad)
		case !args[0].IsNumber():
			return fail("ERR expected a number")
		}
		edit := jsonEdit{path: path, fits: (*document.Value).IsNumber,
			complaint: "ERR Path '" + path.JSONPath() + "' does not exist or does not contains a number",
			apply: func(v *document.Value) resp.Value {
				n, ok := op(v, args[0])
				if !ok {
					return resp.MakeError("ERR result is not a number")
				}
				*v = *n
				return jsonText(v)
			},
			join: joinJSON}
		return c.edit(edit)
	}
}

// joinJSON makes one JSON array of an array of bulks of JSON.
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

// jsonStrappend takes the path from argument 2, when there is one before the
// string.
func jsonStrappend(c *Call) Plan {
	last := len(c.Args) - 1
	if last > 3 {
		return answer(wrongArity(c.Command))
	}
	at := 2
	if last == 2 {
		at = len(c.Args) // no path
	}
	path, bad := c.jsonPath(at)
	if bad.IsError() {
		return answer(bad)
	}
	args, bad := jsonValues(c.Args[last:])
	switch {
	case bad.IsError():
		return answer(bad)
	case args[0].Kind != document.String:
		return answer(wrongKind(document.String, args[0]))
	}
	return c.edit(jsonEdit{path: path, fits: isKind(document.String), complaint: orNot(path, "a string"),
		apply: func(v *document.Value) resp.Value {
			v.Str += args[0].Str
			return jsonLength(v)
		}})
}
