package translator

import (
	"math"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// readQuery holds the arguments of XREAD and XREADGROUP.
type readQuery struct {
	group      bool
	name       []byte // of the group
	consumer   []byte
	limit      int64 // entries per stream, -1 for all
	maxEntries int64 // entries of all streams, -1 for all
	size       int64 // bytes of the reply, -1 for any
	claim      int64 // least idle time of pending entries to read, -1 for none
	block      int64 // ms to wait for entries, 0 for no limit, -1 not to wait
	noAck      bool
	keys       [][]byte
	ids        []readID
}

// readID holds the position to read from: after an id, at the end ($), at the last entry (+), or new entries of the
// group (>).
type readID struct {
	after streamID
	end   bool
	last  bool
	fresh bool
	bad   string // the error, reported after errors of the key
}

// parseRead parses the arguments of both commands.
func (c *Call) parseRead(group bool) (q readQuery, bad string) {
	q = readQuery{limit: -1, maxEntries: -1, size: -1, claim: -1, block: -1}
	at := 0 // index of the first key
	for i := 1; i < len(c.Args) && at == 0; i++ {
		if c.is(i, "STREAMS") && i+1 < len(c.Args) {
			at = i + 1
			break
		}
		used, bad := c.parseReadOption(&q, i, group)
		if bad != "" {
			return q, bad
		}
		i += used
	}
	switch n := len(c.Args) - at; {
	case at == 0:
		return q, errSyntax
	case n%2 != 0:
		ids := "ID, '+', or '$'"
		if group {
			ids = "ID or '>'"
		}
		return q, "ERR Unbalanced '" + c.lowerName() + "' list of streams: for each stream key an " + ids + " must be specified."
	case group && !q.group:
		return q, "ERR Missing GROUP option for XREADGROUP"
	case q.maxEntries >= 0 && q.maxEntries < q.limit:
		return q, "ERR MAXCOUNT must be greater than or equal to COUNT"
	default:
		q.keys = c.Args[at : at+n/2]
	}
	for _, w := range c.Args[at+len(q.keys):] {
		q.ids = append(q.ids, q.parseID(w))
	}
	return q, ""
}

// parseReadOption parses the option at i and returns the number of its arguments.
func (c *Call) parseReadOption(q *readQuery, i int, group bool) (used int, bad string) {
	more := len(c.Args) - 1 - i
	foreign := ""
	switch {
	case c.is(i, "BLOCK") && more > 0:
		q.block, bad = c.milliseconds(i + 1)
		return 1, bad
	case c.is(i, "COUNT") && more > 0:
		n, ok := parseInt(c.Args[i+1])
		if !ok {
			return 0, errNotInteger
		}
		if q.limit = min(n, maxCount); n <= 0 {
			q.limit = -1
		}
		return 1, ""
	case c.is(i, "MAXCOUNT") && more > 0:
		q.maxEntries, bad = parseFrom(1, c.Args[i+1], errNotInteger, "ERR MAXCOUNT must be a positive integer")
		return 1, bad
	case c.is(i, "MAXSIZE") && more > 0:
		q.size, bad = parseFrom(1, c.Args[i+1], errNotInteger, "ERR MAXSIZE must be a positive integer")
		return 1, bad
	case c.is(i, "GROUP") && more >= 2:
		foreign = "GROUP"
		q.group, q.name, q.consumer = true, c.Args[i+1], c.Args[i+2]
		used = 2
	case c.is(i, "NOACK"):
		foreign = "NOACK"
		q.noAck = true
	case c.is(i, "CLAIM") && more > 0:
		foreign = "CLAIM"
		if group {
			q.claim, bad = parseFrom(0, c.Args[i+1], "ERR min-idle-time is not an integer or out of range", "ERR min-idle-time must be a positive integer")
		}
		used = 1
	default:
		return 0, errSyntax
	}
	if !group {
		return 0, "ERR The " + foreign + " option is only supported by XREADGROUP. You called XREAD instead."
	}
	return used, bad
}

// parseFrom parses an integer of at least least; one above maxCount becomes maxCount. none and below are the errors.
func parseFrom(least int64, b []byte, none, below string) (n int64, bad string) {
	n, ok := parseInt(b)
	switch {
	case !ok:
		return 0, none
	case n < least:
		return 0, below
	}
	return min(n, maxCount), ""
}

func (q *readQuery) parseID(word []byte) (id readID) {
	var ok bool
	switch text := string(word); {
	case text == "$" && q.group:
		id.bad = "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set."
	case text == "$":
		id.end = true
	case text == "+" && q.group:
		id.bad = "ERR The + ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The + ID would just return an empty result set."
	case text == "+":
		id.last = true
	case text == ">" && !q.group:
		id.bad = "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option."
	case text == ">":
		id.fresh = true
	default:
		if id.after, ok = parseStreamID(word, 0); !ok {
			id.bad = errStreamID
		}
		id.fresh = q.group && id.after == lastStreamID // Redis represents > by this id
	}
	return id
}

// entriesAfter returns the statement that reads the entries after an id.
func (c *Call) entriesAfter(key []byte, id streamID, limit int64) store.Stmt {
	start, ok := id.next()
	if !ok {
		limit = 0
	}
	return c.stmt(sqlStreamRange, key, start.value(), streamID{math.MaxUint64, math.MaxUint64}.value(), store.Int(limit))
}

func xread(c *Call) Plan {
	q, bad := c.parseRead(false)
	if bad != "" {
		return fail(bad)
	}
	var stmts []store.Stmt
	for i, key := range q.keys {
		read := c.entriesAfter(key, q.ids[i].after, q.maxRows())
		switch {
		case q.ids[i].end:
			read = c.entriesAfter(key, lastStreamID, 0)
		case q.ids[i].last:
			read = c.stmt(sqlEntryLast, key)
		}
		stmts = append(stmts, c.typeOf(key), read)
	}
	return read(q.entries, stmts...)
}

// entries makes the reply of XREAD from the type and the entries of each key.
func (q readQuery) entries(r *store.Result) resp.Value {
	for i := range q.keys {
		if rows := r.Rows[2*i]; len(rows) > 0 && string(rows[0][0].Bytes()) != streamType {
			return wrongType
		}
		if bad := q.ids[i].bad; bad != "" {
			return resp.MakeError(bad)
		}
	}
	reply := resp.Value{Kind: streamsKind}
	left := q.budget()
	for i, key := range q.keys {
		if entries := left.take(key, entryReplies(r.Rows[2*i+1], r.Work).Elems); len(entries) > 0 {
			reply.Elems = append(reply.Elems, resp.MakeBulk(key), resp.MakeArray(entries...))
		}
	}
	if len(reply.Elems) == 0 {
		return resp.NilArray
	}
	return reply
}

// XREAD replies with pairs of key and entries, nested in RESP2 and a map in RESP3.
const streamsKind = resp.PairMap

// An entry in a reply has at least minEntryBytes bytes.
const minEntryBytes = 25

// maxRows returns the number of rows of a stream that the reply may need, -1 for all.
func (q readQuery) maxRows() int64 {
	n := minLimit(q.limit, q.maxEntries)
	if q.size >= 0 {
		n = minLimit(n, q.size/minEntryBytes+1)
	}
	return n
}

// minLimit returns the smaller of two limits, where a negative number means no limit.
func minLimit(a, b int64) int64 {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// budget holds the rest of MAXCOUNT and MAXSIZE. entries is negative without MAXCOUNT; sized is false without MAXSIZE.
type budget struct {
	entries, bytes int64
	sized          bool
	used           bool // an entry was taken: the first one is allowed whatever its size
}

func (q readQuery) budget() budget {
	return budget{entries: q.maxEntries, bytes: q.size, sized: q.size >= 0}
}

func (b *budget) spent() bool { return b.entries == 0 || b.sized && b.used && b.bytes <= 0 }

// take returns the entries of the stream within the budget: entries are added while the reply, in RESP2, is smaller
// than MAXSIZE, so the last entry may exceed it.
func (b *budget) take(key []byte, entries []resp.Value) []resp.Value {
	if b.sized && !b.spent() {
		b.bytes -= int64(len("*2\r\n") + len(resp.Append2(nil, resp.MakeBulk(key))))
	}
	for i, entry := range entries {
		if b.spent() {
			return entries[:i]
		}
		b.entries = max(b.entries-1, -1)
		b.used = true
		if b.sized {
			b.bytes -= int64(len(resp.Append2(nil, entry)))
		}
	}
	return entries
}
