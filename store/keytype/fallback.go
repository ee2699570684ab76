package keytype

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/resp"
)

// Fallback replaces a call of PageAt or ScanAt whose command is missing on the server, such as VRANGE before
// Redis 8.4. It returns a call that reads all elements, in no order, and a function that cuts the requested
// page from the reply; the page has at least least elements. The call is nil if there is no replacement.
func Fallback(asked [][]byte, least int) (call [][]byte, page func(resp.Value) resp.Value) {
	if len(asked) >= 5 && allElements[string(asked[0])] != nil {
		return allOf(asked)
	}
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
		names := slices.Clone(all.Elems)
		smallsort.Sort(names, func(a, b resp.Value) int { return bytes.Compare(a.Str, b.Str) })
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

// allElements maps a command that reads a page to the command that reads all elements.
var allElements = map[string][]string{"HSCAN": {"HGETALL"}, "SSCAN": {"SMEMBERS"}, "ZSCAN": {"ZRANGE", "0", "-1", "WITHSCORES"}}

// allOf replaces HSCAN, SSCAN or ZSCAN: the only page has all elements that match the call's MATCH.
func allOf(asked [][]byte) (call [][]byte, page func(resp.Value) resp.Value) {
	read := allElements[string(asked[0])]
	call = append(call, []byte(read[0]), asked[1])
	for _, arg := range read[1:] {
		call = append(call, []byte(arg))
	}
	parts := 2
	if read[0] == "SMEMBERS" {
		parts = 1
	}
	var pattern []byte
	for i := 3; i+1 < len(asked); i += 2 {
		if string(asked[i]) == "MATCH" {
			pattern = asked[i+1]
		}
	}
	return call, func(all resp.Value) resp.Value {
		if all.IsError() {
			return all
		}
		var elems []resp.Value
		for element := range slices.Chunk(all.Elems, parts) {
			if pattern == nil || glob.Match(pattern, element[0].Str, false) {
				elems = append(elems, element...)
			}
		}
		return resp.MakeArray(resp.MakeString("0"), resp.MakeArray(elems...))
	}
}

// allVectors returns a call that draws more elements than any vector set has, without repetition.
func allVectors(key []byte) [][]byte {
	return [][]byte{[]byte("VRANDMEMBER"), key, []byte("2147483647")}
}
