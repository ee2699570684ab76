package translator

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/translator/document"
)

// jsonType names the type in the keys table and in TYPE's reply.
const jsonType = keytype.JSON

var jsonTranslations = translations{
	{"JSON.SET", jsonSet},
	{"JSON.GET", jsonGet},
	{"JSON.MGET", jsonMget},
	{"JSON.MSET", jsonMset},
	{"JSON.MERGE", jsonMerge},
	{"JSON.DEL", jsonDel},
	{"JSON.FORGET", jsonDel},
	{"JSON.CLEAR", jsonClear},
	{"JSON.TOGGLE", jsonToggle},
	{"JSON.NUMINCRBY", jsonNumber(document.Add)},
	{"JSON.NUMMULTBY", jsonNumber(document.Multiply)},
	{"JSON.NUMPOWBY", jsonNumber(document.Power)},
	{"JSON.STRAPPEND", jsonStrappend},
	{"JSON.STRLEN", jsonStrlen},
	{"JSON.ARRAPPEND", jsonArrappend},
	{"JSON.ARRINDEX", jsonArrindex},
	{"JSON.ARRINSERT", jsonArrinsert},
	{"JSON.ARRLEN", jsonArrlen},
	{"JSON.ARRPOP", jsonArrpop},
	{"JSON.ARRTRIM", jsonArrtrim},
	{"JSON.OBJKEYS", jsonObjkeys},
	{"JSON.OBJLEN", jsonObjlen},
	{"JSON.TYPE", jsonTypes},
	{"JSON.RESP", jsonResp},
	{"JSON.DEBUG", jsonDebug},
}

var (
	jsonWrongType = resp.MakeError("ERR Existing key has wrong Redis type")
	jsonNoKey     = resp.MakeError("ERR could not perform this operation on a key that doesn't exist")
	jsonNotRoot   = resp.MakeError("ERR new objects must be created at the root")
	jsonNoPath    = resp.MakeError("ERR Path does not exist")
	jsonComputes  = resp.MakeError("ERR a projection can only be read")
)

// jsonTooDeep refuses an element that would nest deeper than a document may.
var jsonTooDeep = resp.MakeError("ERR recursion limit exceeded")

// tooDeep reports whether a value of the depth would nest too deep at one of the places.
func tooDeep(root *document.Value, places []*document.Value, depth int) bool {
	if root.Depth()+depth <= document.MaxDepth {
		return false
	}
	depths := root.Depths()
	return slices.ContainsFunc(places, func(v *document.Value) bool { return depths[v]+depth > document.MaxDepth })
}

func deepest(values []*document.Value) int {
	depth := 0
	for _, v := range values {
		depth = max(depth, v.Depth())
	}
	return depth
}

// sqlDocument returns a row for a live key. Its value is NULL if the key is not a document.
const sqlDocument = `SELECT d.value FROM keys k LEFT JOIN documents d ON d.key_id = k.id WHERE ` + live

const sqlSetDocument = `INSERT INTO documents(key_id, value) SELECT id, ?3 FROM keys WHERE db = ?1 AND key = ?2
	ON CONFLICT(key_id) DO UPDATE SET value = excluded.value`

// jsonDoc holds a loaded document.
type jsonDoc struct {
	root *document.Value // nil for a missing key
	text []byte          // as stored
	work *store.Work
}

// loadJSON parses the rows of sqlDocument; bad is the error reply for another type.
func loadJSON(rows []store.Row, w *store.Work) (d jsonDoc, bad resp.Value) {
	if d.text, bad = documentText(rows); bad.IsError() || d.text == nil {
		return d, bad
	}
	d.work = w
	w.Step(len(d.text))
	root, err := document.Load(d.text, parsing(w))
	if err != nil {
		return d, resp.MakeError("ERR corrupt document: " + err.Error())
	}
	d.root = root
	return d, bad
}

// parsing charges the memory of parsed values, and the time to parse them.
func parsing(w *store.Work) func(bytes int64) {
	return func(bytes int64) {
		w.Grow(bytes)
		w.Step(int(bytes / 8))
	}
}

// documentText returns the text in the rows of sqlDocument, nil for a missing key.
func documentText(rows []store.Row) (text []byte, bad resp.Value) {
	if len(rows) == 0 {
		return nil, bad
	}
	if rows[0][0].IsNull() {
		return nil, jsonWrongType
	}
	return rows[0][0].Bytes(), bad
}

// readJSON plans a read of the document at key; missing is the reply for a missing key.
func (c *Call) readJSON(key []byte, missing resp.Value, decode func(root *document.Value, w *store.Work) resp.Value) Plan {
	return read(func(r *store.Result) resp.Value {
		d, bad := loadJSON(r.Rows[0], r.Work)
		switch {
		case bad.IsError():
			return bad
		case d.root == nil:
			return missing
		}
		return decode(d.root, r.Work)
	}, c.stmt(sqlDocument, key))
}

// withJSON reads the document at key and calls next with it; missing is the reply for a missing key.
func (c *Call) withJSON(key []byte, missing resp.Value, next func(d jsonDoc) Plan) Plan {
	return readThen(func(r *store.Result) Plan {
		d, bad := loadJSON(r.Rows[0], r.Work)
		switch {
		case bad.IsError():
			return answer(bad)
		case d.root == nil:
			return answer(missing)
		}
		return next(d)
	}, c.stmt(sqlDocument, key))
}

