package translator

import (
	"bytes"
	"strconv"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/sketch"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/store/schema"
)

// sketchType describes a probabilistic type with its statements. Its table has a row per block of the body that is not all
// zeros, and the head as block schema.SketchHead.
type sketchType struct {
	name string

	open string // reads the type of a key, and the head
	some string // reads the blocks in the list ?4
	span string // reads the blocks from ?4 on, below ?5
	put  string // sets block ?3 to ?4
	drop string // deletes block ?3
}

// sketchOf returns the statements for a type in a table of schema.SketchTables.
func sketchOf(name, table string) *sketchType {
	return &sketchType{
		name: name,
		open: `SELECT k.type, b.data FROM keys k LEFT JOIN ` + table + ` b ON b.key_id = k.id AND b.block = ` + schema.SketchHead + ` WHERE ` + live,
		some: `SELECT b.block, b.data FROM json_each(?4) j CROSS JOIN ` + table + ` b ON b.key_id = ` + liveID + ` AND b.block = j.value`,
		span: `SELECT block, data FROM ` + table + ` WHERE key_id = ` + liveID + ` AND block >= ?4 AND block < ?5`,
		put: `INSERT INTO ` + table + `(key_id, block, data) VALUES(` + thisID + `, ?3, ?4)
			ON CONFLICT(key_id, block) DO UPDATE SET data = excluded.data`,
		drop: `DELETE FROM ` + table + ` WHERE key_id = ` + thisID + ` AND block = ?3`,
	}
}

// The probabilistic types.
var (
	bloomType    = sketchOf(keytype.Bloom, "bloom_filters")
	cuckooType   = sketchOf(keytype.Cuckoo, "cuckoo_filters")
	countMinType = sketchOf(keytype.CountMin, "count_min_sketches")
	topKType     = sketchOf(keytype.TopK, "top_k_lists")
	tdigestType  = sketchOf(keytype.TDigest, "t_digests")

	sketchTypes = []*sketchType{bloomType, cuckooType, countMinType, topKType, tdigestType}
)

// sketchNamed returns a type by the name that TYPE returns, or nil.
func sketchNamed(name string) *sketchType {
	for _, t := range sketchTypes {
		if t.name == name {
			return t
		}
	}
	return nil
}

// sqlCountChanged adds ?3 to the number of elements: blocks of a sketch, samples of a series.
const sqlCountChanged = `UPDATE keys SET count = count + ?3, version = version + 1, updated_at = ?4 WHERE db = ?1 AND key = ?2`

// sketchKey holds the sketch at a key, or the one that a call creates there.
type sketchKey struct {
	sketch.Sketch // nil for a missing key
	call          *Call
	key           []byte
	typ           *sketchType
	head          []byte // as stored, nil for a new key
	work          *store.Work
}

// openSketch reads the head at key and calls next; other is the reply for a key of another type.
func (c *Call) openSketch(key []byte, t *sketchType, other resp.Value, next func(k *sketchKey) Plan) Plan {
	return readThen(func(r *store.Result) Plan {
		k := &sketchKey{call: c, key: key, typ: t, work: r.Work}
		if len(r.Rows[0]) == 0 {
			return next(k)
		}
		row := r.Rows[0][0]
		if string(row[0].Bytes()) != t.name {
			return answer(other)
		}
		k.head = bytes.Clone(row[1].Bytes())
		k.work.Step(len(k.head))
		k.work.Grow(3 * int64(len(k.head))) // the head, decoded and encoded
		body := sketch.NewBody()
		body.Meter = k.work
		var ok bool
		if k.Sketch, ok = sketch.Parse(t.name, k.head, body); !ok {
			return answer(damagedKey)
		}
		return next(k)
	}, c.stmt(t.open, key))
}

// stmtMemory counts the bytes of a statement of a plan with some arguments.
const stmtMemory = 512

// blocksAtOnce limits the blocks that a step loads.
const blocksAtOnce = 4096

// whenLoaded calls try until it returns true, and loads the blocks that it asked for in between. Then it plans next.
func (k *sketchKey) whenLoaded(try func() bool, next func() Plan) Plan {
	if try() {
		return next()
	}
	body := k.Stored()
	wanted := body.Wanted()
	wanted = wanted[:min(len(wanted), blocksAtOnce)]
	var list []byte
	for _, i := range wanted {
		list = strconv.AppendInt(append(list, ','), i, 10)
	}
	list[0] = '['
	return readPart(k.work, func(r *store.Result) {
		for _, row := range r.Rows[0] {
			body.Load(row[0].Int(), row[1].Bytes())
		}
		body.Loaded(wanted)
	}, func() Plan { return k.whenLoaded(try, next) }, k.call.stmt(k.typ.some, k.key, store.TextBytes(append(list, ']'))))
}

// whole loads the whole body, in steps, and plans next.
func (k *sketchKey) whole(next func() Plan) Plan {
	k.work.Grow(k.Len())
	k.work.Release(k.Len()) // a block counts when it is loaded
	return k.from(0, next)
}

