package translator

import (
	"bytes"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/document"
)

// jsonOptions are those behind the value of JSON.SET and JSON.MERGE.
type jsonOptions struct{ nx, xx bool }

// jsonOptions reads the options from argument 4 on; only JSON.SET has conditions.
func (c *Call) jsonOptions(conditions bool) (o jsonOptions, ok bool) {
	for i := 4; i < len(c.Args); i++ {
		switch {
		case conditions && c.is(i, "NX") && !o.xx:
			o.nx = true
		case conditions && c.is(i, "XX") && !o.nx:
			o.xx = true
		case c.is(i, "FORMAT") && i+1 < len(c.Args) && (c.is(i+1, "STRING") || c.is(i+1, "JSON")):
			i++
		default:
			return o, false
		}
	}
	return o, true
}

// jsonChange is one value to put at one path of one document.
type jsonChange struct {
	path  *document.Path
	value *document.Value
}

// jsonChange reads a path and a value, arguments i and i+1.
func (c *Call) jsonChange(i int) (ch jsonChange, bad resp.Value) {
	if ch.path, bad = c.jsonPath(i); bad.IsError() {
		return ch, bad
	}
	values, bad := jsonValues(c.Args[i+1 : i+2])
	if bad.IsError() {
		return ch, bad
	}
	ch.value = values[0]
	return ch, bad
}

func jsonSet(c *Call) Plan {
	o, ok := c.jsonOptions(true)
	if !ok {
		return fail(errSyntax)
	}
	return c.jsonPut(func(ch jsonChange, root *document.Value) (*document.Value, resp.Value) { return ch.set(root, o) })
}

func jsonMerge(c *Call) Plan {
	if _, ok := c.jsonOptions(false); !ok {
		return fail(errSyntax)
	}
	return c.jsonPut(jsonChange.merge)
}

// jsonPut is JSON.SET and JSON.MERGE: apply makes the new document, which is the
// old one when there is nothing to do, and the reply.
func (c *Call) jsonPut(apply func(ch jsonChange, root *document.Value) (*document.Value, resp.Value)) Plan {
	key := c.Args[1]
	ch, bad := c.jsonChange(2)
	if bad.IsError() {
		return answer(bad)
	}
	return readThen(func(r *store.Result) Plan {
		d, bad := loadJSON(r.Rows[0])
		if bad.IsError() {
			return answer(bad)
		}
		root, reply := apply(ch, d.root)
		if reply.IsError() || reply.IsNull() {
			return answer(reply)
		}
		d.root = root
		return c.saveJSON(key, d, reply)
	}, c.stmt(sqlDocument, key))
}

// set puts the value at every place of the path, or adds the key that only the
// last step of the path lacks. The reply is nil when a condition is not met.
func (ch jsonChange) set(root *document.Value, o jsonOptions) (*document.Value, resp.Value) {
	if root == nil && !ch.path.IsRoot() {
		return nil, jsonNotRoot
	}
	var found []*document.Value
	if root != nil {
		found = ch.path.SelectOnce(root)
	}
	switch {
	case o.nx && len(found) > 0 || o.xx && len(found) == 0:
		return root, resp.Nil
	case ch.path.IsRoot():
		return ch.value, resp.OK
	case len(found) == 0:
		parents, key, bad := ch.parents(root)
		if len(parents) == 0 {
			return root, bad
		}
		parents[0].Put(key, ch.value)
		return root, resp.OK
	}
	for _, v := range found {
		*v = *ch.value.Clone()
	}
	return root, resp.OK
}

// parents finds the object that a path leads to but for the key in its last
// step. Without one the reply says why: nil, or an error.
func (ch jsonChange) parents(root *document.Value) (objects []*document.Value, key string, reply resp.Value) {
	parent, key, named, ok := ch.path.Child()
	switch {
	case !ok:
		return nil, "", resp.MakeError("Err wrong static path")
	case !named:
		return nil, "", resp.MakeError("ERR array index out of range")
	}
	for _, v := range parent.Select(root) {
		if v.Kind == document.Object {
			objects = append(objects, v)
		}
	}
	return objects, key, resp.Nil
}

