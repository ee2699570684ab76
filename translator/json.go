package translator

import (
	"bytes"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/document"
)

// jsonType is the name of the type in the keys table and in TYPE's reply.
const jsonType = "ReJSON-RL"

var jsonCommands = []Command{
	{
		Name: "JSON.SET", Group: "module", Since: "1.0.0", Arity: -4, Flags: Write | DenyOOM | Module,
		Summary: "Sets the values at a path of a document, or a whole document",
		Syntax:  "key path json [NX|XX] [FORMAT <STRING|JSON>]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonSet,
	},
	{
		Name: "JSON.GET", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Summary: "Returns the values at one path or several as JSON",
		Syntax:  "key [INDENT indent] [NEWLINE newline] [SPACE space] [FORMAT <STRING|EXPAND1|EXPAND>] [path [path ...]]",
		Keys:    []KeySpec{oneKey(RO, 1)}, Translate: jsonGet,
	},
	{
		Name: "JSON.MGET", Group: "module", Since: "1.0.0", Arity: -3, Flags: ReadOnly | Module,
		Summary: "Returns the values at a path of several documents, nil where there is no document",
		Syntax:  "key [key ...] path", Keys: []KeySpec{keysFrom(RO, 1, -2, 1)}, Translate: jsonMget,
	},
	{
		Name: "JSON.MSET", Group: "module", Since: "2.6.0", Arity: -4, Flags: Write | DenyOOM | Module,
		Summary: "Sets the values at paths of several documents, all or none",
		Syntax:  "key path json [key path json ...]", Keys: []KeySpec{keysFrom(RW, 1, -1, 3)}, Translate: jsonMset,
	},
	{
		Name: "JSON.MERGE", Group: "module", Since: "2.6.0", Arity: -4, Flags: Write | DenyOOM | Module,
		Summary: "Merges a value into those at a path, in which null deletes a key",
		Syntax:  "key path json [FORMAT <STRING|JSON>]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonMerge,
	},
	{
		Name: "JSON.DEL", Group: "module", Since: "1.0.0", Arity: -2, Flags: Write | Module,
		Summary: "Deletes the values at a path and returns how many there were",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonDel,
	},
	{
		Name: "JSON.FORGET", Group: "module", Since: "1.0.0", Arity: -2, Flags: Write | Module,
		Summary: "Deletes the values at a path, as JSON.DEL does",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonDel,
	},
	{
		Name: "JSON.CLEAR", Group: "module", Since: "2.0.0", Arity: -2, Flags: Write | Module,
		Summary: "Empties the arrays and objects at a path, sets its numbers to 0 and returns how many changed",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonClear,
	},
	{
		Name: "JSON.TOGGLE", Group: "module", Since: "2.0.0", Arity: 3, Flags: Write | Module,
		Summary: "Turns true into false and false into true",
		Syntax:  "key path", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonToggle,
	},
	{
		Name: "JSON.NUMINCRBY", Group: "module", Since: "1.0.0", Arity: 4, Flags: Write | Module,
		Summary: "Adds a number to the numbers at a path",
		Syntax:  "key path number", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonNumber(document.Add),
	},
	{
		Name: "JSON.NUMMULTBY", Group: "module", Since: "1.0.0", Arity: 4, Flags: Write | Module,
		Summary: "Multiplies the numbers at a path by a number",
		Syntax:  "key path number", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonNumber(document.Multiply),
	},
	{
		Name: "JSON.NUMPOWBY", Group: "module", Since: "1.0.0", Arity: 4, Flags: Write | Module,
		Summary: "Raises the numbers at a path to a power",
		Syntax:  "key path number", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonNumber(document.Power),
	},
	{
		Name: "JSON.STRAPPEND", Group: "module", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM | Module,
		Summary: "Appends to the strings at a path and returns their lengths",
		Syntax:  "key [path] json-string", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonStrappend,
	},
	{
		Name: "JSON.STRLEN", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Summary: "Returns the lengths in bytes of the strings at a path",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RO, 1)}, Translate: jsonStrlen,
	},
	{
		Name: "JSON.ARRAPPEND", Group: "module", Since: "1.0.0", Arity: -4, Flags: Write | DenyOOM | Module,
		Summary: "Appends values to the arrays at a path and returns their lengths",
		Syntax:  "key path json [json ...]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonArrappend,
	},
	{
		Name: "JSON.ARRINDEX", Group: "module", Since: "1.0.0", Arity: -4, Flags: ReadOnly | Module,
		Summary: "Returns where a value first stands in the arrays at a path, -1 when nowhere",
		Syntax:  "key path json-value [start [stop]]", Keys: []KeySpec{oneKey(RO, 1)}, Translate: jsonArrindex,
	},
	{
		Name: "JSON.ARRINSERT", Group: "module", Since: "1.0.0", Arity: -5, Flags: Write | DenyOOM | Module,
		Summary: "Inserts values into the arrays at a path before an index and returns their lengths",
		Syntax:  "key path index json [json ...]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonArrinsert,
	},
	{
		Name: "JSON.ARRLEN", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Summary: "Returns the lengths of the arrays at a path",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RO, 1)}, Translate: jsonArrlen,
	},
	{
		Name: "JSON.ARRPOP", Group: "module", Since: "1.0.0", Arity: -2, Flags: Write | Module,
		Summary: "Removes one element from each of the arrays at a path and returns it",
		Syntax:  "key [FORMAT <STRINGS|EXPAND1|EXPAND>] [path [index]]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonArrpop,
	},
	{
		Name: "JSON.ARRTRIM", Group: "module", Since: "1.0.0", Arity: 5, Flags: Write | Module,
		Summary: "Cuts the arrays at a path down to a range and returns their lengths",
		Syntax:  "key path start stop", Keys: []KeySpec{oneKey(RW, 1)}, Translate: jsonArrtrim,
	},
	{
		Name: "JSON.OBJKEYS", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Summary: "Returns the keys of the objects at a path",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RO, 1)}, Translate: jsonObjkeys,
	},
	{
		Name: "JSON.OBJLEN", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Summary: "Returns the number of keys of the objects at a path",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RO, 1)}, Translate: jsonObjlen,
	},
	{
		Name: "JSON.TYPE", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Summary: "Returns the JSON types of the values at a path",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RO, 1)}, Translate: jsonTypes,
	},
	{
		Name: "JSON.RESP", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module,
		Summary: "Returns the values at a path as nested replies",
		Syntax:  "key [path]", Keys: []KeySpec{oneKey(RO, 1)}, Translate: jsonResp,
	},
	{
		Name: "JSON.DEBUG", Group: "module", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Module | MovableKeys,
		Summary: "Returns about how many bytes of memory the values at a path take",
		Syntax:  "<MEMORY|HELP> [key] [path]",
		Keys:    []KeySpec{{Access: RO, Keyword: "MEMORY", Index: 1, Step: 1}}, Translate: jsonDebug,
	},
}

