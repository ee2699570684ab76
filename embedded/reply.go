package embedded

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// ErrNil is the error of a null reply, such as that of GET of a missing key, where a value is
// wanted.
var ErrNil = errors.New("the reply is null: there is no such value")

// Error is an error reply, with its code: "WRONGTYPE Operation against …".
type Error string

func (e Error) Error() string { return string(e) }

// Code is the first word, as "WRONGTYPE", or "ERR" for most errors.
func (e Error) Code() string {
	code, _, _ := strings.Cut(string(e), " ")
	return code
}

// Reply is what came of a command. Its methods return the reply in the type that is wanted: with
// the error of Err, with ErrNil for null, or with an error that says what it is instead.
type Reply struct {
	value resp.Value
	err   error
}

// Err is an Error, for an error reply, or why there is no reply; nil for a reply, null included.
func (r Reply) Err() error {
	if r.err == nil && r.value.IsError() {
		return Error(r.value.Str)
	}
	return r.err
}

// IsNil reports whether the reply is null.
func (r Reply) IsNil() bool { return r.err == nil && r.value.IsNull() }

// have is why there is no value in the reply.
func (r Reply) have() error {
	if err := r.Err(); err != nil {
		return err
	}
	if r.value.IsNull() {
		return ErrNil
	}
	return nil
}

// Bytes is a string, or a number as text.
func (r Reply) Bytes() ([]byte, error) {
	if err := r.have(); err != nil {
		return nil, err
	}
	switch v := r.value; v.Kind {
	case resp.Status, resp.Bulk, resp.Verbatim, resp.BigNumber:
		return v.Str, nil
	case resp.Int, resp.Bool:
		return strconv.AppendInt(nil, v.Int, 10), nil
	case resp.Double:
		return resp.Downgrade(v).Str, nil
	}
	return nil, r.not("a string")
}

// Text is Bytes as a string.
func (r Reply) Text() (string, error) {
	b, err := r.Bytes()
	return string(b), err
}

// Int is an integer, or a string that is one.
func (r Reply) Int() (int64, error) {
	text, err := r.Text()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, r.not("an integer")
	}
	return n, nil
}

// Float is a number, or a string that is one.
func (r Reply) Float() (float64, error) {
	text, err := r.Text()
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, r.not("a number")
	}
	return f, nil
}

// Bool is true for 1 and OK, and false for 0, and for null: SET with NX has such a reply.
func (r Reply) Bool() (bool, error) {
	if r.IsNil() {
		return false, nil
	}
	switch text, err := r.Text(); {
	case err != nil:
		return false, err
	case text == "1", text == "OK":
		return true, nil
	case text == "0":
		return false, nil
	}
	return false, r.not("true or false")
}

// Slice is the elements of an array or a set. Of a map it is the keys and values in turn, and of a
// sorted set with scores its members and scores.
func (r Reply) Slice() ([]Reply, error) {
	if err := r.have(); err != nil {
		return nil, err
	}
	switch r.value.Kind {
	case resp.Array, resp.Set, resp.Push, resp.Map, resp.PairMap, resp.Scored:
		elems := make([]Reply, len(r.value.Elems))
		for i, v := range r.value.Elems {
			elems[i].value = v
		}
		return elems, nil
	}
	return nil, r.not("an array")
}

// Strings is Slice with each element as Text; a null one is "".
func (r Reply) Strings() ([]string, error) {
	elems, err := r.Slice()
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(elems))
	for i, e := range elems {
		if e.IsNil() {
			continue
		}
		if texts[i], err = e.Text(); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// Map is a map, such as that of HGETALL, which is empty for a missing key. An array of keys and
// values in turn is one, too.
func (r Reply) Map() (map[string]string, error) {
	texts, err := r.Strings()
	if err != nil {
		return nil, err
	}
	if len(texts)%2 != 0 {
		return nil, r.not("a map")
	}
	m := make(map[string]string, len(texts)/2)
	for i := 0; i < len(texts); i += 2 {
		m[texts[i]] = texts[i+1]
	}
	return m, nil
}

// Any is the reply as a string, int64, float64, bool, []any (of arrays and sets), map[string]any,
// or nil for null; an error, one in an array included, is an error. A sorted set with scores is
// pairs, which are []any.
func (r Reply) Any() any {
	if err := r.Err(); err != nil {
		return err
	}
	switch v := r.value; v.Kind {
	case resp.Null, resp.NullArray:
		return nil
	case resp.Int:
		return v.Int
	case resp.Bool:
		return v.Int == 1
	case resp.Double:
		return v.Float
	case resp.Map, resp.PairMap:
		m := make(map[string]any, len(v.Elems)/2)
		for i := 0; i < len(v.Elems); i += 2 {
			name, _ := Reply{value: v.Elems[i]}.Text()
			m[name] = Reply{value: v.Elems[i+1]}.Any()
		}
		return m
	case resp.Scored:
		list := make([]any, len(v.Elems)/2)
		for i := range list {
			list[i] = []any{Reply{value: v.Elems[2*i]}.Any(), Reply{value: v.Elems[2*i+1]}.Any()}
		}
		return list
	case resp.Array, resp.Set, resp.Push:
		list := make([]any, len(v.Elems))
		for i := range v.Elems {
			list[i] = Reply{value: v.Elems[i]}.Any()
		}
		return list
	}
	text, _ := r.Text()
	return text
}

// String is the reply as redis-cli shows it.
func (r Reply) String() string {
	if r.err != nil {
		return "(failed) " + r.err.Error()
	}
	text := resp.Printer{RESP3: true}.Append(nil, r.value)
	return strings.TrimSuffix(string(text), "\n")
}

func (r Reply) not(what string) error { return fmt.Errorf("the reply is not %s: %s", what, r) }
