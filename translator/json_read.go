package translator

import (
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/document"
)

// jsonGetOptions parses JSON.GET's options and paths. expand, unless nil, converts values to replies.
func (c *Call) jsonGetOptions() (f document.Format, expand jsonShape, paths []*document.Path, bad resp.Value) {
	for i := 2; i < len(c.Args); i++ {
		var part *string
		switch {
		case c.is(i, "INDENT"):
			part = &f.Indent
		case c.is(i, "NEWLINE"):
			part = &f.Newline
		case c.is(i, "SPACE"):
			part = &f.Space
		case c.is(i, "NOESCAPE"): // sent by old clients; without effect
			continue
		case c.is(i, "FORMAT"):
			i++
			if expand, bad = c.jsonShape(i, "STRING"); bad.IsError() {
				return f, nil, nil, bad
			}
			continue
		default:
			p, bad := c.jsonQuery(i)
			if bad.IsError() {
				return f, nil, nil, bad
			}
			paths = append(paths, p)
			continue
		}
		if i++; i == len(c.Args) {
			return f, nil, nil, commands.WrongArity(c.Command)
		}
		*part = string(c.Args[i])
	}
	if len(paths) == 0 {
		p, _ := c.jsonPath(len(c.Args))
		paths = append(paths, p)
	}
	return f, expand, paths, bad
}

func jsonGet(c *Call) Plan {
	format, expand, paths, bad := c.jsonGetOptions()
	if bad.IsError() {
		return answer(bad)
	}
	legacy := true
	for _, p := range paths {
		legacy = legacy && p.Legacy
	}
	plan := c.readJSON(c.Args[1], resp.Nil, func(root *document.Value, w *store.Work) resp.Value {
		if expand != nil {
			reply := resp.EmptyArray
			for _, p := range paths {
				reply.Elems = append(reply.Elems, collect(p.Select(root, w), w, expand))
			}
			return reply
		}
		found := &document.Value{Kind: document.Object}
		for _, p := range paths {
			v, bad := jsonFound(p, root, legacy, w)
			if bad.IsError() {
				return bad
			}
			if len(paths) == 1 {
				found = v
				break
			}
			found.Put(p.Text, v)
		}
		return jsonPrinted(found, format, w)
	})
	if legacy && len(paths) == 1 && paths[0].IsRoot() && expand == nil && format == (document.Format{}) {
		return asStored(plan)
	}
	return plan
}

// asStored changes the plan of a read of a whole document to return a large one without parsing it.
func asStored(plan Plan) Plan {
	decode := plan.Decode
	plan.Decode = func(r *store.Result) resp.Value {
		if text, _ := documentText(r.Rows[0]); len(text) >= LargeElement {
			return resp.MakeBulk(text)
		}
		return decode(r)
	}
	return plan
}

// jsonFound returns JSON.GET's reply for a path: an array of the selected values, or one value for a legacy path.
func jsonFound(p *document.Path, root *document.Value, legacy bool, w *store.Work) (*document.Value, resp.Value) {
	values := p.Select(root, w)
	switch {
	case !legacy:
		return &document.Value{Kind: document.Array, Elems: values}, resp.Value{}
	case len(values) == 0:
		return nil, jsonNoPath
	}
	return values[0], resp.Value{}
}

// jsonMget replies nil for a key that is missing or not a document, and nil for every key if the path is invalid.
func jsonMget(c *Call) Plan {
	n := len(c.Args) - 1
	path, bad := c.jsonQuery(n)
	stmts := make([]store.Stmt, n-1)
	for i, key := range c.Args[1:n] {
		stmts[i] = c.stmt(sqlDocument, key)
	}
	text := func(rows []store.Row, w *store.Work) resp.Value {
		if bad.IsError() {
			return resp.Nil
		}
		d, bad := loadJSON(rows, w)
		if bad.IsError() || d.root == nil {
			return resp.Nil
		}
		v, bad := jsonFound(path, d.root, path.Legacy, w)
		if bad.IsError() {
			return resp.Nil
		}
		return jsonText(v, w)
	}
	return read(func(r *store.Result) resp.Value {
		reply := resp.EmptyArray
		for _, rows := range r.Rows {
			reply.Elems = append(reply.Elems, text(rows, r.Work))
		}
		return reply
	}, stmts...)
}

