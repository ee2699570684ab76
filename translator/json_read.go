package translator

import (
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/document"
)

// jsonGetOptions reads JSON.GET's options and paths.
func (c *Call) jsonGetOptions() (f document.Format, paths []*document.Path, bad resp.Value) {
	for i := 2; i < len(c.Args); i++ {
		var part *string
		switch {
		case c.is(i, "INDENT"):
			part = &f.Indent
		case c.is(i, "NEWLINE"):
			part = &f.Newline
		case c.is(i, "SPACE"):
			part = &f.Space
		case c.is(i, "NOESCAPE"): // of old clients; it never had an effect here
			continue
		case c.is(i, "FORMAT"):
			if i++; i == len(c.Args) || !c.is(i, "STRING") {
				return f, nil, resp.MakeError(errSyntax)
			}
			continue
		default:
			p, bad := c.jsonPath(i)
			if bad.IsError() {
				return f, nil, bad
			}
			paths = append(paths, p)
			continue
		}
		if i++; i == len(c.Args) {
			return f, nil, wrongArity(c.Command)
		}
		*part = string(c.Args[i])
	}
	if len(paths) == 0 {
		p, _ := c.jsonPath(len(c.Args))
		paths = append(paths, p)
	}
	return f, paths, bad
}

func jsonGet(c *Call) Plan {
	format, paths, bad := c.jsonGetOptions()
	if bad.IsError() {
		return answer(bad)
	}
	legacy := true
	for _, p := range paths {
		legacy = legacy && p.Legacy
	}
	return c.readJSON(c.Args[1], resp.Nil, func(root *document.Value) resp.Value {
		found := &document.Value{Kind: document.Object}
		for _, p := range paths {
			v, bad := jsonFound(p, root, legacy)
			if bad.IsError() {
				return bad
			}
			if len(paths) == 1 {
				found = v
				break
			}
			found.Put(p.Text, v)
		}
		return resp.MakeBulk(format.Append(nil, found))
	})
}

// jsonFound is what JSON.GET answers for a path: the array of all it selects, or
// the one value of a legacy path.
func jsonFound(p *document.Path, root *document.Value, legacy bool) (*document.Value, resp.Value) {
	values := p.Select(root)
	switch {
	case !legacy:
		return &document.Value{Kind: document.Array, Elems: values}, resp.Value{}
	case len(values) == 0:
		return nil, noPath(p)
	}
	return values[0], resp.Value{}
}

// jsonMget answers nil for whatever is missing or no document.
func jsonMget(c *Call) Plan {
	n := len(c.Args) - 1
	path, bad := c.jsonPath(n)
	if bad.IsError() {
		return answer(bad)
	}
	stmts := make([]store.Stmt, n-1)
	for i, key := range c.Args[1:n] {
		stmts[i] = c.stmt(sqlDocument, key)
	}
	return read(func(r *store.Result) resp.Value {
		reply := resp.EmptyArray
		for _, rows := range r.Rows {
			text := resp.Nil
			if d, bad := loadJSON(rows); !bad.IsError() && d.root != nil {
				if v, bad := jsonFound(path, d.root, path.Legacy); !bad.IsError() {
					text = jsonText(v)
				}
			}
			reply.Elems = append(reply.Elems, text)
		}
		return reply
	}, stmts...)
}

// jsonMeasure is a read of the values of one kind at a path: of each what of makes
// of it, nil for one of another kind. A legacy path answers for its first value,
// and with an error when that is of another kind.
func jsonMeasure(kind document.Kind, of func(*document.Value) resp.Value) func(*Call) Plan {
	return func(c *Call) Plan {
		path, bad := c.lastPath(2)
		if bad.IsError() {
			return answer(bad)
		}
		return c.jsonEach(path, kind, resp.Nil, of)
	}
}

