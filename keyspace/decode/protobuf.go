package decode

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// protobuf shows a Protocol Buffers message from its wire format: field numbers, and values by
// likely type. Only a .proto file has names and types.
func protobuf(b []byte, most int) (string, bool) {
	if len(b) < minMessage || len(b) > most {
		return "", false
	}
	nodes := 0
	t := message(b, 0, &nodes)
	if t == nil {
		return "", false
	}
	return t.layout(most), true
}

// minMessage prevents bitmaps and counters from being taken for messages.
const minMessage = 4

// maxField limits accepted field numbers. Protocol Buffers allows larger ones, but they
// usually mean other data.
const maxField = 1 << 12

// message parses the fields of b, or returns nil if b is not a message. Encoders write fields
// in order; other data rarely has ordered fields.
func message(b []byte, depth int, nodes *int) *tree {
	t, last := &tree{open: '{'}, uint64(1)
	ok := depth <= maxTreeDepth && wireFields(b, func(f wireField) bool {
		if *nodes++; f.number < last || f.number > maxField || *nodes > maxNodes {
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

// varint formats a number, as signed if its top bit is set.
func varint(v uint64) string {
	text := strconv.FormatUint(v, 10)
	if int64(v) < 0 {
		text = strconv.FormatInt(int64(v), 10)
	}
	return text
}

// fixed formats a number of four or eight bytes, as a fraction if it looks like one.
func fixed(n uint64, f float64, bits int) string {
	if a := math.Abs(f); f == 0 || a >= 1e-9 && a < 1e15 {
		return strconv.FormatFloat(f, 'g', -1, bits)
	}
	return strconv.FormatUint(n, 10)
}

// delimited formats a string, a message or bytes.
func delimited(b []byte, depth int, nodes *int) *tree {
	if utf8.Valid(b) && isText(b, false) {
		return leaf(quote(b))
	}
	if inner := message(b, depth+1, nodes); inner != nil && len(b) > 1 {
		return inner
	}
	return leaf("bytes " + quote(b))
}
