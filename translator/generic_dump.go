package translator

import (
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var dumpTranslations = translations{
	{"DUMP", dump},
	{"RESTORE", restore},
	{"RESTORE-ASKING", restore},
}

// dumped lists the statements that read a value of any type, after typeOf. Statements for other types return no rows.
// Add a new type here.
const (
	dumpString = 1 + iota
	dumpList
	dumpHash
	dumpSet
	dumpZSet
	dumpMeta
	dumpEntries
	dumpGroups
	dumpConsumers
	dumpPending
)

var dumped = [...]string{
	dumpString:  sqlGet + ` AND k.value IS NOT NULL`,
	dumpList:    `SELECT value FROM lists WHERE key_id = ` + liveID + ` ORDER BY pos`,
	dumpHash:    `SELECT h.field, h.value, CAST(h.expires_at AS TEXT), h.seq FROM hashes h WHERE h.key_id = ` + liveID + ` AND ` + liveField,
	dumpSet:     `SELECT member, seq FROM sets WHERE key_id = ` + liveID,
	dumpZSet:    `SELECT member, score FROM zsets WHERE key_id = ` + liveID,
	dumpMeta:    sqlStreamMeta,
	dumpEntries: `SELECT id, fields FROM stream_entries WHERE key_id = ` + liveID + ` ORDER BY id`,
	dumpGroups:  `SELECT name, last_id, CAST(entries_read AS TEXT) FROM stream_groups WHERE key_id = ` + liveID + ` ORDER BY name`,
	dumpConsumers: `SELECT group_name, name, CAST(seen_at AS TEXT), CAST(active_at AS TEXT) FROM stream_consumers
		WHERE key_id = ` + liveID + ` ORDER BY group_name, name`,
	dumpPending: `SELECT group_name, consumer, id, CAST(max(0, delivered_at) AS TEXT), CAST(deliveries AS TEXT) FROM stream_pending
		WHERE key_id = ` + liveID + ` ORDER BY group_name, id`,
}

// dumpStmts returns the statements that read the value at a key, typeOf first.
func (c *Call) dumpStmts(key []byte) []store.Stmt {
	stmts := []store.Stmt{c.typeOf(key)}
	for _, sql := range dumped[1:] {
		stmts = append(stmts, c.stmt(sql, key))
	}
	return stmts
}

func dump(c *Call) Plan {
	key := c.Args[1]
	return readThen(func(r *store.Result) Plan {
		if len(r.Rows[0]) == 0 {
			return answer(resp.Nil)
		}
		typ := string(r.Rows[0][0][0].Bytes())
		if typ == hashType && len(r.Rows[dumpHash]) == 0 {
			return answer(resp.Nil) // all fields have expired
		}
		if typ == vectorSetType {
			s, _ := vectorSetOf(r.Rows[len(dumped)])
			return c.dumpVectors(s)
		}
		if t := sketchNamed(typ); t != nil {
			return c.dumpSketch(t)
		}
		if typ == seriesType {
			return c.dumpSeries()
		}
		if typ == suggestionsType {
			return c.dumpSuggestions()
		}
		if typ == jsonType {
			return c.dumpDocument()
		}
		v := valueOf(typ, r.Rows, r.Work)
		if v == nil {
			return fail("ERR cannot dump a value of type " + typ)
		}
		return answer(resp.MakeBulk(rdb.Dump(v, r.Work.Step)))
	}, append(c.dumpStmts(key), c.stmt(sqlVectorSet, key))...)
}

// stepsPerDumped counts the steps of dumping an element, besides its bytes.
const stepsPerDumped = 8

// valueOf decodes the rows of the statements in dumped. It returns nil for an unknown type, and for a vector set, which
// has its own plan.
func valueOf(typ string, rows [][]store.Row, w *store.Work) rdb.Value {
	for _, some := range rows {
		for _, row := range some {
			w.Step(stepsPerDumped)
			for _, cell := range row {
				w.Step(len(cell.Bytes()) / 8)
			}
		}
	}
	switch typ {
	case stringType:
		return rdb.String(stringOf(rows[dumpString], w).Str)
	case listType:
		return rdb.List(firstCells(rows[dumpList]))
	case setType:
		return rdb.Set(firstCells(bySeq(rows[dumpSet])))
	case hashType:
		h := make(rdb.Hash, len(rows[dumpHash]))
		for i, row := range bySeq(rows[dumpHash]) {
			h[i] = rdb.Field{Name: row[0].Bytes(), Value: row[1].Bytes(), ExpiresAt: row[2].Int()}
		}
		return h
	case zsetType:
		z := make(rdb.ZSet, len(rows[dumpZSet]))
		for i, row := range rows[dumpZSet] {
			z[i] = rdb.Member{Name: row[0].Bytes(), Score: row[1].Float()}
		}
		return z
	case streamType:
		return streamOf(rows, w)
	}
	return nil
}

func firstCells(rows []store.Row) [][]byte {
	all := make([][]byte, len(rows))
	for i, row := range rows {
		all[i] = row[0].Bytes()
	}
	return all
}

func streamOf(rows [][]store.Row, w *store.Work) *rdb.Stream {
	m, _ := metaOf(rows[dumpMeta])
	s := &rdb.Stream{Last: m.last.rdb(), Deleted: m.deleted.rdb(), Added: m.added}
	for _, row := range rows[dumpEntries] {
		var fields [][]byte
		for _, f := range unpackFields(row[1].Bytes(), w).Elems {
			fields = append(fields, f.Str)
		}
		s.Entries = append(s.Entries, rdb.Entry{ID: streamIDOf(row[0]).rdb(), Fields: fields})
	}
	at := map[string]int{}
	for _, row := range rows[dumpGroups] {
		g := groupRow(row)
		at[string(g.name)] = len(s.Groups)
		s.Groups = append(s.Groups, rdb.Group{Name: g.name, Last: g.last.rdb(), Read: g.read})
	}
	type consumer struct{ group, name string }
	place := map[consumer]int{}
	for _, row := range rows[dumpConsumers] {
		g := &s.Groups[at[string(row[0].Bytes())]]
		place[consumer{string(row[0].Bytes()), string(row[1].Bytes())}] = len(g.Consumers)
		active := int64(-1)
		if !row[3].IsNull() {
			active = row[3].Int()
		}
		g.Consumers = append(g.Consumers, rdb.Consumer{Name: row[1].Bytes(), SeenAt: row[2].Int(), ActiveAt: active})
	}
	for _, row := range rows[dumpPending] {
		group, name := string(row[0].Bytes()), string(row[1].Bytes())
		g := &s.Groups[at[group]]
		n, there := place[consumer{group, name}]
		if !there { // entries without a consumer: the format stores them only with a consumer, so it gets an empty name
			n = len(g.Consumers)
			place[consumer{group, name}] = n
			g.Consumers = append(g.Consumers, rdb.Consumer{Name: []byte{}, ActiveAt: -1})
		}
		c := &g.Consumers[n]
		c.Pending = append(c.Pending, rdb.Pending{ID: streamIDOf(row[2]).rdb(), DeliveredAt: row[3].Int(), Deliveries: row[4].Int()})
	}
	return s
}

func (id streamID) rdb() rdb.ID { return rdb.ID{Ms: id.ms, Seq: id.seq} }
