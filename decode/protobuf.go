package decode

import (
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"
)

// protobuf shows a message of Protocol Buffers by its wire format: the numbers of fields,
// and what their bytes may be. Names and types are in its .proto only.
func protobuf(b []byte, most int) (string, bool) {
	if len(b) < shortestMessage || len(b) > most {
		return "", false
	}
	nodes := 0
	t := message(b, 0, &nodes)
	if t == nil {
		return "", false
	}
	return t.layout(most), true
}

// shortestMessage keeps bitmaps and counters from passing for messages.
const shortestMessage = 4

// largestField is the largest number of a field that is taken for one: more are allowed,
// and are more often bytes of something else.
const largestField = 1 << 12

// message is the fields of b; nil when it is none. What writes messages writes the fields in
// their order: bytes of something else seldom have one.
func message(b []byte, depth int, nodes *int) *tree {
	t, last := &tree{open: '{'}, uint64(1)
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		field, wire := tag>>3, tag&7
		if *nodes++; n <= 0 || field < last || field > largestField || *nodes > mostNodes || depth > treeDepth {
			return nil
		}
		b, last = b[n:], field
		label := strconv.FormatUint(field, 10)
		switch wire {
		case 0:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				return nil
			}
			b = b[n:]
			t.add(label, leaf(varint(v)))
		case 1, 5:
			size := map[uint64]int{1: 8, 5: 4}[wire]
			if len(b) < size {
				return nil
			}
			t.add(label, leaf(fixed(b[:size])))
			b = b[size:]
		case 2:
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return nil
			}
			t.add(label, delimited(b[n:n+int(size)], depth, nodes))
			b = b[n+int(size):]
		default:
			return nil
		}
	}
	return t
}

// varint is a number as it is, and what it is when its type is signed.
func varint(v uint64) string {
	text := strconv.FormatUint(v, 10)
	if int64(v) < 0 {
		text = strconv.FormatInt(int64(v), 10)
	}
	return text
}

// fixed is a number of four or eight bytes: a fraction where it looks like one.
func fixed(b []byte) string {
	f, n, bits := 0.0, uint64(0), 64
	if len(b) == 4 {
		n, bits = uint64(binary.LittleEndian.Uint32(b)), 32
		f = float64(math.Float32frombits(uint32(n)))
	} else {
		n = binary.LittleEndian.Uint64(b)
		f = math.Float64frombits(n)
	}
	if a := math.Abs(f); f == 0 || a >= 1e-9 && a < 1e15 {
		return strconv.FormatFloat(f, 'g', -1, bits)
	}
	return strconv.FormatUint(n, 10)
}

// delimited is a text, a message, or bytes.
func delimited(b []byte, depth int, nodes *int) *tree {
	if utf8.Valid(b) && isText(b, false) {
		return leaf(quote(b))
	}
	if inner := message(b, depth+1, nodes); inner != nil && len(b) > 1 {
		return inner
	}
	return leaf("bytes " + quote(b))
}
