package transfer

import (
	"bytes"
	"fmt"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// Elements holds the elements of a key for types without their own Value. The type declaration
// says how to rebuild a key from its elements.
type Elements struct {
	Of   *keytype.Type
	List [][][]byte // elements, split into parts
}

// Len returns the number of elements.
func (e *Elements) Len() int { return len(e.List) }

// movable reports whether keys of a type can be moved.
func movable(t Type) bool {
	_, own := values[t]
	return own || dumped(t) || keytype.Of(string(t)).Rebuilds()
}

// plainElements reads the reply to readAll, or returns nil for a missing key.
func plainElements(t Type, v resp.Value) (Value, error) {
	of := keytype.Of(string(t))
	if len(v.Elems) == 0 {
		return nil, nil
	}
	return &Elements{of, of.All(v)}, nil
}

// elementPages reads a large key page by page.
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

// compare finds an element of e that is missing from the reply to readAll.
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
