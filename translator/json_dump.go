package translator

import (
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/document"
)

// dumpVersion numbers the format of a document in a dump file: its only field is its JSON.
const dumpVersion = 3

func (c *Call) dumpDocument() Plan {
	return read(func(r *store.Result) resp.Value {
		text, bad := documentText(r.Rows[0])
		if bad.IsError() {
			return bad
		}
		r.Work.Grow(3 * int64(len(text))) // the value, its payload, and the reply
		r.Work.Step(len(text))
		m := &rdb.Module{Name: jsonType, Version: dumpVersion}
		m.String(text)
		return resp.MakeBulk(rdb.Dump(m, r.Work.Step))
	}, c.stmt(sqlDocument, c.Args[1]))
}

// dumpedDocument returns the JSON of a dumped document in compact form, nil for an invalid one.
func (c *Call) dumpedDocument(m *rdb.Module) []byte {
	r := m.Reader()
	text := r.String()
	if m.Version != dumpVersion || !r.Done() {
		return nil
	}
	c.Env.Work.Step(len(text))
	root, err := document.Parse(text, parsing(c.Env.Work))
	if err != nil {
		return nil
	}
	return storedJSON(root, c.Env.Work)
}