// changeJSON calls change with the document at key and stores the result. change returns the reply; an error changes
// nothing.
func (c *Call) changeJSON(key []byte, missing resp.Value, change func(root *document.Value, w *store.Work) resp.Value) Plan {
	return c.withJSON(key, missing, func(d jsonDoc) Plan {
		reply := change(d.root, d.work)
		return c.saveJSON(key, d, reply)
	})
}

// saveJSON stores a changed document. It writes nothing if the reply is an error or the text is unchanged.
func (c *Call) saveJSON(key []byte, d jsonDoc, reply resp.Value) Plan {
	switch {
	case reply.IsError():
		return answer(reply)
	}
	d.work.Step(len(d.text))
	text := storedJSON(d.root, d.work)
	if bytes.Equal(text, d.text) {
		return answer(reply)
	}
	return write(always(reply), c.storeJSON(nil, key, text)...)
}

// storedJSON returns the text of a changed document. The text is charged twice, since it becomes an argument.
func storedJSON(root *document.Value, w *store.Work) []byte {
	size := jsonPrintedSize(root, document.Format{}, w)
	w.Grow(2 * size)
	w.Step(int(size))
	return root.Append(nil)
}

// copying returns a function that charges a copy of the values.
func copying(values ...*document.Value) func(w *store.Work) {
	bytes, n := int64(0), 0
	for _, v := range values {
		b, more := v.Weight()
		bytes, n = bytes+b, n+more
	}
	return func(w *store.Work) {
		w.Grow(bytes)
		w.Step(n)
	}
}

// storeJSON appends the statements that set key to the document text. The key keeps its TTL.
func (c *Call) storeJSON(stmts []store.Stmt, key, text []byte) []store.Stmt {
	upsert := c.upsertKey(key, jsonType)
	upsert.Refused = &jsonWrongType
	put := store.Stmt{SQL: sqlSetDocument, Args: []store.Value{store.Int(int64(c.Env.DB)), store.Bytes(key), store.Bytes(text)}}
	return append(stmts, c.purge(key), upsert, put)
}

// jsonPath parses argument i as a path to values of the document. If it is missing, the path is the root, as a legacy
// path.
func (c *Call) jsonPath(i int) (*document.Path, resp.Value) {
	p, bad := c.jsonQuery(i)
	if !bad.IsError() && p.Computes() {
		return nil, jsonComputes
	}
	return p, bad
}

// jsonQuery is jsonPath for a command that also accepts projections.
func (c *Call) jsonQuery(i int) (*document.Path, resp.Value) {
	text := "."
	if i < len(c.Args) {
		text = string(c.Args[i])
	}
	p, err := document.ParsePath(text)
	if err != nil {
		return nil, resp.MakeError(err.Error())
	}
	if p.Computes() { // a projection cannot be legacy: a + 1 is $.a + 1
		p.Legacy = false
	}
	if c.Env.Rules.NestedFirst && !p.Legacy {
		p.NestedFirst()
	}
	return p, resp.Value{}
}

// lastPath is jsonPath for an optional last argument.
func (c *Call) lastPath(i int) (*document.Path, resp.Value) {
	if len(c.Args) > i+1 {
		return nil, commands.WrongArity(c.Command)
	}
	return c.jsonPath(i)
}

// jsonValues parses arguments as JSON.
func (c *Call) jsonValues(args [][]byte) ([]*document.Value, resp.Value) {
	list := make([]*document.Value, len(args))
	for i, arg := range args {
		c.Env.Work.Step(len(arg))
		v, err := document.Parse(arg, parsing(c.Env.Work))
		if err != nil {
			return nil, resp.MakeError(err.Error())
		}
		list[i] = v
	}
	return list, resp.Value{}
}

// errNoPathOr returns the error of a legacy path without a value of a kind.
func errNoPathOr(kind string) resp.Value {
	return resp.MakeError("ERR Path does not exist or " + kind)
}

// wrongKind returns the error for a value of another type.
func wrongKind(want document.Kind) resp.Value {
	return resp.MakeError("WRONGTYPE wrong type of path value - expected " + want.Type())
}

// collect returns an array with the result of calling of on each value.
func collect(values []*document.Value, w *store.Work, of jsonShape) resp.Value {
	w.Grow(int64(len(values)) * store.ValueBytes)
	w.Step(8 * len(values))
	elems := make([]resp.Value, len(values))
	for i, v := range values {
		elems[i] = of(v, w)
	}
	return resp.Value{Kind: resp.Array, Elems: elems}
}

// jsonText returns a value as a bulk of JSON.
func jsonText(v *document.Value, w *store.Work) resp.Value {
	return jsonPrinted(v, document.Format{}, w)
}

// jsonPrinted returns a value as a bulk of JSON in a format.
func jsonPrinted(v *document.Value, f document.Format, w *store.Work) resp.Value {
	size := jsonPrintedSize(v, f, w)
	w.Grow(size)
	w.Step(int(size))
	return resp.MakeBulk(f.Append(nil, v))
}

// jsonPrintedSize returns how many bytes v takes at most, or more than the work has room for.
func jsonPrintedSize(v *document.Value, f document.Format, w *store.Work) int64 {
	const most = 1 << 40 // more than any budget
	return f.Size(v, cmp.Or(w.Remaining(), most))
}
