package embedded

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// ErrNil reports a null reply, such as the reply to GET of a missing key, if a value is requested.
var ErrNil = errors.New("the reply is null")

// Error is an error reply, with its code: "WRONGTYPE Operation against …".
type Error string

func (e Error) Error() string { return string(e) }

// Code returns the first word, such as "WRONGTYPE", or "ERR" for most errors.
func (e Error) Code() string {
	code, _, _ := strings.Cut(string(e), " ")
	return code
}

// Reply holds the result of a command. Its methods convert the reply to a type. They fail with the error of Err, with
// ErrNil for null, or with an error that names the actual reply.
type Reply struct {
	value resp.Value
	err   error
}

// Err returns an Error for an error reply, or the error that prevented a reply. It returns nil for other replies,
// including null.
func (r Reply) Err() error {
	if r.err == nil && r.value.IsError() {
		return Error(r.value.Str)
	}
	return r.err
}

// IsNil reports whether the reply is null.
func (r Reply) IsNil() bool { return r.err == nil && r.value.IsNull() }

// valueError returns an error if the reply has no value.
func (r Reply) valueError() error {
	if err := r.Err(); err != nil {
		return err
	}
	if r.value.IsNull() {
		return ErrNil
	}
	return nil
}

// Bytes returns a string, or a number as text.
func (r Reply) Bytes() ([]byte, error) {
	if err := r.valueError(); err != nil {
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
	return nil, r.typeError("a string")
}

// Text returns Bytes as a string.
func (r Reply) Text() (string, error) {
	b, err := r.Bytes()
	return string(b), err
}

// Int returns an integer, or parses a string as one.
func (r Reply) Int() (int64, error) {
	text, err := r.Text()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, r.typeError("an integer")
	}
	return n, nil
}

// Float returns a number, or parses a string as one.
func (r Reply) Float() (float64, error) {
	text, err := r.Text()
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, r.typeError("a number")
	}
	return f, nil
}

// Bool returns true for 1 and OK, and false for 0 and null, which is a reply of SET with NX.
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
	return false, r.typeError("true or false")
}

// Slice returns the elements of an array or a set. A map becomes alternating keys and values, and a sorted set with
// scores alternating members and scores.
func (r Reply) Slice() ([]Reply, error) {
	if err := r.valueError(); err != nil {
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
	return nil, r.typeError("an array")
}

// Strings returns the elements as Text; a null element is "".
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

// Map returns a map, such as the reply to HGETALL, which is empty for a missing key. It also accepts an array of
// alternating keys and values.
func (r Reply) Map() (map[string]string, error) {
	texts, err := r.Strings()
	if err != nil {
		return nil, err
	}
	if len(texts)%2 != 0 {
		return nil, r.typeError("a map")
	}
	m := make(map[string]string, len(texts)/2)
	for i := 0; i < len(texts); i += 2 {
		m[texts[i]] = texts[i+1]
	}
	return m, nil
}

// Any returns the reply as a string, int64, float64, bool, []any (arrays and sets), map[string]any, error (also inside
// arrays), or nil for null. A sorted set with scores becomes a list of pairs, each an []any.
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

// String returns the reply in redis-cli's format.
func (r Reply) String() string {
	if r.err != nil {
		return "(failed) " + r.err.Error()
	}
	text := resp.Printer{RESP3: true}.Append(nil, r.value)
	return strings.TrimSuffix(string(text), "\n")
}

func (r Reply) typeError(what string) error { return fmt.Errorf("the reply is not %s: %s", what, r) }
