package target

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/resp"
)

// Command makes a command of words.
func Command(words ...string) [][]byte {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return args
}

// Text is a scalar reply as text. Targets differ in whether a number comes as
// an integer, a double or a bulk.
func Text(v resp.Value) string {
	switch v.Kind {
	case resp.Int, resp.Bool:
		return strconv.FormatInt(v.Int, 10)
	case resp.Double:
		return resp.FormatDouble(v.Float)
	}
	return string(v.Str)
}

// Number is a scalar reply as an integer, 0 when it is none.
func Number(v resp.Value) int64 {
	n, _ := strconv.ParseInt(Text(v), 10, 64)
	return n
}

// Decimal is n as a word of a command.
func Decimal(n int64) string { return strconv.FormatInt(n, 10) }

// Atoi is a word as a number, 0 when it is none.
func Atoi(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// CursorReply takes a SCAN family reply apart. The cursor is "" after the last
// page, and also when the reply is no such thing.
func CursorReply(v resp.Value) (next string, elems []resp.Value) {
	if len(v.Elems) != 2 {
		return "", nil
	}
	if next = Text(v.Elems[0]); next == "0" {
		next = ""
	}
	return next, v.Elems[1].Elems
}

// GlobEscape is the pattern that only text itself matches.
func GlobEscape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(text)
}
