package translator

import (
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// bitOps combine one byte of the first string with the bytes of the other strings at the same offset. DIFF, DIFF1,
// ANDOR and ONE came with Redis 8.2: https://redis.io/docs/latest/commands/bitop/.
var bitOps = map[string]func(first byte, rest []byte) byte{
	"AND": func(b byte, rest []byte) byte {
		for _, r := range rest {
			b &= r
		}
		return b
	},
	"OR": orAll,
	"XOR": func(b byte, rest []byte) byte {
		for _, r := range rest {
			b ^= r
		}
		return b
	},
	"NOT":   func(b byte, _ []byte) byte { return ^b },
	"DIFF":  func(b byte, rest []byte) byte { return b &^ orAll(0, rest) },
	"DIFF1": func(b byte, rest []byte) byte { return orAll(0, rest) &^ b },
	"ANDOR": func(b byte, rest []byte) byte { return b & orAll(0, rest) },
	"ONE": func(b byte, rest []byte) byte {
		once, more := b, byte(0)
		for _, r := range rest {
			more |= once & r
			once |= r
		}
		return once &^ more
	},
}

func orAll(b byte, rest []byte) byte {
	for _, r := range rest {
		b |= r
	}
	return b
}

func bitop(c *Call) Plan {
	name := strings.ToUpper(string(c.Args[1]))
	op := bitOps[name]
	keys := c.Args[3:]
	switch {
	case op == nil:
		return fail(errSyntax)
	case name == "NOT" && len(keys) != 1:
		return fail("ERR BITOP NOT must be called with a single source key.")
	case (name == "DIFF" || name == "DIFF1" || name == "ANDOR") && len(keys) < 2:
		return fail("ERR BITOP " + name + " must be called with at least two source keys.")
	}
	return readThen(func(r *store.Result) Plan {
		sources := make([][]byte, len(keys))
		size := 0
		for i := range sources {
			v := decodeString(&store.Result{Rows: r.Rows[i:], Work: r.Work})
			if v.IsError() {
				return answer(v)
			}
			sources[i] = v.Str
			size = max(size, len(v.Str))
		}
		if size == 0 {
			return write(always(resp.Zero), c.drop(c.Args[2]))
		}
		r.Work.Grow(2 * int64(size)) // the result, and its parts as arguments
		return c.storeString(c.Args[2], combine(op, sources, size, r.Work), resp.MakeInt(int64(size)))
	}, c.getEach(keys)...)
}

// combine applies op bytewise. Short sources are padded with zeros.
func combine(op func(byte, []byte) byte, sources [][]byte, size int, w *store.Work) []byte {
	out := make([]byte, size)
	column := make([]byte, len(sources))
	for i := range out {
		if i%1024 == 0 {
			w.Step(1024 * len(sources))
		}
		for j, s := range sources {
			column[j] = 0
			if i < len(s) {
				column[j] = s[i]
			}
		}
		out[i] = op(column[0], column[1:])
	}
	return out
}
