package transfer

import (
	"bytes"
	"fmt"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// Elements is the value of a key whose type is declared so that adding its elements makes
// the key again: for types without a value of their own.
type Elements struct {
	Of   *keytype.Type
	List [][][]byte // elements in their parts
}

// Len is the number of elements.
func (e *Elements) Len() int { return len(e.List) }

// moves reports whether keys of a type can be moved.
func moves(t Type) bool {
	_, own := values[t]
	return own || keytype.Of(string(t)).Rebuilds()
}

// plainElements are those of a reply to the call that reads all, nil of no key.
func plainElements(t Type, v resp.Value) (Value, error) {
	of := keytype.Of(string(t))
	if len(v.Elems) == 0 {
		return nil, nil
	}
	return &Elements{of, of.All(v)}, nil
}

// elementPages are the pages of a large key.
func elementPages(k *Key) pager {
	t, cursor, asked := keytype.Of(string(k.Type)), "", 0
	return pager{
		call: func(n int64) [][]byte {
			asked = int(n)
			return t.PageAt(k.Name, cursor, asked)
		},
		take: func(v resp.Value) (Value, bool, error) {
			list, next, err := t.Elements(v, cursor, asked)
			cursor = next
			return &Elements{t, list}, next == "", err
		},
	}
}

func (e *Elements) weight() (n int) {
	for _, parts := range e.List {
		n += size(parts)
	}
	return n
}

// compare finds an element of e that is not in the reply to the call that reads all.
func (e *Elements) compare(v resp.Value) (a, b string) {
	there := map[string]bool{}
	for _, parts := range e.Of.All(v) {
		there[string(resp.AppendCommand(nil, parts...))] = true
	}
	for _, parts := range e.List {
		if !there[string(resp.AppendCommand(nil, parts...))] {
			return fmt.Sprintf("%s %s", e.Of.One, show(bytes.Join(parts, []byte(" ")))), "none"
		}
	}
	return "", ""
}
