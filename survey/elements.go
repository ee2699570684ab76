package survey

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/resp"
)

// kind says how the elements of a type are counted and read.
type kind struct {
	count     string    // the command that counts elements, or bytes
	one, many string    // what is counted
	parts     []string  // what an element consists of; none for a type without elements
	first     readFirst // the beginning, in the order of the type
	scan      string    // the command that walks through all; empty when walk does it
	walk      readOn
}

// readFirst is the call for the first n elements, and readOn the one for those
// behind the last element of a page, or the start when there is none yet.
type (
	readFirst func(key []byte, n int) [][]byte
	readOn    func(key []byte, seen int64, last [][]byte) [][]byte
)

var kinds = map[string]kind{
	"string": {count: "STRLEN", one: "byte", many: "bytes", first: func(key []byte, _ int) [][]byte {
		return with(key, "GETRANGE", "0", strconv.Itoa(headBytes-1))
	}},
	"list": {
		count: "LLEN", one: "element", many: "elements", parts: []string{"value"},
		first: func(key []byte, n int) [][]byte { return with(key, "LRANGE", "0", strconv.Itoa(n-1)) },
		walk: func(key []byte, seen int64, _ [][]byte) [][]byte {
			return with(key, "LRANGE", decimal(seen), decimal(seen+defaultPage-1))
		},
	},
	"set": {
		count: "SCARD", one: "member", many: "members", parts: []string{"member"}, scan: "SSCAN",
		first: func(key []byte, n int) [][]byte { return with(key, "SSCAN", "0", "COUNT", strconv.Itoa(n)) },
	},
	"hash": {
		count: "HLEN", one: "field", many: "fields", parts: []string{"field", "value"}, scan: "HSCAN",
		first: func(key []byte, n int) [][]byte { return with(key, "HSCAN", "0", "COUNT", strconv.Itoa(n)) },
	},
	"zset": {
		count: "ZCARD", one: "member", many: "members", parts: []string{"member", "score"}, scan: "ZSCAN",
		first: func(key []byte, n int) [][]byte { return with(key, "ZRANGE", "0", strconv.Itoa(n-1), "WITHSCORES") },
	},
	"stream": {
		count: "XLEN", one: "entry", many: "entries", parts: []string{"id", "fields"},
		first: func(key []byte, n int) [][]byte { return with(key, "XRANGE", "-", "+", "COUNT", strconv.Itoa(n)) },
		walk: func(key []byte, _ int64, last [][]byte) [][]byte {
			from := "-"
			if last != nil {
				from = "(" + string(last[0])
			}
			return with(key, "XRANGE", from, "+", "COUNT", strconv.Itoa(defaultPage))
		},
	},
	"array": {
		count: "ARCOUNT", one: "value", many: "values", parts: []string{"index", "value"},
		first: func(key []byte, n int) [][]byte { return with(key, "ARSCAN", "0", lastIndex, "LIMIT", strconv.Itoa(n)) },
		walk: func(key []byte, _ int64, last [][]byte) [][]byte {
			from := "0"
			if last != nil {
				index, _ := strconv.ParseUint(string(last[0]), 10, 64)
				from = strconv.FormatUint(index+1, 10)
			}
			return with(key, "ARSCAN", from, lastIndex, "LIMIT", strconv.Itoa(defaultPage))
		},
	},
	"vectorset": {
		count: "VCARD", one: "element", many: "elements", parts: []string{"element"},
		first: func(key []byte, n int) [][]byte { return with(key, "VRANGE", "-", "+", strconv.Itoa(n)) },
		walk: func(key []byte, _ int64, last [][]byte) [][]byte {
			from := "-"
			if last != nil {
				from = "(" + string(last[0])
			}
			return with(key, "VRANGE", from, "+", strconv.Itoa(defaultPage))
		},
	},
	"ReJSON-RL": {first: func(key []byte, _ int) [][]byte { return with(key, "JSON.GET") }},
}

// lastIndex is the greatest index of an array.
const lastIndex = "18446744073709551614"

// headBytes is how much of a string is read to show its beginning.
const headBytes = 64 << 10

