package keyspace

import (
	"errors"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// Scanned returns the elements and the next cursor of a SCAN, HSCAN, SSCAN or ZSCAN reply.
func Scanned(v resp.Value) (elems []resp.Value, next string, err error) {
	switch {
	case v.IsError():
		return nil, "", Refusal(v.Str)
	case len(v.Elems) != 2:
		return nil, "", errors.New("a reply to SCAN has an unexpected shape")
	}
	return v.Elems[1].Elems, string(Text(v.Elems[0])), nil
}

// Text returns the bytes of a reply. It formats an integer in decimal, as some endpoints send
// numbers as strings and others as integers.
func Text(v resp.Value) []byte {
	if v.Kind == resp.Int {
		return strconv.AppendInt(nil, v.Int, 10)
	}
	return v.Str
}

// Texts applies Text to each reply.
func Texts(elems []resp.Value) [][]byte {
	out := make([][]byte, len(elems))
	for i, e := range elems {
		out[i] = Text(e)
	}
	return out
}

// Integer returns the number of a reply. Some endpoints send numbers as text or doubles.
func Integer(v resp.Value) (int64, bool) {
	switch v.Kind {
	case resp.Int:
		return v.Int, true
	case resp.Double:
		return int64(v.Float), v.Float == float64(int64(v.Float))
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(v.Str)), 10, 64)
	return n, err == nil && !v.IsError()
}

// Call returns a command made of words.
func Call(words ...string) [][]byte {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return args
}
