package commands

import (
	"bytes"
	"math"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// Is compares an argument with an upper-case ASCII word, ignoring case.
func Is(arg []byte, word string) bool {
	if len(arg) != len(word) {
		return false
	}
	for i, ch := range arg {
		if 'a' <= ch && ch <= 'z' {
			ch -= 'a' - 'A'
		}
		if ch != word[i] {
			return false
		}
	}
	return true
}

// Clip returns the part of b that C prints in a format of n bytes: a NUL ends it.
func Clip(b []byte, n int) string {
	n = max(0, min(n, len(b)))
	if end := bytes.IndexByte(b[:n], 0); end >= 0 {
		n = end
	}
	return string(b[:n])
}

// Quote formats an argument for an error message: up to a NUL, on one line.
func Quote(arg []byte) string { return newlines.Replace(Clip(arg, len(arg))) }

var newlines = strings.NewReplacer("\r", " ", "\n", " ")

// OneLine keeps an error reply on one line, as Redis does: it trims line breaks at the end and
// replaces others with spaces.
func OneLine(s string) string { return newlines.Replace(strings.TrimRight(s, "\r\n")) }

// ParseInt parses a 64-bit integer as strictly as Redis's string2ll: no spaces, no plus, no
// leading zeros, no "-0".
func ParseInt(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	digits := b
	if b[0] == '-' {
		digits = b[1:]
	}
	if len(digits) == 0 || digits[0] == '0' && len(b) > 1 {
		return 0, false
	}
	var n uint64
	for _, ch := range digits {
		if ch < '0' || ch > '9' {
			return 0, false
		}
		d := uint64(ch - '0')
		if n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	if b[0] == '-' {
		if n > 1<<63 {
			return 0, false
		}
		return -int64(n), true
	}
	if n > math.MaxInt64 {
		return 0, false
	}
	return int64(n), true
}

// Databases is the number of databases of a file, Redis's default.
const Databases = 16

// DBIndex parses the number of a file's database, as in SELECT, MOVE and COPY, or returns the
// error reply.
func DBIndex(arg []byte) (int, resp.Value) {
	n, bad := AnyDB(arg)
	if !bad.IsError() && n >= Databases {
		return 0, resp.MakeError(errDBIndex)
	}
	return n, bad
}

const errDBIndex = "ERR DB index is out of range"

// AnyDB is like DBIndex for a server, which may have any number of databases.
func AnyDB(arg []byte) (int, resp.Value) {
	n, ok := ParseInt(arg)
	switch {
	case !ok:
		return 0, resp.MakeError("ERR value is not an integer or out of range")
	case n != int64(int32(n)):
		return 0, resp.MakeError("ERR value is out of range, value must between -2147483648 and 2147483647")
	case n < 0:
		return 0, resp.MakeError(errDBIndex)
	}
	return int(n), resp.Value{}
}
