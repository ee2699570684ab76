//go:build !wasip1 || search

package translator

import (
	"maps"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/text"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/document"
	"github.com/meowdis/meowdis/translator/inverted"
)

// payload returns the payload of a document.
func (f *finder) payload(h *hit) resp.Value {
	name := f.ix.schema.PayloadField
	if name == "" {
		name = "__payload"
	}
	if h.key.source == nil {
		return resp.Nil
	}
	if v, ok := h.key.source.Value(name); ok {
		return resp.MakeString(v)
	}
	return resp.Nil
}

// fields returns the fields of a hit: a flat array of names and values, or null if the document is gone.
func (f *finder) fields(q *searchCall, h *hit, w *store.Work) resp.Value {
	src := h.key.source
	if src == nil || src.Root == nil && len(src.Fields) == 0 || h.key.json && src.Text == nil {
		return resp.Nil
	}
	l := &fieldList{f: f, q: q, h: h, w: w, elems: []resp.Value{}}
	if q.returned != nil {
		l.addReturned()
		return resp.MakeArray(l.elems...)
	}
	for _, name := range slices.Sorted(maps.Keys(h.Distances)) {
		l.add(name, text.FormatNumber(h.Distances[name]))
	}
	if field := f.ix.schema.Field(q.sortBy); field != nil && (!q.expand || !l.expand(field.Name, field.Path)) {
		l.addValue(field.Name, q.sortBy, field.Name)
	}
	if h.key.json {
		l.addDocument()
	} else {
		l.addHash()
	}
	return resp.MakeArray(l.elems...)
}

// fieldList collects the fields of a hit.
type fieldList struct {
	f     *finder
	q     *searchCall
	h     *hit
	w     *store.Work
	elems []resp.Value // names and values
}

func (l *fieldList) add(name, value string) {
	l.elems = append(l.elems, resp.MakeString(name), resp.MakeString(value))
}

// addValue adds a property as a name, with the matches in the field marked, unless the document lacks it.
func (l *fieldList) addValue(as, property, field string) {
	if value, ok := l.f.value(l.q, l.h, property); ok {
		l.add(as, l.q.marks.apply(l.f, field, value))
	}
}

// expand adds the values at a path as an array of RESP3, and reports whether there are any.
func (l *fieldList) expand(name, path string) bool {
	values := l.h.key.source.Select(path)
	if len(values) > 0 {
		l.elems = append(l.elems, resp.MakeString(name), collect(values, l.w, jsonExpanded))
	}
	return len(values) > 0
}

// addReturned adds the properties of RETURN.
func (l *fieldList) addReturned() {
	for _, r := range l.q.returned {
		if path, ok := l.f.jsonPath(l.h, r.name); ok && l.q.expand {
			l.expand(r.as, path)
		} else {
			l.addValue(r.as, r.name, r.name)
		}
	}
}

// addDocument adds the whole document as the property $.
func (l *fieldList) addDocument() {
	if l.q.expand {
		l.expand("$", "$")
		return
	}
	document := string(l.h.key.source.Root.Append(nil))
	if l.q.dialect >= 3 {
		document = "[" + document + "]"
	}
	l.add("$", document)
}

// addHash adds the fields of a hash, except the field of SORTBY and the fields that describe the document.
func (l *fieldList) addHash() {
	s, src := l.f.ix.schema, l.h.key.source
	for _, name := range src.Order {
		if name == "" || name != s.ScoreField && name != s.LanguageField && name != s.PayloadField && name != l.q.sortBy {
			l.add(name, l.q.marks.apply(l.f, name, string(src.Fields[name])))
		}
	}
}

// value returns a property of a document as it is returned: an attribute, a field of a hash, or a path.
func (f *finder) value(q *searchCall, h *hit, name string) (string, bool) {
	if d, ok := h.Distances[name]; ok {
		return text.FormatNumber(d), true
	}
	switch name {
	case "__key":
		return string(h.key.key), true
	case "__score":
		return text.FormatNumber(h.score), true
	}
	if !h.key.json {
		if field := f.ix.schema.Field(name); field != nil {
			name = field.Path
		}
		return h.key.source.Value(name)
	}
	if path, ok := f.jsonPath(h, name); ok {
		return jsonValue(h.key.source, path, q.dialect)
	}
	return "", false
}

// jsonPath returns the path of a property of a JSON document.
func (f *finder) jsonPath(h *hit, name string) (path string, ok bool) {
	if field := f.ix.schema.Field(name); field != nil {
		return field.Path, h.key.json
	}
	return name, h.key.json && strings.HasPrefix(name, "$")
}

// jsonValue returns the first value at a path as text, or from dialect 3 on an array of all values.
func jsonValue(src *inverted.Source, path string, dialect int) (string, bool) {
	values := src.Select(path)
	switch {
	case len(values) == 0:
		return "", false
	case dialect >= 3:
		return string((&document.Value{Kind: document.Array, Elems: values}).Append(nil)), true
	}
	switch values[0].Kind {
	case document.Null:
		return "", false
	case document.Bool, document.Float:
		return jsonExpr(values[0]).String(), true
	}
	return textOf(values[0]), true
}