// jsonEach is jsonMeasure's plan for a path. missing answers a
// legacy path of a missing key.
func (c *Call) jsonEach(path *document.Path, kind document.Kind, missing resp.Value, of func(*document.Value) resp.Value) Plan {
	if !path.Legacy {
		missing = jsonNoKey
	}
	return c.readJSON(c.Args[1], missing, func(root *document.Value) resp.Value {
		values := path.Select(root)
		switch {
		case !path.Legacy:
			return collect(values, func(v *document.Value) resp.Value {
				if v.Kind != kind {
					return resp.Nil
				}
				return of(v)
			})
		case len(values) == 0 && missing.IsError():
			return noPath(path)
		case len(values) == 0:
			return resp.Nil
		case values[0].Kind != kind:
			return wrongKind(kind, values[0])
		}
		return of(values[0])
	})
}

// jsonLength is the number of bytes of a string, or of elements.
func jsonLength(v *document.Value) resp.Value { return resp.MakeInt(int64(len(v.Str) + len(v.Elems))) }

func jsonKeys(v *document.Value) resp.Value {
	reply := resp.EmptyArray
	for _, key := range v.Keys {
		reply.Elems = append(reply.Elems, resp.MakeString(key))
	}
	return reply
}

// jsonAny is a read of the values at the optional path in argument at, behind the
// key, whatever they are. missing answers for no key, and a legacy path to nowhere.
func (c *Call) jsonAny(at int, missing func(legacy bool) resp.Value, of func(*document.Value) resp.Value) Plan {
	path, bad := c.lastPath(at)
	if bad.IsError() {
		return answer(bad)
	}
	return c.readJSON(c.Args[at-1], missing(path.Legacy), func(root *document.Value) resp.Value {
		values := path.Select(root)
		switch {
		case !path.Legacy:
			return collect(values, of)
		case len(values) == 0:
			return missing(true)
		}
		return of(values[0])
	})
}

func nilEither(bool) resp.Value { return resp.Nil }

func jsonTypes(c *Call) Plan {
	return c.jsonAny(2, nilEither, func(v *document.Value) resp.Value { return resp.MakeString(v.Kind.Type()) })
}

func jsonResp(c *Call) Plan { return c.jsonAny(2, nilEither, jsonReply) }

// jsonReply is a value as nested replies. The first element of an array or
// object says which of the two it is.
func jsonReply(v *document.Value) resp.Value {
	switch v.Kind {
	case document.Null:
		return resp.Nil
	case document.Bool:
		return resp.MakeStatus(jsonWord(v.Bool))
	case document.Int:
		return resp.MakeInt(v.Int)
	case document.Uint, document.Float:
		return resp.MakeDouble(v.Double())
	case document.String:
		return resp.MakeString(v.Str)
	case document.Array:
		list := collect(v.Elems, jsonReply)
		list.Elems = append([]resp.Value{resp.MakeStatus("[")}, list.Elems...)
		return list
	}
	reply := resp.MakeArray(resp.MakeStatus("{"))
	for i, key := range v.Keys {
		reply.Elems = append(reply.Elems, resp.MakeString(key), jsonReply(v.Elems[i]))
	}
	return reply
}

func jsonWord(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

var jsonDebugHelp = resp.MakeArray(
	resp.MakeString("MEMORY <key> [path] - about how many bytes of memory the values take"),
	resp.MakeString("HELP - this text"))

func jsonDebug(c *Call) Plan {
	switch {
	case c.is(1, "HELP"):
		return answer(jsonDebugHelp)
	case !c.is(1, "MEMORY"):
		return fail("ERR unknown subcommand - try `JSON.DEBUG HELP`")
	case len(c.Args) == 2:
		return answer(wrongArity(c.Command))
	}
	missing := func(legacy bool) resp.Value {
		if legacy {
			return resp.Zero
		}
		return resp.EmptyArray
	}
	return c.jsonAny(3, missing, func(v *document.Value) resp.Value { return resp.MakeInt(jsonSize(v)) })
}

// jsonSize estimates what Redis would need for a value: a word for each, and the
// text of strings and keys behind its length.
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
