package keytype

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/resp"
)

// StandIn is for a call of PageAt whose command the server does not have, as VRANGE before
// Redis 8.4: it returns a call that reads the names of all elements, in no order, and page, which
// makes its reply that of the page, though one of at least least elements. The call is nil where
// nothing stands in.
func StandIn(asked [][]byte, least int) (call [][]byte, page func(resp.Value) resp.Value) {
	if len(asked) != 5 || string(asked[0]) != "VRANGE" {
		return nil, nil
	}
	n, err := strconv.Atoi(string(asked[4]))
	if err != nil {
		return nil, nil
	}
	after, follows := bytes.CutPrefix(asked[2], []byte("("))
	return allVectors(asked[1]), func(all resp.Value) resp.Value {
		if all.IsError() || all.IsNull() {
			return all
		}
		names := slices.SortedFunc(slices.Values(all.Elems), func(a, b resp.Value) int { return bytes.Compare(a.Str, b.Str) })
		from := 0
		if follows {
			from, _ = slices.BinarySearchFunc(names, after, func(e resp.Value, after []byte) int {
				if bytes.Compare(e.Str, after) <= 0 {
					return -1
				}
				return 1
			})
		}
		all.Elems = names[from:min(len(names), from+max(n, least))]
		return all
	}
}

// allVectors draws more elements than any vector set has, without repeating one.
func allVectors(key []byte) [][]byte {
	return [][]byte{[]byte("VRANDMEMBER"), key, []byte("2147483647")}
}
