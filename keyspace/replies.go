package keyspace

import (
	"errors"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// Scanned takes the reply of SCAN and its like apart.
func Scanned(v resp.Value) (elems []resp.Value, next string, err error) {
	switch {
	case v.IsError():
		return nil, "", Refusal(v.Str)
	case len(v.Elems) != 2:
		return nil, "", errors.New("a reply to SCAN has an unexpected shape")
	}
	return v.Elems[1].Elems, string(Text(v.Elems[0])), nil
}

// Text is a reply's bytes, of an integer its digits: endpoints answer numbers as either.
func Text(v resp.Value) []byte {
	if v.Kind == resp.Int {
		return strconv.AppendInt(nil, v.Int, 10)
	}
	return v.Str
}

// Texts are the bytes of replies.
func Texts(elems []resp.Value) [][]byte {
	out := make([][]byte, len(elems))
	for i, e := range elems {
		out[i] = Text(e)
	}
	return out
}

// Integer is a reply's number, which some endpoints send as text or as a double.
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

// Call is a command made of words.
func Call(words ...string) [][]byte {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return args
}