// jsonMeasure reads the values of one kind at a path. It replies with of(value) for each, and nil for values of another
// kind. A legacy path has a reply for its first value only.
type jsonMeasure struct {
	kind document.Kind
	of   jsonShape
	// missing, nowhere and wrong are the replies for a legacy path if the key is missing, the path is missing, or the
	// value has another kind. noKey is the reply for a JSONPath if the key is missing.
	missing, nowhere, wrong, noKey resp.Value
}

// read plans the read, with an optional path as the last argument.
func (m jsonMeasure) read(c *Call) Plan {
	path, bad := c.lastPath(2)
	if bad.IsError() {
		return answer(bad)
	}
	return m.readPath(c, path)
}

func (m jsonMeasure) readPath(c *Call, path *document.Path) Plan {
	missing := m.missing
	if !path.Legacy {
		missing = m.noKey
	}
	return c.readJSON(c.Args[1], missing, func(root *document.Value, w *store.Work) resp.Value {
		values := path.Select(root, w)
		switch {
		case !path.Legacy:
			return collect(values, w, func(v *document.Value, w *store.Work) resp.Value {
				if v.Kind != m.kind {
					return resp.Nil
				}
				return m.of(v, w)
			})
		case len(values) == 0:
			return m.nowhere
		case values[0].Kind != m.kind:
			return m.wrong
		}
		return m.of(values[0], w)
	})
}

// As in RedisJSON, their errors differ.
var (
	jsonStrlen  = jsonMeasure{document.String, jsonLength, resp.Nil, jsonNoPath, wrongKind(document.String), jsonNoKey}.read
	jsonArrlen  = jsonMeasure{document.Array, jsonLength, resp.Nil, jsonNoPath, errNoPathOr("not an array"), jsonNoKey}.read
	jsonObjlen  = jsonMeasure{document.Object, jsonLength, resp.Nil, resp.Nil, wrongKind(document.Object), errNoPathOr("not an object")}.read
	jsonObjkeys = jsonMeasure{document.Object, jsonKeys, resp.Nil, resp.Nil, errNoPathOr("not an object"), jsonNoKey}.read
)

// jsonLength returns the number of bytes of a string, or of elements.
func jsonLength(v *document.Value, _ *store.Work) resp.Value {
	return resp.MakeInt(int64(len(v.Str) + len(v.Elems)))
}

func jsonKeys(v *document.Value, w *store.Work) resp.Value {
	w.Grow(2 * int64(len(v.Keys)) * store.ValueBytes)
	w.Step(8 * len(v.Keys))
	reply := resp.EmptyArray
	for _, key := range v.Keys {
		reply.Elems = append(reply.Elems, resp.MakeString(key))
	}
	return reply
}

// jsonAny reads the values at a path, whatever their kind. nowhere is the reply for a legacy path that is missing.
func (c *Call) jsonAny(key []byte, path *document.Path, missing, nowhere resp.Value, of jsonShape) Plan {
	return c.readJSON(key, missing, func(root *document.Value, w *store.Work) resp.Value {
		values := path.Select(root, w)
		switch {
		case !path.Legacy:
			return collect(values, w, of)
		case len(values) == 0:
			return nowhere
		}
		return of(values[0], w)
	})
}

// jsonTypes wraps the reply in one more array over RESP3.
func jsonTypes(c *Call) Plan {
	path, bad := c.lastPath(2)
	if bad.IsError() {
		return answer(bad)
	}
	wrapped := func(v resp.Value) resp.Value {
		around := resp.MakeArray(v)
		v.RESP3 = &around
		return v
	}
	return c.readJSON(c.Args[1], wrapped(resp.Nil), func(root *document.Value, w *store.Work) resp.Value {
		types := collect(path.Select(root, w), w, func(v *document.Value, _ *store.Work) resp.Value { return resp.MakeString(v.Kind.Type()) })
		switch {
		case !path.Legacy:
			return wrapped(types)
		case len(types.Elems) == 0:
			return wrapped(resp.Nil)
		}
		return wrapped(types.Elems[0])
	})
}

func jsonResp(c *Call) Plan {
	path, bad := c.jsonQuery(2)
	switch {
	case len(c.Args) > 3:
		return answer(commands.WrongArity(c.Command))
	case bad.IsError():
		return answer(bad)
	}
	return c.jsonAny(c.Args[1], path, resp.Nil, jsonNoPath, jsonReply)
}

// jsonShape converts a value to a reply.
type jsonShape func(*document.Value, *store.Work) resp.Value

