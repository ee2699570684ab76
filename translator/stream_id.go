package translator

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/bits"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// streamID names an entry of a stream. The zero value is before every entry.
type streamID struct{ ms, seq uint64 }

var lastStreamID = streamID{math.MaxUint64, math.MaxUint64}

func (id streamID) compare(o streamID) int {
	return cmp.Or(cmp.Compare(id.ms, o.ms), cmp.Compare(id.seq, o.seq))
}

func (id streamID) isZero() bool { return id == streamID{} }

func (id streamID) String() string {
	return strconv.FormatUint(id.ms, 10) + "-" + strconv.FormatUint(id.seq, 10)
}

func (id streamID) reply() resp.Value { return resp.MakeString(id.String()) }

// bytes returns the stored form, which has the same order.
func (id streamID) bytes() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(make([]byte, 0, 16), id.ms), id.seq)
}

func (id streamID) value() store.Value { return store.Bytes(id.bytes()) }

// streamIDOf decodes a cell. It returns the zero id unless the cell has 16 bytes.
func streamIDOf(v store.Value) streamID {
	b := v.Bytes()
	if len(b) != 16 {
		return streamID{}
	}
	return streamID{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// next returns the id after id; false after the last.
func (id streamID) next() (streamID, bool) {
	switch {
	case id.seq < math.MaxUint64:
		return streamID{id.ms, id.seq + 1}, true
	case id.ms < math.MaxUint64:
		return streamID{id.ms + 1, 0}, true
	}
	return id, false
}

// previous returns the id before id; false before the first.
func (id streamID) previous() (streamID, bool) {
	switch {
	case id.seq > 0:
		return streamID{id.ms, id.seq - 1}, true
	case id.ms > 0:
		return streamID{id.ms - 1, math.MaxUint64}, true
	}
	return id, false
}

const errStreamID = "ERR Invalid stream ID specified as stream command argument"

// longestID limits the length of an ID as text.
const longestID = 127

// parseStreamID parses "ms-seq", or "ms" with the default seq.
func parseStreamID(b []byte, seq uint64) (streamID, bool) {
	ms, rest, both := bytes.Cut(cString(b), []byte("-"))
	id := streamID{seq: seq}
	ok := len(b) <= longestID
	if ok {
		id.ms, ok = parseIDNumber(ms)
	}
	if ok && both {
		id.seq, ok = parseIDNumber(rest)
	}
	return id, ok
}

// parseIDNumber parses a number of an ID as Redis does: strictly, and otherwise as C's strtoull, which allows space and
// a sign and wraps around below 0.
func parseIDNumber(b []byte) (uint64, bool) {
	if n, ok := parseInt(b); ok {
		return uint64(n), n >= 0
	}
	b = bytes.TrimLeft(b, " \t\n\v\f\r")
	negative := bytes.HasPrefix(b, []byte("-"))
	if negative || bytes.HasPrefix(b, []byte("+")) {
		b = b[1:]
	}
	n, ok := parseUint(b)
	if negative {
		n = -n
	}
	return n, ok
}

// parseUint parses digits.
func parseUint(b []byte) (uint64, bool) {
	if len(b) == 0 || b[0] < '0' || b[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b), 10, 64)
	return n, err == nil
}

// parseRangeID is parseStreamID with the words - and +.
func parseRangeID(b []byte, seq uint64) (streamID, bool) {
	switch string(b) {
	case "-":
		return streamID{}, true
	case "+":
		return lastStreamID, true
	}
	return parseStreamID(b, seq)
}

// parseInterval parses the two ends of a range. An end after "(" is exclusive.
func parseInterval(from, to []byte) (start, end streamID, bad string) {
	start, bad = parseEnd(from, 0, streamID.next, "ERR invalid start ID for the interval")
	if bad == "" {
		end, bad = parseEnd(to, math.MaxUint64, streamID.previous, "ERR invalid end ID for the interval")
	}
	return start, end, bad
}

func parseEnd(b []byte, seq uint64, step func(streamID) (streamID, bool), errBeyond string) (streamID, string) {
	open := len(b) > 1 && b[0] == '('
	parse := parseRangeID
	if open {
		b, parse = b[1:], parseStreamID
	}
	id, ok := parse(b, seq)
	if !ok {
		return id, errStreamID
	}
	if open {
		if id, ok = step(id); !ok {
			return id, errBeyond
		}
	}
	return id, ""
}

// parseStreamIDs parses ids. It fails for - and +.
func parseStreamIDs(words [][]byte) ([]streamID, bool) {
	ids := make([]streamID, len(words))
	for i, w := range words {
		var ok bool
		if ids[i], ok = parseStreamID(w, 0); !ok {
			return nil, false
		}
	}
	return ids, true
}

// streamIDs returns the JSON argument of a list of ids.
func streamIDs(ids []streamID) store.Value {
	out := make([]byte, 0, 2+35*len(ids))
	out = append(out, '[')
	for i, id := range ids {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(hex.AppendEncode(append(out, '"'), id.bytes()), '"')
	}
	return store.TextBytes(append(out, ']'))
}

// PackFields returns the stored form of an entry: each string after its length.
func PackFields(fields [][]byte) []byte {
	out := make([]byte, 0, packedSize(fields))
	for _, f := range fields {
		out = append(binary.AppendUvarint(out, uint64(len(f))), f...)
	}
	return out
}

// packedSize returns the number of bytes of PackFields.
func packedSize(fields [][]byte) (n int) {
	for _, f := range fields {
		n += len(f) + (bits.Len(uint(len(f))|1)+6)/7
	}
	return n
}

// unpackFields decodes a stored entry to a reply.
func unpackFields(b []byte, w *store.Work) resp.Value {
	v := resp.Value{Kind: resp.Array}
	for len(b) > 0 {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			break
		}
		w.Step(stepsPerField)
		v.Elems = append(v.Elems, resp.MakeBulk(b[used:used+int(n)]))
		b = b[used+int(n):]
	}
	return v
}

// stepsPerField counts the steps of unpacking a field or a value of an entry.
const stepsPerField = 8

// entryReply returns an entry as [id, [field, value, …]]; its row is id and fields.
func entryReply(row store.Row, w *store.Work) resp.Value {
	return resp.MakeArray(streamIDOf(row[0]).reply(), unpackFields(row[1].Bytes(), w))
}

func entryReplies(rows []store.Row, w *store.Work) resp.Value {
	v := resp.Value{Kind: resp.Array, Elems: make([]resp.Value, len(rows))}
	for i, row := range rows {
		v.Elems[i] = entryReply(row, w)
	}
	return v
}
