package translator

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var busyKey = resp.MakeError("BUSYKEY Target key name already exists.")

// restoreOptions holds the options of RESTORE.
type restoreOptions struct {
	replace, absolute bool
	idle, freq        int64 // -1 if not given
}

// parse parses the options. FREQ is checked but has no effect, since accesses are not counted.
func (o *restoreOptions) parse(c *Call) (bad string) {
	o.idle, o.freq = -1, -1
	for i := 4; i < len(c.Args); i++ {
		more := i+1 < len(c.Args)
		var ok bool
		switch {
		case c.is(i, "REPLACE"):
			o.replace = true
		case c.is(i, "ABSTTL"):
			o.absolute = true
		case c.is(i, "IDLETIME") && more && o.freq == -1:
			i++
			if o.idle, ok = parseInt(c.Args[i]); !ok {
				return errNotInteger
			}
			if o.idle < 0 {
				return "ERR Invalid IDLETIME value, must be >= 0"
			}
		case c.is(i, "FREQ") && more && o.idle == -1:
			i++
			if o.freq, ok = parseInt(c.Args[i]); !ok {
				return errNotInteger
			}
			if o.freq < 0 || o.freq > 255 {
				return "ERR Invalid FREQ value, must be >= 0 and <= 255"
			}
		default:
			return errSyntax
		}
	}
	return ""
}

// sqlRestored sets the expiry and the age of a new key.
const sqlRestored = `UPDATE keys SET expires_at = CAST(?3 AS INTEGER), updated_at = ?4 WHERE db = ?1 AND key = ?2`

func restore(c *Call) Plan {
	var o restoreOptions
	if bad := o.parse(c); bad != "" {
		return fail(bad)
	}
	key := c.Args[1]
	ttl, v, bad := c.parsePayload()
	if bad != "" {
		refused := resp.MakeError(bad)
		if o.replace {
			return answer(refused)
		}
		return read(func(r *store.Result) resp.Value {
			if len(r.Rows[0]) > 0 {
				return busyKey
			}
			return refused
		}, c.typeOf(key))
	}
	first := func(c *Call) []store.Stmt {
		if o.replace {
			return []store.Stmt{c.drop(key)}
		}
		return []store.Stmt{c.guardAbsent(key, &busyKey), c.purge(key)}
	}
	expires := store.Value{}
	if ttl != 0 {
		if !o.absolute {
			ttl = min(ttl, math.MaxInt64-c.Env.Now) + c.Env.Now
		}
		if ttl <= c.Env.Now {
			return write(decodeOK, first(c)...)
		}
		expires = store.Digits(ttl)
	}
	updated := c.Env.Now
	if o.idle > 0 {
		updated -= 1000 * min(o.idle, updated/1000)
	}
	return c.create(creation{
		key: key, reply: resp.OK, first: first, few: MaxUnstagedStmts,
		value:    func(c *Call, key []byte) []store.Stmt { return c.makeValue(key, v) },
		elements: func() addition { return c.elementsOf(v) },
		restored: true, expires: expires, updated: updated,
	})
}

// stepsPerPayloadByte counts the steps of a byte of a payload, which may be compressed and becomes part of statements.
const stepsPerPayloadByte = 16

// parsePayload parses the TTL and the value.
func (c *Call) parsePayload() (ttl int64, v rdb.Value, bad string) {
	ttl, ok := parseInt(c.Args[2])
	switch {
	case !ok:
		return 0, nil, errNotInteger
	case ttl < 0:
		return 0, nil, "ERR Invalid TTL value, must be >= 0"
	}
	v, err := rdb.Restore(c.Args[3], func(n int) { c.Env.Work.Step(stepsPerPayloadByte * n) })
	switch {
	case errors.Is(err, rdb.ErrFooter):
		return 0, nil, "ERR DUMP payload version or checksum are wrong"
	case err != nil:
		return 0, nil, "ERR Bad data format"
	}
	switch of := v.(type) {
	case *rdb.VectorSet:
		bad = restorable(of)
	case *rdb.Module:
		if v = c.moduleValue(of); v == nil {
			bad = "ERR Bad data format"
		}
	}
	return ttl, v, bad
}