var (
	jsonWrongType = resp.MakeError("ERR Existing key has wrong Redis type")
	jsonNoKey     = resp.MakeError("ERR could not perform this operation on a key that doesn't exist")
	jsonNotRoot   = resp.MakeError("ERR new objects must be created at the root")
	jsonNoPath    = resp.MakeError("ERR Path does not exist")
	jsonComputes  = resp.MakeError("ERR a projection can only be read")
)

// jsonTooDeep refuses a change that nests deeper than a document may.
var jsonTooDeep = resp.MakeError("ERR document nests too deep")

// sqlDocument returns a row for a live key, with NULL in it when the key is no
// document.
const sqlDocument = `SELECT d.value FROM keys k LEFT JOIN documents d ON d.key_id = k.id WHERE ` + live

const sqlSetDocument = `INSERT INTO documents(key_id, value) SELECT id, ?3 FROM keys WHERE db = ?1 AND key = ?2
	ON CONFLICT(key_id) DO UPDATE SET value = excluded.value`

// jsonDoc is a document as it was read.
type jsonDoc struct {
	root *document.Value // nil for a missing key
	text []byte          // as it is stored
}

// loadJSON reads the rows of sqlDocument; bad is the error reply for another type.
func loadJSON(rows []store.Row) (d jsonDoc, bad resp.Value) {
	if d.text, bad = documentText(rows); bad.IsError() || d.text == nil {
		return d, bad
	}
	root, err := document.Load(d.text)
	if err != nil {
		return d, resp.MakeError("ERR corrupt document: " + err.Error())
	}
	d.root = root
	return d, bad
}

// documentText is loadJSON for the text, nil for a missing key.
func documentText(rows []store.Row) (text []byte, bad resp.Value) {
	if len(rows) == 0 {
		return nil, bad
	}
	if rows[0][0].IsNull() {
		return nil, jsonWrongType
	}
	return rows[0][0].Bytes(), bad
}