// jsonShape parses the argument of FORMAT. The shape is nil for text, the default.
func (c *Call) jsonShape(i int, text string) (jsonShape, resp.Value) {
	switch {
	case c.Env.Reply.RESP2:
		return nil, resp.MakeError("ERR FORMAT argument is not supported on RESP2")
	case i == len(c.Args):
		return nil, commands.WrongArity(c.Command)
	case c.is(i, text):
		return nil, resp.Value{}
	case c.is(i, "EXPAND"):
		return jsonExpanded, resp.Value{}
	case c.is(i, "EXPAND1"):
		return jsonExpandedOnce, resp.Value{}
	}
	return nil, resp.MakeError("ERR wrong reply format")
}

// jsonExpanded returns a value in RESP3's types.
func jsonExpanded(v *document.Value, w *store.Work) resp.Value {
	switch v.Kind {
	case document.String:
		w.Grow(int64(len(v.Str)))
		return resp.MakeString(v.Str)
	case document.Array:
		return collect(v.Elems, w, jsonExpanded)
	case document.Object:
		reply := resp.EmptyMap
		w.Grow(2 * int64(len(v.Keys)) * store.ValueBytes)
		for i, key := range v.Keys {
			reply.Elems = append(reply.Elems, resp.MakeString(key), jsonExpanded(v.Elems[i], w))
		}
		return reply
	}
	return jsonExpandedOnce(v, w)
}

// jsonExpandedOnce is jsonExpanded, but strings, arrays and objects stay JSON.
func jsonExpandedOnce(v *document.Value, w *store.Work) resp.Value {
	switch v.Kind {
	case document.Null:
		return resp.Nil
	case document.Bool:
		reply := resp.Value{Kind: resp.Bool}
		if v.Bool {
			reply.Int = 1
		}
		return reply
	case document.Int, document.Uint, document.Float:
		return jsonNumeral(v)
	}
	return jsonText(v, w)
}

// jsonNumeral returns a number as an integer or a double.
func jsonNumeral(v *document.Value) resp.Value {
	if v.Kind == document.Int {
		return resp.MakeInt(v.Int)
	}
	return resp.MakeDouble(v.Double())
}

// jsonReply returns a value as nested replies. The first element of an array or an object is [ or {.
func jsonReply(v *document.Value, w *store.Work) resp.Value {
	switch v.Kind {
	case document.Bool:
		return resp.MakeStatus(jsonWord(v.Bool))
	case document.String:
		w.Grow(int64(len(v.Str)))
		return resp.MakeString(v.Str)
	case document.Array:
		list := collect(v.Elems, w, jsonReply)
		list.Elems = append([]resp.Value{resp.MakeStatus("[")}, list.Elems...)
		return list
	case document.Object:
		reply := resp.MakeArray(resp.MakeStatus("{"))
		w.Grow(2 * int64(len(v.Keys)) * store.ValueBytes)
		for i, key := range v.Keys {
			reply.Elems = append(reply.Elems, resp.MakeString(key), jsonReply(v.Elems[i], w))
		}
		return reply
	}
	return jsonExpandedOnce(v, w)
}

func jsonWord(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

var jsonDebugHelp = resp.MakeArray(
	resp.MakeString("MEMORY <key> [path] - estimate the bytes of memory of the values"),
	resp.MakeString("HELP - this text"))

func jsonDebug(c *Call) Plan {
	switch {
	case c.is(1, "HELP"):
		return answer(jsonDebugHelp)
	case !c.is(1, "MEMORY"):
		return fail("ERR unknown subcommand - try `JSON.DEBUG HELP`")
	case len(c.Args) == 2:
		return answer(commands.WrongArity(c.Command))
	}
	path, bad := c.lastPath(3)
	if bad.IsError() {
		return answer(bad)
	}
	missing := resp.EmptyArray
	if path.Legacy {
		missing = resp.Zero
	}
	return c.jsonAny(c.Args[2], path, missing, jsonNoPath, func(v *document.Value, _ *store.Work) resp.Value { return resp.MakeInt(jsonSize(v)) })
}

// jsonSize estimates the memory that Redis would need for a value: a word per value, and the text of strings and keys
// with a length.
func jsonSize(v *document.Value) int64 {
	const word = 8
	size := int64(word)
	if v.Kind == document.String {
		size += word + int64(len(v.Str))
	}
	for i, e := range v.Elems {
		size += jsonSize(e)
		if v.Kind == document.Object {
			size += 2*word + int64(len(v.Keys[i]))
		}
	}
	return size
}