// makeValue creates a key with the value. The key must not exist.
func (c *Call) makeValue(key []byte, v rdb.Value) []store.Stmt {
	switch v := v.(type) {
	case rdb.String:
		return c.setString(nil, key, v, expiry{})
	case rdb.List:
		return c.makeList(key, v)
	case rdb.Set:
		stmts := []store.Stmt{c.ensure(key, setType)}
		for part := range c.rounds(v, 1) {
			stmts = append(stmts, c.addMembers(key, part)...)
		}
		return stmts
	case rdb.Hash:
		return c.makeHash(key, v)
	case rdb.ZSet:
		return c.makeZSet(key, elementsOfZSet(v))
	case *rdb.Stream:
		return c.restoreStream(key, v)
	case *rdb.VectorSet:
		return c.restoreVectors(key, v)
	case documentValue:
		return c.storeJSON(nil, key, v.text)
	case *suggestionsValue:
		return c.restoreSuggestions(key, v)
	case *seriesValue:
		return c.restoreSeries(key, v)
	case sketchValue:
		return c.restoreSketch(key, v)
	}
	return nil
}

// elementsOf returns the elements of a value for creation.elements.
func (c *Call) elementsOf(v rdb.Value) addition {
	switch v := v.(type) {
	case rdb.List:
		return listAddition(tail, v)
	case rdb.Set:
		return setAddition(v)
	case rdb.Hash:
		return hashAddition(c.liveFields(v))
	case rdb.ZSet:
		return zsetAddition(elementsOfZSet(v), zaddOptions{nx: true})
	}
	return addition{}
}

func elementsOfZSet(v rdb.ZSet) []element {
	elems := make([]element, len(v))
	for i, m := range v {
		elems[i] = element{m.Name, m.Score}
	}
	return elems
}

// liveFields returns the fields that have not expired, and their expiries, nil if none expires.
func (c *Call) liveFields(h rdb.Hash) (fields [][]byte, expires []int64) {
	fields = make([][]byte, 0, 2*len(h))
	for _, f := range h {
		if f.ExpiresAt != 0 && f.ExpiresAt <= c.Env.Now {
			continue
		}
		if f.ExpiresAt != 0 && expires == nil {
			expires = make([]int64, len(fields)/2, len(h))
		}
		if expires != nil {
			expires = append(expires, f.ExpiresAt)
		}
		fields = append(fields, f.Name, f.Value)
	}
	return fields, expires
}

// makeHash makes a hash of the fields that have not expired, and no key if all have.
func (c *Call) makeHash(key []byte, h rdb.Hash) []store.Stmt {
	fields, expires := c.liveFields(h)
	switch {
	case len(fields) == 0:
		return nil
	case expires != nil:
		return newAdditionBuild(hashAddition(fields, expires)).all(c, key)
	}
	stmts := []store.Stmt{c.ensure(key, hashType)}
	for part := range c.rounds(fields, 2) {
		stmts = append(stmts, c.addFields(key, part)...)
	}
	return stmts
}

// The rows of a stream are passed as JSON: entries as [id, fields], pending ones as [id, delivered_at, deliveries].
const (
	thisID            = `(SELECT id FROM keys WHERE db = ?1 AND key = ?2)`
	sqlRestoreEntries = `INSERT INTO stream_entries(key_id, id, fields)
		SELECT ` + thisID + `, unhex(j.value ->> 0), unhex(j.value ->> 1) FROM json_each(?3) j`
	sqlRestoreConsumer = `INSERT INTO stream_consumers(key_id, group_name, name, seen_at, active_at)
		VALUES(` + thisID + `, ?3, ?4, CAST(?5 AS INTEGER), CAST(?6 AS INTEGER))`
	sqlRestorePending = `INSERT INTO stream_pending(key_id, group_name, consumer, id, delivered_at, deliveries)
		SELECT ` + thisID + `, ?3, ?4, unhex(j.value ->> 0), j.value ->> 1, j.value ->> 2 FROM json_each(?5) j`
)

