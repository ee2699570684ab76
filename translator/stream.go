package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

const streamType = keytype.Stream

var streamTranslations = translations{
	{"XADD", xadd},
	{"XTRIM", xtrim},
	{"XDEL", xdel},
	{"XDELEX", xdelex(false)},
	{"XACKDEL", xdelex(true)},
	{"XCFGSET", xcfgset},
	{"XLEN", xlen},
	{"XRANGE", xrange(false)},
	{"XREVRANGE", xrange(true)},
	{"XREAD", xread},
	{"XREADGROUP", xreadgroup},
	{"XSETID", xsetid},
	{"XACK", xack},
	{"XNACK", xnack},
	{"XPENDING", xpending},
	{"XCLAIM", xclaim},
	{"XAUTOCLAIM", xautoclaim},
	{"XGROUP CREATE", xgroupCreate},
	{"XGROUP SETID", xgroupSetID},
	{"XGROUP DESTROY", xgroupDestroy},
	{"XGROUP CREATECONSUMER", xgroupCreateConsumer},
	{"XGROUP DELCONSUMER", xgroupDelConsumer},
	{"XGROUP HELP", help},
	{"XINFO STREAM", xinfoStream},
	{"XINFO GROUPS", xinfoGroups},
	{"XINFO CONSUMERS", xinfoConsumers},
	{"XINFO HELP", help},
}

// streamMeta holds the state of a stream besides its entries.
type streamMeta struct {
	exists  bool
	length  int64
	last    streamID // greatest id ever added
	deleted streamID // greatest id deleted by XDEL
	added   int64    // entries ever added
	first   streamID // id of the first entry; zero for an empty stream
}

const sqlStreamMeta = `SELECT k.type, k.count, s.last_id, s.deleted_id, CAST(s.added AS TEXT),
	(SELECT id FROM stream_entries e WHERE e.key_id = k.id ORDER BY id LIMIT 1)
	FROM keys k LEFT JOIN streams s ON s.key_id = k.id WHERE ` + live

func (c *Call) streamMeta(key []byte) store.Stmt { return c.stmt(sqlStreamMeta, key) }

// metaOf decodes the rows of sqlStreamMeta; bad is WRONGTYPE.
func metaOf(rows []store.Row) (m streamMeta, bad resp.Value) {
	if len(rows) == 0 {
		return m, resp.Value{}
	}
	row := rows[0]
	if string(row[0].Bytes()) != streamType {
		return m, wrongType
	}
	return streamMeta{
		exists: true, length: row[1].Int(), last: streamIDOf(row[2]), deleted: streamIDOf(row[3]),
		added: row[4].Int(), first: streamIDOf(row[5]),
	}, resp.Value{}
}

// sqlStreamSave writes the fields that metaOf reads, except for those derived from entries.
const sqlStreamSave = `INSERT INTO streams(key_id, last_id, deleted_id, added) SELECT id, ?3, ?4, CAST(?5 AS INTEGER) FROM keys WHERE db = ?1 AND key = ?2
	ON CONFLICT(key_id) DO UPDATE SET last_id = excluded.last_id, deleted_id = excluded.deleted_id, added = excluded.added`

// sqlStreamGrow is sqlStreamSave for an existing stream with a new entry.
const sqlStreamGrow = `UPDATE streams SET last_id = ?3, added = CAST(?4 AS INTEGER) WHERE key_id = (SELECT id FROM keys WHERE db = ?1 AND key = ?2)`

func (c *Call) saveStream(key []byte, m streamMeta) store.Stmt {
	return store.Stmt{SQL: sqlStreamSave, Args: append(c.key(key)[:2], m.last.value(), m.deleted.value(), store.Digits(m.added))}
}

// makeStream returns the statements that create an empty stream if the key is missing.
func (c *Call) makeStream(key []byte) []store.Stmt {
	return []store.Stmt{c.purge(key), c.ensure(key, streamType)}
}

func xlen(c *Call) Plan {
	return read(func(r *store.Result) resp.Value {
		m, bad := metaOf(r.Rows[0])
		if bad.IsError() {
			return bad
		}
		return resp.MakeInt(m.length)
	}, c.streamMeta(c.Args[1]))
}