// readJSON is a read of the document at key. A missing one gives missing.
func (c *Call) readJSON(key []byte, missing resp.Value, decode func(root *document.Value) resp.Value) Plan {
	return read(func(r *store.Result) resp.Value {
		d, bad := loadJSON(r.Rows[0])
		switch {
		case bad.IsError():
			return bad
		case d.root == nil:
			return missing
		}
		return decode(d.root)
	}, c.stmt(sqlDocument, key))
}

// withJSON reads the document at key and goes on with it. A missing one gives
// the reply missing.
func (c *Call) withJSON(key []byte, missing resp.Value, next func(d jsonDoc) Plan) Plan {
	return readThen(func(r *store.Result) Plan {
		d, bad := loadJSON(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case d.root == nil:
			return answer(missing)
		}
		return next(d)
	}, c.stmt(sqlDocument, key))
}

// changeJSON lets change work on the document at key and stores what becomes of
// it. change returns the reply; an error changes nothing.
func (c *Call) changeJSON(key []byte, missing resp.Value, change func(root *document.Value) resp.Value) Plan {
	return c.withJSON(key, missing, func(d jsonDoc) Plan {
		reply := change(d.root)
		return c.saveJSON(key, d, reply)
	})
}

// saveJSON stores a document that was changed, unless the reply is an error or
// the change came to nothing.
func (c *Call) saveJSON(key []byte, d jsonDoc, reply resp.Value) Plan {
	switch {
	case reply.IsError():
		return answer(reply)
	case d.root.Depth() > document.MaxStoredDepth:
		return answer(jsonTooDeep)
	}
	text := d.root.Append(nil)
	if bytes.Equal(text, d.text) {
		return answer(reply)
	}
	return write(always(reply), c.storeJSON(nil, key, text)...)
}

// storeJSON appends the statements that make key the document text. Its TTL
// stays.
func (c *Call) storeJSON(stmts []store.Stmt, key, text []byte) []store.Stmt {
	upsert := c.upsertKey(key, jsonType)
	upsert.Refused = &jsonWrongType
	put := store.Stmt{SQL: sqlSetDocument, Args: []store.Value{store.Int(int64(c.Env.DB)), store.Bytes(key), store.Bytes(text)}}
	return append(stmts, c.purge(key), upsert, put)
}

// jsonPath reads argument i as a path to values of the document; without it the
// path is the root, as a legacy path.
func (c *Call) jsonPath(i int) (*document.Path, resp.Value) {
	p, bad := c.jsonQuery(i)
	if !bad.IsError() && p.Computes() {
		return nil, jsonComputes
	}
	return p, bad
}

// jsonQuery is jsonPath for a command that may also read what a projection
// computes.
func (c *Call) jsonQuery(i int) (*document.Path, resp.Value) {
	text := "."
	if i < len(c.Args) {
		text = string(c.Args[i])
	}
	p, err := document.ParsePath(text)
	switch {
	case err != nil:
		return nil, resp.MakeError(err.Error())
	case p.Legacy && p.Computes():
		return nil, jsonComputes
	}
	return p, resp.Value{}
}

// lastPath is jsonPath for an argument behind which there may be none.
func (c *Call) lastPath(i int) (*document.Path, resp.Value) {
	if len(c.Args) > i+1 {
		return nil, wrongArity(c.Command)
	}
	return c.jsonPath(i)
}

// jsonValues reads arguments as JSON.
func jsonValues(args [][]byte) ([]*document.Value, resp.Value) {
	list := make([]*document.Value, len(args))
	for i, arg := range args {
		v, err := document.Parse(arg)
		if err != nil {
			return nil, resp.MakeError(err.Error())
		}
		list[i] = v
	}
	return list, resp.Value{}
}

// orNot is the error of a legacy path that leads to nothing of a kind.
func orNot(kind string) resp.Value {
	return resp.MakeError("ERR Path does not exist or " + kind)
}

// wrongKind is the error of a value of another type.
func wrongKind(want document.Kind) resp.Value {
	return resp.MakeError("WRONGTYPE wrong type of path value - expected " + want.Type())
}

// collect is the array of what of makes of each value.
func collect(values []*document.Value, of func(*document.Value) resp.Value) resp.Value {
	elems := make([]resp.Value, len(values))
	for i, v := range values {
		elems[i] = of(v)
	}
	return resp.Value{Kind: resp.Array, Elems: elems}
}

// jsonText is a value as a bulk of JSON.
func jsonText(v *document.Value) resp.Value { return resp.MakeBulk(v.Append(nil)) }
