package keytype

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
)

// callArgs returns a call as args. Words that are keys of values are replaced by their values.
func callArgs(call string, values map[string][]string) [][]byte {
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

// readCalls holds the words of each type's Read, nil for the key.
var readCalls = sync.OnceValue(func() map[string][][]byte {
	all := map[string][][]byte{}
	for _, t := range Types {
		all[t.Read] = callArgs(t.Read, map[string][]string{"prefix": {""}})
		for i, word := range all[t.Read] {
			if string(word) == "key" {
				all[t.Read][i] = nil
			}
		}
	}
	return all
})

// ReadAll returns the call that reads a whole key. The caller must not change its words.
func (t *Type) ReadAll(key []byte) [][]byte {
	args := slices.Clone(readCalls()[t.Read])
	if args == nil { // a type that a test has added
		return callArgs(t.Read, map[string][]string{"key": {string(key)}, "prefix": {""}})
	}
	for i := range args {
		if args[i] == nil {
			args[i] = key
		}
	}
	return args
}

// PageAt returns the call for about n elements at a cursor. The cursor is "" for the first page, or comes from
// Elements; with ByPlace it may be any place. For a type without elements, n counts bytes.
func (t *Type) PageAt(key []byte, cursor string, n int) [][]byte {
	values := map[string][]string{"key": {string(key)}, "n": {strconv.Itoa(n)}, "after": {"-"}, "prefix": {""}}
	if cursor != "" {
		values["after"] = []string{"(" + cursor}
	} else {
		cursor = "0"
	}
	values["cursor"], values["from"] = []string{cursor}, []string{cursor}
	from, _ := strconv.ParseInt(cursor, 10, 64)
	values["to"] = []string{strconv.FormatInt(from+int64(n)-1, 10)}
	return callArgs(t.Page, values)
}

// ScanAt returns the call of Scan for about n elements at a cursor, "" for the first. A match other than "" is
// a pattern for the first part of the elements.
func (t *Type) ScanAt(key []byte, cursor, match string, n int) [][]byte {
	call := [][]byte{[]byte(t.Scan), key, []byte(cmp.Or(cursor, "0")), []byte("COUNT"), []byte(strconv.Itoa(n))}
	if match != "" {
		call = append(call, []byte("MATCH"), []byte(match))
	}
	return call
}

// AddCall returns the call that adds an element to a key, or creates the key with it. given has the user's
// values for Inputs. A vector is a list of numbers with spaces or commas between them, with or without brackets.
func (t *Type) AddCall(key string, given []string) [][]byte {
	values := map[string][]string{"key": {key}}
	for i, part := range t.Inputs {
		if values[part] = []string{given[i]}; part == "vector" {
			numbers := strings.FieldsFunc(given[i], func(r rune) bool { return strings.ContainsRune(" \t\n,;[]", r) })
			values[part] = append([]string{strconv.Itoa(len(numbers))}, numbers...)
		}
	}
	return callArgs(t.Add, values)
}

// DropCall returns the call that deletes an element by its name, or nil if the type has no such command.
func (t *Type) DropCall(key, name string) [][]byte { return t.named(t.Drop, key, name, "") }

// GetCall returns the call that reads the value of an element by its name, or nil if the type has no such
// command.
func (t *Type) GetCall(key, name string) [][]byte { return t.named(t.Get, key, name, "") }

// PutCall returns the call that sets the value of an element to text, or nil if the type has no such command.
func (t *Type) PutCall(key, name, text string) [][]byte { return t.named(t.Put, key, name, text) }

func (t *Type) named(call, key, name, text string) [][]byte {
	return callArgs(call, map[string][]string{"key": {key}, "name": {name}, "text": {text}})
}

// Elements splits the reply to PageAt(key, cursor, n) into elements with their parts; a whole value is one
// element with one part. next is the cursor of the next page, "" after the last one.
func (t *Type) Elements(v resp.Value, cursor string, n int) (elements [][][]byte, next string, err error) {
	switch {
	case t.Form == Whole:
		return [][][]byte{{text(v)}}, "", nil
	case t.Form == Summary:
		return [][][]byte{{summary(v)}}, "", nil
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

// All splits the reply to ReadAll into elements.
func (t *Type) All(v resp.Value) [][][]byte { return t.split(v.Elems) }

// Rebuilds reports whether a key can be recreated by adding its elements one by one.
func (t *Type) Rebuilds() bool {
	return t.Form == Flat && t.Add != "" && len(t.Parts) > 0 && !slices.ContainsFunc(t.Parts, func(part string) bool { return !slices.Contains(t.Inputs, part) })
}

// RebuildCall returns the call that adds an element to a key, in the parts in which it was read: see Rebuilds.
func (t *Type) RebuildCall(key []byte, element [][]byte) [][]byte {
	given := make([]string, len(t.Inputs))
	for i, part := range t.Inputs {
		given[i] = string(element[slices.Index(t.Parts, part)])
	}
	return t.AddCall(string(key), given)
}

// Scanned splits the reply to ScanAt, as Elements does for PageAt.
func (t *Type) Scanned(v resp.Value, _ string, _ int) (elements [][][]byte, next string, err error) {
	if len(v.Elems) != 2 {
		return nil, "", fmt.Errorf("unexpected reply to %s", t.Scan)
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

// summary returns a line per property.
func summary(v resp.Value) []byte {
	var lines []byte
	for i := 0; i+1 < len(v.Elems); i += 2 {
		lines = append(append(append(append(lines, text(v.Elems[i])...), ": "...), text(v.Elems[i+1])...), '\n')
	}
	return bytes.TrimSuffix(lines, []byte("\n"))
}

func texts(values []resp.Value) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		out[i] = text(v)
	}
	return out
}
