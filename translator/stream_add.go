package translator

import (
	"math"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const sqlStreamAppend = `INSERT INTO stream_entries(key_id, id, fields) SELECT id, ?3, ?4 FROM keys WHERE db = ?1 AND key = ?2`

// addOptions holds the options that XADD and XTRIM share, and the ID of XADD.
type addOptions struct {
	noMake  bool
	trim    byte // 'l' MAXLEN, 'i' MINID, 0 no trimming
	approx  bool
	maxLen  int64
	minID   streamID
	limit   int64
	limited bool // LIMIT is given
	refs    refs

	producer, iid []byte // of IDMP and IDMPAUTO; iid is nil until the fields are known

	auto    bool // *
	autoSeq bool // ms-*
	id      streamID
}

// parseAdd parses the options from argument 2 on. For XADD, next is the position after the ID.
func (c *Call) parseAdd(xadd bool) (o addOptions, next int, bad string) {
	for i := 2; i < len(c.Args); i++ {
		if xadd && len(c.Args[i]) == 1 && c.Args[i][0] == '*' {
			o.auto = true
			bad = c.checkAdd(&o, xadd)
			return o, i + 1, bad
		}
		last, bad := c.parseAddOption(&o, i, xadd)
		switch {
		case bad != "":
			return o, 0, bad
		case last != 0:
			i = last
			continue
		case !xadd:
			return o, 0, errSyntax
		}
		if bad = o.parseID(c.Args[i]); bad != "" {
			return o, 0, bad
		}
		if o.producer != nil {
			return o, 0, "ERR syntax error, IDMP/IDMPAUTO can be used only with auto-generated IDs"
		}
		bad = c.checkAdd(&o, xadd)
		return o, i + 1, bad
	}
	bad = c.checkAdd(&o, xadd)
	return o, len(c.Args), bad
}

// parseAddOption parses the option at i and returns the position of its last word; 0 if no option is at i.
func (c *Call) parseAddOption(o *addOptions, i int, xadd bool) (last int, bad string) {
	more := len(c.Args) - 1 - i
	switch {
	case c.is(i, "MAXLEN") && more > 0, c.is(i, "MINID") && more > 0:
		return c.parseTrim(o, i)
	case c.is(i, "LIMIT") && more > 0:
		return i + 1, o.parseLimit(c.Args[i+1])
	case c.refsAt(i) != 0:
		if o.refs != 0 {
			return 0, errSyntax
		}
		o.refs = c.refsAt(i)
		return i, ""
	case xadd && c.is(i, "NOMKSTREAM"):
		o.noMake = true
		return i, ""
	case xadd && (c.is(i, "IDMP") && more > 1 || c.is(i, "IDMPAUTO") && more > 0):
		return c.parseProducer(o, i)
	}
	return 0, ""
}

// parseLimit parses the limit of entries that trimming with ~ may delete.
func (o *addOptions) parseLimit(b []byte) (bad string) {
	var ok bool
	if o.limit, ok = parseInt(b); !ok {
		return errNotInteger
	}
	if o.limit < 0 {
		return "ERR The LIMIT argument must be >= 0."
	}
	o.limited = true
	return ""
}

// parseTrim parses "MAXLEN|MINID [=|~] threshold" at i and returns the position of its last word.
func (c *Call) parseTrim(o *addOptions, i int) (last int, bad string) {
	if o.trim != 0 {
		return 0, "ERR syntax error, MAXLEN and MINID options at the same time are not compatible"
	}
	o.trim, o.approx = 'l', false
	if c.is(i, "MINID") {
		o.trim = 'i'
	}
	if word := string(c.Args[i+1]); i+2 < len(c.Args) && (word == "~" || word == "=") {
		o.approx = word == "~"
		i++
	}
	i++
	var ok bool
	if o.trim == 'i' {
		if o.minID, ok = parseStreamID(c.Args[i], 0); !ok {
			return 0, errStreamID
		}
		return i, ""
	}
	if o.maxLen, ok = parseInt(c.Args[i]); !ok {
		return 0, errNotInteger
	}
	if o.maxLen < 0 {
		return 0, "ERR The MAXLEN argument must be >= 0."
	}
	return i, ""
}

// parseID parses the ID of XADD, which may omit the sequence number.
func (o *addOptions) parseID(b []byte) (bad string) {
	if n := len(b); n > 2 && string(b[n-2:]) == "-*" {
		b, o.autoSeq = b[:n-2], true
	}
	var ok bool
	if o.id, ok = parseStreamID(b, 0); !ok || o.autoSeq && containsDash(b) {
		return errStreamID
	}
	return ""
}

func containsDash(b []byte) bool {
	for _, ch := range b {
		if ch == '-' {
			return true
		}
	}
	return false
}

// defaultLimit returns the limit of entries that trimming with ~ deletes without a LIMIT.
func defaultLimit(l Limits) int64 {
	if l.NodeEntries <= 0 {
		return 10_000
	}
	return min(100*min(l.NodeEntries, 10_000), 1_000_000)
}

// checkAdd checks the options together, and completes them.
func (c *Call) checkAdd(o *addOptions, xadd bool) string {
	switch {
	case o.limit > 0 && o.trim == 0:
		return "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"
	case !xadd && o.trim == 0:
		return "ERR syntax error, XTRIM must be called with a trimming strategy"
	case o.limited && !o.approx:
		return "ERR syntax error, LIMIT cannot be used without the special ~ option"
	case o.approx && !o.limited && c.Env.Rules.ExactTrim:
		o.approx = false
	case o.approx && !o.limited:
		o.limit = defaultLimit(c.limits())
	}
	return ""
}

// AddedFields returns the fields and values of an XADD that has succeeded, and whether it trims. ok is false if it also
// records its producer.
func AddedFields(cmd *commands.Command, args [][]byte) (fields [][]byte, trims, ok bool) {
	c := &Call{Command: cmd, Args: args}
	o, next, bad := c.parseAdd(true)
	if bad != "" || o.producer != nil {
		return nil, false, false
	}
	return args[next:], o.trim != 0, true
}

func xadd(c *Call) Plan {
	o, next, bad := c.parseAdd(true)
	if bad != "" {
		return fail(bad)
	}
	fields := c.Args[next:]
	switch {
	case len(fields) < 2 || len(fields)%2 != 0:
		return answer(commands.WrongArity(c.Command))
	case !o.auto && !o.autoSeq && o.id.isZero():
		return fail("ERR The ID specified in XADD must be greater than 0-0")
	}
	if o.producer != nil && o.iid == nil {
		o.iid = contentID(fields)
	}
	key := c.Args[1]
	reads := []store.Stmt{c.streamMeta(key), c.stmt(sqlNodeLast, key)}
	if o.producer != nil {
		reads = append(reads, c.stmt(sqlIIDFind, key, store.Bytes(o.producer), store.Bytes(o.iid)))
	}
	return readThen(func(r *store.Result) Plan {
		m, bad := metaOf(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case !m.exists && o.noMake:
			return answer(resp.Nil)
		case o.producer != nil && len(r.Rows[2]) > 0:
			return write(always(streamIDOf(r.Rows[2][0][0]).reply()), c.stmt(sqlIDMPDuplicate, key))
		}
		id, msg := c.nextID(o, m)
		if msg != "" {
			return fail(msg)
		}
		m.last = id
		m.added++
		named := c.key(key)[:2:2]
		stmts := append(make([]store.Stmt, 0, 6), store.Stmt{SQL: sqlStreamGrow, Args: append(named, m.last.value(), store.Digits(m.added))})
		if !m.exists {
			stmts = append(c.makeStream(key), c.saveStream(key, m))
		}
		stmts = append(stmts, store.Stmt{SQL: sqlStreamAppend, Args: append(named, id.value(), store.Bytes(PackFields(fields)))},
			c.countAdded(key), c.appendNode(key, nodeOf(r.Rows[1]), id, fields))
		if o.producer != nil {
			stmts = append(stmts, c.recordIID(key, o, id)...)
		}
		if o.trim != 0 {
			stmts = c.appendTrim(stmts, key, o, m)
		}
		return write(always(id.reply()), stmts...)
	}, reads...)
}

// appendTrim appends the statements that trim the stream after an entry was added.
func (c *Call) appendTrim(stmts []store.Stmt, key []byte, o addOptions, m streamMeta) []store.Stmt {
	if o.trim == 'l' && m.length > LongList && o.maxLen <= m.length/4 {
		stmts = append(stmts, c.cutEntries(key, o)...)
	}
	trim, _ := c.trimStmts(key, o)
	return append(stmts, trim...)
}

// nextID returns the ID of a new entry, which must be greater than the last one.
func (c *Call) nextID(o addOptions, m streamMeta) (id streamID, bad string) {
	switch {
	case m.last == lastStreamID:
		return id, "ERR The stream has exhausted the last possible ID, unable to add more items"
	case o.auto:
		if id = (streamID{ms: uint64(c.Env.Now)}); id.ms <= m.last.ms {
			id, _ = m.last.next()
		}
		return id, ""
	case o.autoSeq && o.id.ms == m.last.ms && m.last.seq < math.MaxUint64:
		id = streamID{m.last.ms, m.last.seq + 1}
	default:
		id = o.id
	}
	if id.compare(m.last) <= 0 {
		return id, "ERR The ID specified in XADD is equal or smaller than the target stream top item"
	}
	return id, ""
}

const (
	sqlStreamPick = `SELECT id FROM stream_entries WHERE key_id = ` + liveID + ` AND id IN (SELECT unhex(value) FROM json_each(?4)) ORDER BY id`
	sqlStreamDrop = `DELETE FROM stream_entries WHERE key_id = ` + liveID + ` AND id IN (SELECT unhex(value) FROM json_each(?4))`
)

func xdel(c *Call) Plan {
	key := c.Args[1]
	ids, ok := parseStreamIDs(c.Args[2:])
	return readThen(func(r *store.Result) Plan {
		m, bad := metaOf(r.Rows[0])
		found := r.Rows[1]
		switch {
		case bad.IsError():
			return answer(bad)
		case !m.exists:
			return answer(resp.Zero)
		case !ok:
			return fail(errStreamID)
		case len(found) == 0:
			return answer(resp.Zero)
		}
		gone := make([]streamID, len(found))
		for i, row := range found {
			gone[i] = streamIDOf(row[0])
		}
		if last := gone[len(gone)-1]; last.compare(m.deleted) > 0 {
			m.deleted = last
		}
		return write(changed(0), append(c.dropEntries(key, gone), c.saveStream(key, m))...)
	}, c.streamMeta(key), c.stmt(sqlStreamPick, key, streamIDs(ids)))
}

func xsetid(c *Call) Plan {
	key := c.Args[1]
	id, ok := parseStreamID(c.Args[2], 0)
	if !ok {
		return fail(errStreamID)
	}
	added, deleted, wrong := c.parseSetID(id)
	if wrong != "" {
		return fail(wrong)
	}
	return readThen(func(r *store.Result) Plan {
		m, bad := metaOf(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case !m.exists:
			return answer(noSuchKey)
		case id.compare(m.deleted) < 0:
			return fail("ERR The ID specified in XSETID is smaller than current max_deleted_entry_id")
		case m.length > 0 && id.compare(streamIDLast(r.Rows[1])) < 0:
			return fail("ERR The ID specified in XSETID is smaller than the target stream top item")
		case m.length > 0 && added >= 0 && added < m.length:
			return fail("ERR The entries_added specified in XSETID is smaller than the target stream length")
		}
		m.last = id
		if added >= 0 {
			m.added = added
		}
		if !deleted.isZero() {
			m.deleted = deleted
		}
		return write(decodeOK, c.saveStream(key, m), c.touch(key))
	}, c.streamMeta(key), c.stmt(sqlStreamNewest, key))
}

// parseSetID parses the options of XSETID: ENTRIESADDED, -1 if not given, and MAXDELETEDID, zero if not given.
func (c *Call) parseSetID(id streamID) (added int64, deleted streamID, bad string) {
	added = -1
	var ok bool
	for i := 3; i < len(c.Args); i += 2 {
		switch more := i+1 < len(c.Args); {
		case more && c.is(i, "ENTRIESADDED"):
			if added, ok = parseInt(c.Args[i+1]); !ok {
				return 0, deleted, errNotInteger
			}
			if added < 0 {
				return 0, deleted, "ERR entries_added must be positive"
			}
		case more && c.is(i, "MAXDELETEDID"):
			if deleted, ok = parseStreamID(c.Args[i+1], 0); !ok {
				return 0, deleted, errStreamID
			}
			if id.compare(deleted) < 0 {
				return 0, deleted, "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id"
			}
		default:
			return 0, deleted, errSyntax
		}
	}
	return added, deleted, ""
}

// sqlStreamNewest reads the id of the newest entry.
const sqlStreamNewest = `SELECT id FROM stream_entries WHERE key_id = ` + liveID + ` ORDER BY id DESC LIMIT 1`

func streamIDLast(rows []store.Row) streamID {
	if len(rows) == 0 {
		return streamID{}
	}
	return streamIDOf(rows[0][0])
}
