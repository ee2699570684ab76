package keytype

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// written is a call as args: the words that values has become their values.
func written(call string, values map[string][]string) [][]byte {
	var args [][]byte
	for _, word := range strings.Fields(call) {
		value, ok := values[word]
		if !ok {
			value = []string{word}
		}
		for _, v := range value {
			args = append(args, []byte(v))
		}
	}
	return args
}

// ReadAll is the call that reads all of a key.
func (t *Type) ReadAll(key []byte) [][]byte {
	return written(t.Read, map[string][]string{"key": {string(key)}})
}

// PageAt is the call for about n elements at a cursor, "" for the first: what Elements
// returned, or a place where pages go by place. Of a type without elements n is bytes.
func (t *Type) PageAt(key []byte, cursor string, n int) [][]byte {
	values := map[string][]string{"key": {string(key)}, "n": {strconv.Itoa(n)}, "after": {"-"}}
	if cursor != "" {
		values["after"] = []string{"(" + cursor}
	} else {
		cursor = "0"
	}
	values["cursor"], values["from"] = []string{cursor}, []string{cursor}
	from, _ := strconv.ParseInt(cursor, 10, 64)
	values["to"] = []string{strconv.FormatInt(from+int64(n)-1, 10)}
	return written(t.Page, values)
}

// ScanAt is the call of Scan for about n elements at a cursor, "" for the first; those
// whose first part matches a pattern, "" for all.
func (t *Type) ScanAt(key []byte, cursor, match string, n int) [][]byte {
	call := [][]byte{[]byte(t.Scan), key, []byte(cmp.Or(cursor, "0")), []byte("COUNT"), []byte(strconv.Itoa(n))}
	if match != "" {
		call = append(call, []byte("MATCH"), []byte(match))
	}
	return call
}

// Adding is the call that adds an element to a key, or makes it with one, of what
// the user gave: see Given. A vector is numbers with spaces or commas between them, or
// in brackets.
func (t *Type) Adding(key string, given []string) [][]byte {
	values := map[string][]string{"key": {key}}
	for i, part := range t.Given {
		if values[part] = []string{given[i]}; part == "vector" {
			numbers := strings.FieldsFunc(given[i], func(r rune) bool { return strings.ContainsRune(" \t\n,;[]", r) })
			values[part] = append([]string{strconv.Itoa(len(numbers))}, numbers...)
		}
	}
	return written(t.Add, values)
}

// Dropping is the call that deletes an element by its name; nil where there is none.
func (t *Type) Dropping(key, name string) [][]byte { return t.named(t.Drop, key, name, "") }

// Getting is the call that reads what belongs to an element's name; nil where that is
// nothing.
func (t *Type) Getting(key, name string) [][]byte { return t.named(t.Get, key, name, "") }

// Putting is the call that makes text what belongs to an element's name; nil where there
// is none.
func (t *Type) Putting(key, name, text string) [][]byte { return t.named(t.Put, key, name, text) }

func (t *Type) named(call, key, name, text string) [][]byte {
	return written(call, map[string][]string{"key": {key}, "name": {name}, "text": {text}})
}

// Elements takes the reply to PageAt(key, cursor, n) apart: elements in their parts, one of one
// part where the value is whole, and the cursor of the next page, "" after the last.
func (t *Type) Elements(v resp.Value, cursor string, n int) (elements [][][]byte, next string, err error) {
	switch {
	case t.Form == Whole:
		return [][][]byte{{text(v)}}, "", nil
	case t.Pages == ByCursor:
		return t.Scanned(v, cursor, n)
	}
	elements = t.split(v.Elems)
	if len(elements) == 0 || len(elements) < n {
		return elements, "", nil
	}
	last := string(elements[len(elements)-1][0])
	switch t.Pages {
	case ByPlace:
		from, _ := strconv.Atoi(cursor)
		next = strconv.Itoa(from + len(elements))
	case ByIndex:
		if index, err := strconv.ParseUint(last, 10, 64); err == nil && last != LastSlot {
			next = strconv.FormatUint(index+1, 10)
		}
	case ByName:
		next = last
	}
	return elements, next, nil
}

// All takes the reply to ReadAll apart.
func (t *Type) All(v resp.Value) [][][]byte { return t.split(v.Elems) }

// Rebuilds reports whether adding the elements of a key one by one makes it again.
func (t *Type) Rebuilds() bool {
	return t.Form == Flat && t.Add != "" && len(t.Parts) > 0 && !slices.ContainsFunc(t.Parts, func(part string) bool { return !slices.Contains(t.Given, part) })
}

// Rebuilding is the call that adds an element as it was read to a key: see Rebuilds.
func (t *Type) Rebuilding(key []byte, element [][]byte) [][]byte {
	given := make([]string, len(t.Given))
	for i, part := range t.Given {
		given[i] = string(element[slices.Index(t.Parts, part)])
	}
	return t.Adding(string(key), given)
}

// Scanned takes the reply to ScanAt apart, as Elements does.
func (t *Type) Scanned(v resp.Value, _ string, _ int) (elements [][][]byte, next string, err error) {
	if len(v.Elems) != 2 {
		return nil, "", fmt.Errorf("a reply to %s has an unexpected shape", t.Scan)
	}
	if next = string(text(v.Elems[0])); next == "0" {
		next = ""
	}
	return t.split(v.Elems[1].Elems), next, nil
}

func (t *Type) split(elems []resp.Value) (elements [][][]byte) {
	if t.Form == Entries {
		for _, entry := range elems {
			if len(entry.Elems) == 2 {
				elements = append(elements, append([][]byte{text(entry.Elems[0])}, texts(entry.Elems[1].Elems)...))
			}
		}
		return elements
	}
	n := len(t.Parts)
	if n > 1 && len(elems) > 0 && elems[0].Kind == resp.Array {
		for _, pair := range elems {
			if len(pair.Elems) == n {
				elements = append(elements, texts(pair.Elems))
			}
		}
		return elements
	}
	for ; len(elems) >= n; elems = elems[n:] {
		elements = append(elements, texts(elems[:n]))
	}
	return elements
}

func text(v resp.Value) []byte {
	if v.Kind == resp.Int {
		return strconv.AppendInt(nil, v.Int, 10)
	}
	return v.Str
}

func texts(values []resp.Value) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		out[i] = text(v)
	}
	return out
}