// with is a call with the key behind its first word.
func with(key []byte, name string, args ...string) [][]byte {
	return append([][]byte{[]byte(name), key}, keyspace.Call(args...)...)
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// Unit names what Count counts for a type.
func Unit(typ string, n int64) string {
	if n == 1 {
		return kinds[typ].one
	}
	return kinds[typ].many
}

// Parts names the parts of an element of a type: none for a type that has no
// elements. The last part of a stream's is many: fields and values in turn.
func Parts(typ string) []string { return kinds[typ].parts }

// ErrMissing is the error of a key that is not there.
var ErrMissing = errors.New("no such key")

// usualSamples is how many elements of a key are measured unless told otherwise.
const usualSamples = 5

// Describe finds out facts about one key: ErrMissing when it is not there.
func (w Walk) Describe(ctx context.Context, key []byte) (Key, error) {
	if w.Samples == 0 {
		w.Samples = usualSamples
	}
	found, err := w.find(ctx, w.lister(), [][]byte{key})
	if err != nil {
		return Key{}, err
	}
	if len(found) == 0 {
		return Key{}, ErrMissing
	}
	return found[0], nil
}

// First reads the first n elements of a key, or the beginning of its value,
// which is an element of one part then.
func First(ctx context.Context, c Client, k Key, n int) ([][][]byte, error) {
	kind := kinds[k.Type]
	if kind.first == nil || n == 0 && kind.parts != nil {
		return nil, nil
	}
	v, err := one(ctx, c, kind.first(k.Name, n))
	switch {
	case err != nil:
		return nil, err
	case kind.parts == nil:
		return [][][]byte{{v.Str}}, nil
	case kind.scan != "" && k.Type != "zset":
		if v.Elems, _, err = keyspace.Scanned(v); err != nil {
			return nil, err
		}
	}
	elements := split(k.Type, v.Elems)
	return elements[:min(n, len(elements))], nil
}

// Elements calls each for every element of a key, in parts. A pattern is about
// the first part; the others have no names that it could be about.
func Elements(ctx context.Context, c Client, k Key, match string, each func(parts [][]byte) error) error {
	kind := kinds[k.Type]
	switch {
	case kind.parts == nil:
		return fmt.Errorf("a %s has no elements", k.Type)
	case kind.scan != "":
		return scanElements(ctx, c, k, match, each)
	case match != "":
		return fmt.Errorf("the elements of a %s have no names that a pattern could be about", k.Type)
	}
	var seen int64
	var last [][]byte
	for {
		v, err := one(ctx, c, kind.walk(k.Name, seen, last))
		if err != nil {
			return err
		}
		for _, parts := range split(k.Type, v.Elems) {
			if err := each(parts); err != nil {
				return err
			}
			seen, last = seen+1, parts
		}
		if len(v.Elems) < defaultPage {
			return nil
		}
	}
}

func scanElements(ctx context.Context, c Client, k Key, match string, each func(parts [][]byte) error) error {
	cursor := "0"
	for {
		args := []string{cursor, "COUNT", strconv.Itoa(defaultPage)}
		if match != "" {
			args = append(args, "MATCH", match)
		}
		v, err := one(ctx, c, with(k.Name, kinds[k.Type].scan, args...))
		if err != nil {
			return err
		}
		elems, next, err := keyspace.Scanned(v)
		if err != nil {
			return err
		}
		for _, parts := range split(k.Type, elems) {
			if err := each(parts); err != nil {
				return err
			}
		}
		if cursor = next; cursor == "0" {
			return nil
		}
	}
}

// split groups a flat reply into elements.
func split(typ string, flat []resp.Value) (elements [][][]byte) {
	switch typ {
	case "stream":
		for _, entry := range flat {
			if len(entry.Elems) == 2 {
				elements = append(elements, append([][]byte{entry.Elems[0].Str}, texts(entry.Elems[1].Elems)...))
			}
		}
		return elements
	case "array":
		for _, slot := range flat {
			elements = append(elements, texts(slot.Elems))
		}
		return elements
	}
	n := len(kinds[typ].parts)
	for ; len(flat) >= n; flat = flat[n:] {
		elements = append(elements, texts(flat[:n]))
	}
	return elements
}

func texts(values []resp.Value) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		if out[i] = v.Str; v.Kind == resp.Int {
			out[i] = strconv.AppendInt(nil, v.Int, 10)
		}
	}
	return out
}
