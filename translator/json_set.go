package translator

import (
	"bytes"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/document"
)

// jsonOptions holds the options after the value of JSON.SET and JSON.MERGE.
type jsonOptions struct{ nx, xx bool }

// jsonOptions parses the options from argument 4 on; only JSON.SET has conditions.
func (c *Call) jsonOptions(conditions bool) (o jsonOptions, bad resp.Value) {
	for i := 4; i < len(c.Args); i++ {
		free := conditions && !o.nx && !o.xx
		switch {
		case free && c.is(i, "NX"):
			o.nx = true
		case free && c.is(i, "XX"):
			o.xx = true
		case !c.is(i, "FORMAT"):
			return o, resp.MakeError(errSyntax)
		case i+1 == len(c.Args):
			return o, commands.WrongArity(c.Command)
		case !c.is(i+1, "STRING") && !c.is(i+1, "JSON"):
			return o, resp.MakeError("ERR wrong format")
		default:
			i++
		}
	}
	return o, resp.Value{}
}

// jsonChange is one value to put at one path of one document.
type jsonChange struct {
	path  *document.Path
	value *document.Value
}

// jsonChange parses a path and a value, arguments i and i+1.
func (c *Call) jsonChange(i int) (ch jsonChange, bad resp.Value) {
	values, bad := c.jsonValues(c.Args[i+1 : i+2])
	if bad.IsError() {
		return ch, bad
	}
	ch.value = values[0]
	ch.path, bad = c.jsonPath(i)
	return ch, bad
}

func jsonSet(c *Call) Plan {
	o, bad := c.jsonOptions(true)
	if bad.IsError() {
		return answer(bad)
	}
	ch, bad := c.jsonChange(2)
	switch {
	case bad.IsError():
		return answer(bad)
	case ch.path.IsRoot():
		return c.jsonReplace(ch.value, o)
	}
	return c.jsonPut(func(root *document.Value, w *store.Work) (*document.Value, resp.Value) { return ch.set(root, o, w) })
}

// jsonReplace replaces a whole document.
func (c *Call) jsonReplace(value *document.Value, o jsonOptions) Plan {
	return readThen(func(r *store.Result) Plan {
		text, bad := documentText(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case o.nx && text != nil, o.xx && text == nil:
			return answer(resp.Nil)
		}
		return c.saveJSON(c.Args[1], jsonDoc{root: value, text: text, work: r.Work}, resp.OK)
	}, c.stmt(sqlDocument, c.Args[1]))
}

func jsonMerge(c *Call) Plan {
	if _, bad := c.jsonOptions(false); bad.IsError() {
		return answer(bad)
	}
	ch, bad := c.jsonChange(2)
	if bad.IsError() {
		return answer(bad)
	}
	return c.jsonPut(ch.merge)
}

// jsonPut stores the document that apply returns. apply receives nil for a missing document; it returns the document,
// unchanged if there is nothing to do, and the reply.
func (c *Call) jsonPut(apply func(root *document.Value, w *store.Work) (*document.Value, resp.Value)) Plan {
	key := c.Args[1]
	return readThen(func(r *store.Result) Plan {
		d, bad := loadJSON(r.Rows[0], r.Work)
		if bad.IsError() {
			return answer(bad)
		}
		root, reply := apply(d.root, r.Work)
		if reply.IsError() || reply.IsNull() {
			return answer(reply)
		}
		d.root = root
		return c.saveJSON(key, d, reply)
	}, c.stmt(sqlDocument, key))
}

// set puts the value at every place of the path, or adds the key if only the last step of the path is missing. The
// reply is nil if a condition is not met.
func (ch jsonChange) set(root *document.Value, o jsonOptions, w *store.Work) (*document.Value, resp.Value) {
	switch {
	case root == nil && o.xx:
		return nil, resp.Nil
	case ch.path.IsRoot() && root != nil && o.nx:
		return root, resp.Nil
	case ch.path.IsRoot():
		return ch.value, resp.OK
	case root == nil:
		return nil, jsonNotRoot
	}
	found := ch.path.SelectUnique(root, w)
	switch {
	case o.nx || len(found) == 0 && !o.xx:
		return root, ch.add(root, len(found) > 0, w)
	case len(found) == 0:
		return root, resp.Nil
	}
	last := len(found) - 1
	if tooDeep(root, found, ch.value.Depth()) {
		return root, resp.Nil
	}
	charge := copying(ch.value)
	for _, v := range found[:last] {
		charge(w)
		*v = *ch.value.Clone()
	}
	*found[last] = *ch.value
	return root, resp.OK
}

// add adds the key of the path's last step to the object at its parent path. It adds nothing, and the reply is nil, if
// the object is missing or the path already exists.
func (ch jsonChange) add(root *document.Value, found bool, w *store.Work) resp.Value {
	parent, key, named, ok := ch.path.Child()
	switch {
	case !ok:
		return resp.MakeError("Err wrong static path")
	case found:
		return resp.Nil
	case !named:
		return resp.MakeError("ERR array index out of range")
	}
	for _, v := range parent.Select(root, w) {
		if v.Kind == document.Object {
			if tooDeep(root, []*document.Value{v}, 1+ch.value.Depth()) {
				return resp.Nil
			}
			v.Put(key, ch.value)
			return resp.OK
		}
	}
	return resp.Nil
}

