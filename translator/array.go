package translator

import (
	"math"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

const arrayType = keytype.Array

var arrayTranslations = translations{
	{"ARSET", arset},
	{"ARMSET", armset},
	{"ARGET", arget},
	{"ARMGET", armget},
	{"ARGETRANGE", argetrange},
	{"ARSCAN", arscan},
	{"ARGREP", argrep},
	{"AROP", arop},
	{"ARDEL", ardel},
	{"ARDELRANGE", ardelrange},
	{"ARCOUNT", arcount},
	{"ARLEN", arlen},
	{"ARINSERT", arinsert},
	{"ARRING", arring},
	{"ARNEXT", arnext},
	{"ARSEEK", arseek},
	{"ARLASTITEMS", arlastitems},
	{"ARINFO", arinfo},
}

// An index is unsigned. The column pos holds it less 2^63, that is, with the highest bit inverted.
const (
	maxIndex     = math.MaxUint64 - 1 // greatest index of a value
	endOfArray   = math.MaxUint64     // cursor of an array that cannot take another append
	signBit      = 1 << 63
	sqlFirstSlot = `-9223372036854775808`
)

const errArrayIndex = "ERR invalid array index"

// failArray replies with the error msg, or WRONGTYPE if the key is not an array.
func (c *Call) failArray(msg string) Plan {
	bad := resp.MakeError(msg)
	return c.failTyped(c.Args[1], arrayType, bad, bad)
}

// pos returns the column value of an index.
func pos(index uint64) store.Value { return store.Digits(int64(index ^ signBit)) }

// indexOf returns the index of a pos that was read as text.
func indexOf(v store.Value) uint64 { return uint64(v.Int()) ^ signBit }

// indexReply returns an integer. Beyond 2^63-1 it returns a big number, which is a bulk string in RESP2.
func indexReply(n uint64) resp.Value {
	if n > math.MaxInt64 {
		return resp.Value{Kind: resp.BigNumber, Str: strconv.AppendUint(nil, n, 10)}
	}
	return resp.MakeInt(int64(n))
}

// parseUnsigned parses an integer below 2^64 as strictly as parseInt.
func parseUnsigned(b []byte) (uint64, bool) {
	n, ok := parseUint(b)
	return n, ok && (b[0] != '0' || len(b) == 1)
}

// parseIndex parses the index of a slot.
func parseIndex(b []byte) (uint64, bool) {
	n, ok := parseUnsigned(b)
	return n, ok && n <= maxIndex
}

// slotRange holds a range of indexes, both ends included.
type slotRange struct {
	from, to uint64
	back     bool // read from to down to from
}

func makeSlotRange(start, end uint64) slotRange {
	if start > end {
		return slotRange{end, start, true}
	}
	return slotRange{start, end, false}
}

// parseSlotRange parses two indexes.
func parseSlotRange(start, end []byte) (slotRange, bool) {
	from, ok1 := parseIndex(start)
	to, ok2 := parseIndex(end)
	return makeSlotRange(from, to), ok1 && ok2
}

// sqlSlots reads index and value of up to ?6 slots of a range.
const (
	sqlInSlotRange = ` FROM arrays WHERE key_id = ` + liveID + ` AND pos BETWEEN ?4 AND ?5`
	sqlSlots       = `SELECT CAST(pos AS TEXT), value` + sqlInSlotRange + ` ORDER BY pos LIMIT CAST(?6 AS INTEGER)`
	sqlSlotsBack   = `SELECT CAST(pos AS TEXT), value` + sqlInSlotRange + ` ORDER BY pos DESC LIMIT CAST(?6 AS INTEGER)`
)

// slots returns the statement that reads at most limit slots with values in the range.
func (c *Call) slots(key []byte, s slotRange, limit int64) store.Stmt {
	sql := sqlSlots
	if s.back {
		sql = sqlSlotsBack
	}
	return c.stmt(sql, key, pos(s.from), pos(s.to), store.Digits(limit))
}

// slotReply returns a row of slots as a pair.
func slotReply(row store.Row) resp.Value {
	return resp.MakeArray(indexReply(indexOf(row[0])), bulk(row[1]))
}

// sqlArray reads the properties of an array, without its values.
const sqlArray = `SELECT type, CAST(count AS TEXT),
	(SELECT CAST(max(pos) AS TEXT) FROM arrays WHERE key_id = keys.id),
	(SELECT CAST(next AS TEXT) FROM array_cursors WHERE key_id = keys.id)
	FROM keys WHERE ` + live

// array holds a row of sqlArray. The zero array is a missing key.
type array struct {
	count  int64
	length uint64 // the highest index plus one
	next   uint64 // index of the next append, 0 before the first append
}

// arrayOf decodes the rows of sqlArray. bad is the error reply for another type.
func arrayOf(rows []store.Row) (a array, bad resp.Value) {
	if len(rows) == 0 {
		return a, bad
	}
	row := rows[0]
	if string(row[0].Bytes()) != arrayType {
		return a, wrongType
	}
	a.count = row[1].Int()
	if !row[2].IsNull() {
		a.length = indexOf(row[2]) + 1
	}
	if !row[3].IsNull() {
		a.next = indexOf(row[3])
	}
	return a, bad
}

// describeArray plans a read of sqlArray.
func (c *Call) describeArray(describe func(array) resp.Value) Plan {
	return read(func(r *store.Result) resp.Value {
		a, bad := arrayOf(r.Rows[0])
		if bad.IsError() {
			return bad
		}
		return describe(a)
	}, c.stmt(sqlArray, c.Args[1]))
}

func arcount(c *Call) Plan {
	return c.describeArray(func(a array) resp.Value { return resp.MakeInt(a.count) })
}

func arlen(c *Call) Plan {
	return c.describeArray(func(a array) resp.Value { return indexReply(a.length) })
}

func arnext(c *Call) Plan {
	return c.describeArray(func(a array) resp.Value {
		if a.next == endOfArray {
			return resp.Nil
		}
		return indexReply(a.next)
	})
}