// merge merges the value into every place of the path, by RFC 7396.
func (ch jsonChange) merge(root *document.Value) (*document.Value, resp.Value) {
	switch {
	case root == nil && !ch.path.IsRoot():
		return nil, jsonNotRoot
	case ch.path.IsRoot():
		return document.Merge(root, ch.value), resp.OK
	}
	found := ch.path.SelectOnce(root)
	if len(found) == 0 {
		parents, key, bad := ch.parents(root)
		if len(parents) == 0 {
			return root, bad
		}
		if ch.value.Kind != document.Null {
			parents[0].Put(key, document.Merge(nil, ch.value))
		}
		return root, resp.OK
	}
	doomed := map[*document.Value]bool{}
	for _, v := range found {
		if ch.value.Kind == document.Null {
			doomed[v] = true
		} else {
			*v = *document.Merge(v, ch.value.Clone())
		}
	}
	root.Prune(doomed)
	return root, resp.OK
}

// jsonMset applies its changes in order, each to what the ones before it made.
func jsonMset(c *Call) Plan {
	if len(c.Args)%3 != 1 {
		return answer(wrongArity(c.Command))
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
		docs := map[string]*jsonDoc{}
		for i, rows := range r.Rows {
			key := string(c.Args[1+3*i])
			if docs[key] == nil {
				d, bad := loadJSON(rows)
				if bad.IsError() {
					return answer(bad)
				}
				docs[key] = &d
			}
			root, reply := changes[i].set(docs[key].root, jsonOptions{})
			if reply.IsError() {
				return answer(reply)
			}
			docs[key].root = root
		}
		return c.storeAll(docs)
	}, stmts...)
}

// storeAll stores the documents that differ from what was read, in the order of
// JSON.MSET's arguments.
func (c *Call) storeAll(docs map[string]*jsonDoc) Plan {
	var stmts []store.Stmt
	for i := 1; i < len(c.Args); i += 3 {
		d := docs[string(c.Args[i])]
		if d.root.Depth() > maxStoredDepth {
			return answer(jsonTooDeep)
		}
		if text := d.root.Append(nil); !bytes.Equal(text, d.text) {
			stmts = c.storeJSON(stmts, c.Args[i], text)
			d.text = text
		}
	}
	if len(stmts) == 0 {
		return answer(resp.OK)
	}
	return write(decodeOK, stmts...)
}

// jsonDel is JSON.DEL and JSON.FORGET. Without a document there is nothing to
// delete; without its root there is no document.
func jsonDel(c *Call) Plan {
	path, bad := c.lastPath(2)
	if bad.IsError() {
		return answer(bad)
	}
	key := c.Args[1]
	if path.IsRoot() {
		return c.withJSON(key, resp.Zero, func(jsonDoc) Plan { return write(always(resp.One), c.drop(key)) })
	}
	return c.changeJSON(key, resp.Zero, func(root *document.Value) resp.Value {
		doomed := map[*document.Value]bool{}
		for _, v := range path.Select(root) {
			doomed[v] = true
		}
		return resp.MakeInt(int64(root.Prune(doomed)))
	})
}

func jsonClear(c *Call) Plan {
	path, bad := c.lastPath(2)
	if bad.IsError() {
		return answer(bad)
	}
	return c.changeJSON(c.Args[1], jsonNoKey, func(root *document.Value) resp.Value {
		var n int64
		for _, v := range path.SelectOnce(root) {
			switch {
			case v.IsNumber() && v.Double() != 0:
				*v = document.Value{Kind: document.Int}
			case len(v.Elems) > 0:
				*v = document.Value{Kind: v.Kind}
			default:
				continue
			}
			n++
		}
		return resp.MakeInt(n)
	})
}
