package decode

import (
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
	ok := depth <= treeDepth && wireFields(b, func(f wireField) bool {
		if *nodes++; f.number < last || f.number > largestField || *nodes > mostNodes {
			return false
		}
		last = f.number
		label := strconv.FormatUint(f.number, 10)
		switch f.wire {
		case 0:
			t.add(label, leaf(varint(f.value)))
		case 1:
			t.add(label, leaf(fixed(f.value, math.Float64frombits(f.value), 64)))
		case 5:
			t.add(label, leaf(fixed(f.value, float64(math.Float32frombits(uint32(f.value))), 32)))
		default:
			t.add(label, delimited(f.bytes, depth, nodes))
		}
		return true
	})
	if !ok {
		return nil
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
func fixed(n uint64, f float64, bits int) string {
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