// restoreNodes makes the nodes that adding the entries one by one would make. A payload has its own nodes, but only its
// entries are kept.
func (c *Call) restoreNodes(key []byte, entries []rdb.Entry) (stmts []store.Stmt) {
	const atOnce = 1000
	var nodes []*streamNode
	for _, e := range entries {
		id := idOf(e.ID)
		if n := len(nodes); n > 0 && nodes[n-1].takes(e.Fields, c.limits()) {
			nodes[n-1].add(id, e.Fields)
		} else {
			nodes = append(nodes, newNode(id, e.Fields))
		}
	}
	for part := range slices.Chunk(nodes, atOnce) {
		stmts = append(stmts, c.makeNodes(key, part))
	}
	return stmts
}

func (c *Call) restoreStream(key []byte, s *rdb.Stream) []store.Stmt {
	meta := streamMeta{last: idOf(s.Last), deleted: idOf(s.Deleted), added: s.Added}
	stmts := []store.Stmt{c.ensure(key, streamType), c.saveStream(key, meta)}
	pairs := make([][]byte, 0, 2*len(s.Entries))
	for _, e := range s.Entries {
		pairs = append(pairs, idOf(e.ID).bytes(), PackFields(e.Fields))
	}
	for part := range c.rounds(pairs, 2) {
		for piece, alone := range pieces(part, 2) {
			stmts = append(stmts, c.restoreEntries(key, piece, alone), c.countAdded(key))
		}
	}
	stmts = append(stmts, c.restoreNodes(key, s.Entries)...)
	for _, g := range s.Groups {
		stmts = append(stmts, c.saveGroup(sqlGroupAdd, key, streamGroup{g.Name, idOf(g.Last), g.Read}))
		for _, consumer := range g.Consumers {
			stmts = append(stmts, c.restoreConsumer(key, g.Name, consumer)...)
		}
	}
	return stmts
}

// restoreEntries adds entries, each an ID and packed fields.
func (c *Call) restoreEntries(key []byte, pairs [][]byte, alone bool) store.Stmt {
	args := c.key(key)[:2]
	if alone {
		return store.Stmt{SQL: sqlStreamAppend, Args: append(args, store.Bytes(pairs[0]), store.Bytes(pairs[1]))}
	}
	var rows []byte
	for i := 0; i < len(pairs); i += 2 {
		rows = appendHex(append(rows, ",["...), pairs[i])
		rows = append(appendHex(append(rows, ','), pairs[i+1]), ']')
	}
	rows[0] = '['
	return store.Stmt{SQL: sqlRestoreEntries, Args: append(args, store.TextBytes(append(rows, ']')))}
}

func (c *Call) restoreConsumer(key, group []byte, consumer rdb.Consumer) []store.Stmt {
	args := append(c.key(key)[:2], store.Bytes(group), store.Bytes(consumer.Name))
	active := store.Value{}
	if consumer.ActiveAt >= 0 {
		active = store.Digits(consumer.ActiveAt)
	}
	stmts := []store.Stmt{{SQL: sqlRestoreConsumer, Args: append(args[:4:4], store.Digits(consumer.SeenAt), active)}}
	if len(consumer.Pending) == 0 {
		return stmts
	}
	var rows []byte
	for _, p := range consumer.Pending {
		rows = append(appendHex(append(rows, ",["...), idOf(p.ID).bytes()), ',')
		rows = append(strconv.AppendInt(rows, p.DeliveredAt, 10), ',')
		rows = append(strconv.AppendInt(rows, p.Deliveries, 10), ']')
	}
	rows[0] = '['
	return append(stmts, store.Stmt{SQL: sqlRestorePending, Args: append(args[:4:4], store.TextBytes(append(rows, ']')))})
}

func idOf(id rdb.ID) streamID { return streamID{id.Ms, id.Seq} }
