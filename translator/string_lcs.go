package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// maxCells limits the work of an LCS, as in Redis: its table has one row and one column more than the strings have
// bytes, takes four bytes a cell, and must not be larger than a string may be.
const maxCells = maxString / 4

// lcsOptions holds the options of LCS.
type lcsOptions struct {
	length, index, matchLen bool
	minMatch                int64
}

func (c *Call) parseLCS() (o lcsOptions, bad resp.Value) {
	for i := 3; i < len(c.Args); i++ {
		switch {
		case c.is(i, "LEN"):
			o.length = true
		case c.is(i, "IDX"):
			o.index = true
		case c.is(i, "WITHMATCHLEN"):
			o.matchLen = true
		case c.is(i, "MINMATCHLEN") && i+1 < len(c.Args):
			i++
			var ok bool
			if o.minMatch, ok = parseInt(c.Args[i]); !ok {
				return o, notInteger
			}
		default:
			return o, resp.MakeError(errSyntax)
		}
	}
	if o.length && o.index {
		return o, resp.MakeError("ERR If you want both the length and indexes, please just use IDX.")
	}
	return o, bad
}

// lcs reads both strings and compares them in Go. As in Redis, their types are checked before the options.
func lcs(c *Call) Plan {
	o, bad := c.parseLCS()
	return read(func(r *store.Result) resp.Value {
		a, ok1 := stringOrEmpty(r.Rows[0], r.Work)
		b, ok2 := stringOrEmpty(r.Rows[1], r.Work)
		switch {
		case !ok1 || !ok2:
			return resp.MakeError("ERR The specified keys must contain string values")
		case bad.IsError():
			return bad
		case (len(a)+1)*(len(b)+1) > maxCells:
			return resp.MakeError("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len")
		}
		work := 4 * int64(len(b)+1) // for commonLength
		if !o.length {
			work += int64(len(a))*int64(len(b))/8 + int64(min(len(a), len(b)))
		}
		r.Work.Grow(work)
		return o.compare(a, b, r.Work)
	}, c.stmt(sqlGet, c.Args[1]), c.stmt(sqlGet, c.Args[2]))
}

// stringOrEmpty returns the value in the rows of sqlGet, empty for a missing key; ok is false for another type.
func stringOrEmpty(rows []store.Row, w *store.Work) (b []byte, ok bool) {
	if len(rows) == 0 {
		return nil, true
	}
	v := stringOf(rows, w)
	return v.Str, !v.IsError()
}

func (o lcsOptions) compare(a, b []byte, w *store.Work) resp.Value {
	if o.length {
		n, _ := commonLength(a, b, false, w)
		return resp.MakeInt(int64(n))
	}
	n, up := commonLength(a, b, true, w)
	common, matches := make([]byte, n), resp.EmptyArray
	walkCommon(a, b, up, func(i, j, length int) {
		n -= length
		copy(common[n:], a[i:i+length])
		if !o.index || int64(length) < o.minMatch {
			return
		}
		match := resp.MakeArray(span(i, length), span(j, length))
		if o.matchLen {
			match.Elems = append(match.Elems, resp.MakeInt(int64(length)))
		}
		matches.Elems = append(matches.Elems, match)
	})
	if !o.index {
		return resp.MakeBulk(common)
	}
	return resp.MakeMap(resp.MakeString("matches"), matches, resp.MakeString("len"), resp.MakeInt(int64(len(common))))
}

// span returns the first and the last index of length bytes from i on.
func span(i, length int) resp.Value {
	return resp.MakeArray(resp.MakeInt(int64(i)), resp.MakeInt(int64(i+length-1)))
}

// bitSet holds a set of small numbers.
type bitSet []uint64

func (m bitSet) set(i int)      { m[i/64] |= 1 << (i % 64) }
func (m bitSet) has(i int) bool { return m[i/64]>>(i%64)&1 != 0 }

// commonLength returns the length of the longest common subsequence. With trace, up contains i*len(b)+j for each pair
// of different bytes where the best path back skips a[i]. For other pairs it skips b[j], also in a tie.
func commonLength(a, b []byte, trace bool, w *store.Work) (n int, up bitSet) {
	if trace {
		up = make(bitSet, (len(a)*len(b)+63)/64)
	}
	// best[j+1] is the length for a up to the current byte, and b up to j.
	best := make([]uint32, len(b)+1)
	for i, ch := range a {
		w.Step(len(b))
		diagonal, left := uint32(0), uint32(0)
		for j, other := range b {
			above := best[j+1]
			switch {
			case ch == other:
				left = diagonal + 1
			case above > left:
				left = above
				if trace {
					up.set(i*len(b) + j)
				}
			}
			diagonal, best[j+1] = above, left
		}
	}
	return int(best[len(b)]), up
}

// walkCommon calls match for each run of the subsequence, from the last to the first, with its positions in a and b and
// its length.
func walkCommon(a, b []byte, up bitSet, match func(i, j, length int)) {
	i, j := len(a)-1, len(b)-1
	for i >= 0 && j >= 0 {
		if a[i] != b[j] {
			if up.has(i*len(b) + j) {
				i--
			} else {
				j--
			}
			continue
		}
		length := 0
		for i >= 0 && j >= 0 && a[i] == b[j] {
			i, j, length = i-1, j-1, length+1
		}
		match(i+1, j+1, length)
	}
}
