package client

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// Command builds a command from words.
func Command(words ...string) [][]byte {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return args
}

// Text returns a scalar reply as text. Targets return a number as an integer, a double or
// a bulk.
func Text(v resp.Value) string {
	switch v.Kind {
	case resp.Int, resp.Bool:
		return strconv.FormatInt(v.Int, 10)
	case resp.Double:
		return resp.FormatDouble(v.Float)
	}
	return string(v.Str)
}

// Number returns a scalar reply as an integer, 0 if it is not one.
func Number(v resp.Value) int64 {
	n, _ := strconv.ParseInt(Text(v), 10, 64)
	return n
}

// Decimal formats n as a command argument.
func Decimal(n int64) string { return strconv.FormatInt(n, 10) }

// Atoi parses a number, 0 if s is not one.
func Atoi(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// CursorReply splits a reply of the SCAN family. next is "" after the last page, and for
// any other reply.
func CursorReply(v resp.Value) (next string, elems []resp.Value) {
	if len(v.Elems) != 2 {
		return "", nil
	}
	if next = Text(v.Elems[0]); next == "0" {
		next = ""
	}
	return next, v.Elems[1].Elems
}

// GlobEscape returns a pattern that matches only text.
func GlobEscape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(text)
}