// merge merges the value into every place of the path, by RFC 7396: null deletes a key. Where no value exists to merge
// with, the value is stored unchanged, including its nulls.
func (ch jsonChange) merge(root *document.Value, w *store.Work) (*document.Value, resp.Value) {
	switch {
	case root == nil && ch.path.IsRoot():
		return ch.value, resp.OK
	case root == nil:
		return nil, jsonNotRoot
	}
	found := ch.path.SelectUnique(root, w)
	if len(found) == 0 {
		return root, ch.add(root, false, w)
	}
	switch {
	case tooDeep(root, found, ch.value.Depth()):
		return root, resp.Nil
	case ch.value.Kind == document.Null:
		doomed := map[*document.Value]bool{}
		for _, v := range found {
			doomed[v] = true
		}
		root.Nullify(doomed)
		return root, resp.OK
	}
	charge := copying(ch.value)
	for _, v := range found {
		charge(w)
		v.Merge(ch.value)
	}
	return root, resp.OK
}

// jsonMset applies its changes in order, each to the result of the changes before it. The reply is nil if one of them
// has no place.
func jsonMset(c *Call) Plan {
	if len(c.Args)%3 != 1 {
		return answer(commands.WrongArity(c.Command))
	}
	var stmts []store.Stmt
	var changes []jsonChange
	for i := 1; i < len(c.Args); i += 3 {
		ch, bad := c.jsonChange(i + 1)
		if bad.IsError() {
			return answer(bad)
		}
		changes = append(changes, ch)
		stmts = append(stmts, c.stmt(sqlDocument, c.Args[i]))
	}
	return readThen(func(r *store.Result) Plan {
		docs, all := map[string]*jsonDoc{}, resp.OK
		for i, rows := range r.Rows {
			key := string(c.Args[1+3*i])
			if docs[key] == nil {
				d, bad := loadJSON(rows, r.Work)
				if bad.IsError() {
					return answer(bad)
				}
				docs[key] = &d
			}
			root, reply := changes[i].set(docs[key].root, jsonOptions{}, r.Work)
			switch {
			case reply.IsError():
				return answer(reply)
			case reply.IsNull():
				all = reply
			}
			docs[key].root = root
		}
		return c.storeAll(docs, all, r.Work)
	}, stmts...)
}

// storeAll stores the documents that changed, in the order of JSON.MSET's arguments.
func (c *Call) storeAll(docs map[string]*jsonDoc, reply resp.Value, w *store.Work) Plan {
	var stmts []store.Stmt
	for i := 1; i < len(c.Args); i += 3 {
		d := docs[string(c.Args[i])]
		if text := storedJSON(d.root, w); !bytes.Equal(text, d.text) {
			stmts = c.storeJSON(stmts, c.Args[i], text)
			d.text = text
		}
	}
	if len(stmts) == 0 {
		return answer(reply)
	}
	return write(always(reply), stmts...)
}

// jsonDel translates JSON.DEL and JSON.FORGET. For a missing document the reply is 0. Deleting the root, or all
// elements of the root, deletes the key.
func jsonDel(c *Call) Plan {
	path, bad := c.lastPath(2)
	if bad.IsError() {
		return answer(bad)
	}
	key := c.Args[1]
	return c.withJSON(key, resp.Zero, func(d jsonDoc) Plan {
		if path.IsRoot() {
			return write(always(resp.One), c.drop(key))
		}
		doomed := map[*document.Value]bool{}
		for _, v := range path.Select(d.root, d.work) {
			doomed[v] = true
		}
		n := d.root.Prune(doomed)
		if n > 0 && len(d.root.Elems) == 0 {
			return write(always(resp.MakeInt(int64(n))), c.drop(key))
		}
		return c.saveJSON(key, d, resp.MakeInt(int64(n)))
	})
}

// jsonClear counts the values it clears, but not the values inside them.
func jsonClear(c *Call) Plan {
	path, bad := c.lastPath(2)
	if bad.IsError() {
		return answer(bad)
	}
	return c.changeJSON(c.Args[1], jsonNoKey, func(root *document.Value, w *store.Work) resp.Value {
		var n int64
		gone := map[*document.Value]bool{}
		for _, v := range path.SelectUnique(root, w) {
			if gone[v] || len(v.Elems) == 0 && (!v.IsNumber() || v.Double() == 0) {
				continue
			}
			v.Each(func(inner *document.Value) { gone[inner] = true })
			*v = document.Value{Kind: v.Kind}
			if v.IsNumber() {
				v.Kind = document.Int
			}
			n++
		}
		return resp.MakeInt(n)
	})
}