func (k *sketchKey) from(block int64, next func() Plan) Plan {
	end, last := block+blocksAtOnce, (k.Len()+sketch.BlockBytes-1)/sketch.BlockBytes
	return readPart(k.work, func(r *store.Result) {
		for _, row := range r.Rows[0] {
			k.Stored().Load(row[0].Int(), row[1].Bytes())
		}
	}, func() Plan {
		if end < last {
			return k.from(end, next)
		}
		k.Stored().LoadedAll()
		return next()
	}, k.call.stmt(k.typ.span, k.key, store.Int(block), store.Int(end)))
}

// save plans the statements that store the changes. It writes nothing if nothing changed.
func (k *sketchKey) save(reply resp.Value) Plan {
	stmts := k.stmts()
	if len(stmts) == 0 {
		return answer(reply)
	}
	return write(always(reply), stmts...)
}

// stmts returns the statements that store the changes, none without a change.
func (k *sketchKey) stmts() (stmts []store.Stmt) {
	c, added := k.call, int64(0)
	named := c.key(k.key)[:2:2]
	var blocks []store.Stmt
	put := func(block int64, data []byte) {
		blocks = append(blocks, store.Stmt{SQL: k.typ.put, Args: append(named, store.Int(block), store.Bytes(data))})
	}
	if head := k.Head(); k.head == nil || !bytes.Equal(head, k.head) {
		put(schema.SketchHeadBlock, head)
	}
	for i, b := range k.Stored().Changed() {
		k.work.Grow(stmtMemory)
		k.work.Step(8)
		switch {
		case len(b.Data) > 0:
			put(i, b.Data)
			if !b.Stored {
				added++
			}
		case b.Stored:
			blocks = append(blocks, store.Stmt{SQL: k.typ.drop, Args: append(named, store.Int(i))})
			added--
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	if k.head == nil {
		stmts = append(stmts, c.purge(k.key), c.ensure(k.key, k.typ.name))
		added++
	}
	stmts = append(stmts, store.Stmt{SQL: sqlCountChanged, Args: append(named, store.Int(added), store.Int(c.Env.Now))})
	return append(stmts, blocks...)
}

// create plans a new key with the sketch.
func (k *sketchKey) create(s sketch.Sketch, reply resp.Value) Plan {
	k.adopt(s)
	return k.save(reply)
}

// growReplies charges the values of a reply about n items.
func (k *sketchKey) growReplies(n int) { k.work.Allocate(2 * store.ValueBytes * n) }

// adopt takes a new sketch for a missing key.
func (k *sketchKey) adopt(s sketch.Sketch) {
	k.Sketch = s
	s.Stored().Meter = k.work
}

// dumpSketch plans DUMP of a key.
func (c *Call) dumpSketch(t *sketchType) Plan {
	return c.openSketch(c.Args[1], t, wrongType, func(k *sketchKey) Plan {
		return k.withHeap(func() Plan {
			return k.whole(func() Plan {
				k.work.Allocate(int(3 * k.Memory())) // the value, its payload, and the reply
				return answer(resp.MakeBulk(rdb.Dump(k.Dump(), k.work.Step)))
			})
		})
	})
}

// sketchValue and documentValue hold values of payloads.
type (
	sketchValue struct {
		*rdb.Module
		sketch sketch.Sketch
	}
	documentValue struct {
		*rdb.Module
		text []byte
	}
)

// moduleValue converts the value of a payload to a sketchValue or a documentValue. It returns nil for an invalid one.
func (c *Call) moduleValue(m *rdb.Module) rdb.Value {
	c.Env.Work.Grow(2 * int64(m.Weight()))
	if m.Name == jsonType {
		if text := c.dumpedDocument(m); text != nil {
			return documentValue{m, text}
		}
		return nil
	}
	if m.Name == seriesType {
		return dumpedSeries(m, c.Env.Work)
	}
	if m.Name == suggestionsType {
		return dumpedSuggestions(m, c.Env.Work)
	}
	s, ok := sketch.Restore(m)
	if !ok || sketchNamed(m.Name) == nil {
		return nil
	}
	return sketchValue{m, s}
}

// restoreSketch creates a key. The key must not exist.
func (c *Call) restoreSketch(key []byte, v sketchValue) []store.Stmt {
	k := &sketchKey{Sketch: v.sketch, call: c, key: key, typ: sketchNamed(v.Name), work: c.Env.Work}
	return k.stmts()
}

// damagedKey replies for a key whose rows contradict each other.
var damagedKey = resp.MakeError("ERR the database is damaged: the rows of this key are inconsistent; run meowdis doctor")

// keyNotFound replies for a missing key.
var keyNotFound = resp.MakeError("ERR not found")

// itemExists replies to a reservation of an existing key.
var itemExists = resp.MakeError("ERR item exists")

// booleans returns an array of boolean replies.
func booleans(all []bool) resp.Value {
	reply := resp.Value{Kind: resp.Array, Elems: make([]resp.Value, len(all))}
	for i, b := range all {
		reply.Elems[i] = boolean(b)
	}
	return reply
}

// noneFound replies that the items of a call, from its second argument on, are missing.
func (c *Call) noneFound() resp.Value {
	c.Env.Work.Allocate(2 * store.ValueBytes * len(c.Args))
	return booleans(make([]bool, len(c.Args)-2))
}

// option returns the position of the first argument that is the word, in any case, 0 for none.
func (c *Call) option(word string) int {
	for i := range c.Args {
		if i > 0 && c.is(i, word) {
			return i
		}
	}
	return 0
}
