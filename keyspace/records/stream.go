package records

import (
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// fieldsColumn holds a map of an entry's fields. Flat output formats spread it over columns.
const fieldsColumn = "fields"

// stream returns entries with their id and a map of their fields, and the stream name if the
// command reads several streams.
func stream(form commands.Records, v resp.Value) (t Table, ok bool) {
	t.Columns = []string{"id", fieldsColumn}
	switch form {
	case commands.EntriesByStream:
		t.Columns = append([]string{"stream"}, t.Columns...)
		return t, t.streams(v)
	case commands.EntriesPage:
		if len(v.Elems) < 2 {
			return t, false
		}
		if cursor := string(v.Elems[0].Str); cursor != "0-0" {
			t.Cursor = cursor
		}
		v = v.Elems[1]
	}
	return t, v.Kind == resp.Array && t.entries(nil, v.Elems)
}

// streams adds the entries of each stream, from a map or an array of pairs.
func (t *Table) streams(v resp.Value) bool {
	elems := v.Elems
	if v.Kind == resp.Array {
		elems = flattened(elems)
	}
	if v.IsError() || len(elems)%2 != 0 {
		return false
	}
	for i := 0; i < len(elems); i += 2 {
		if !t.entries(elems[i:i+1], elems[i+1].Elems) {
			return false
		}
	}
	return true
}

// entries adds the entries of one stream, each after the shared cells.
func (t *Table) entries(shared, entries []resp.Value) bool {
	for _, e := range entries {
		if len(e.Elems) != 2 {
			return false
		}
		fields := e.Elems[1] // nil for a deleted entry
		if fields.Kind == resp.Array && len(keysOf(nil, fields)) == len(fields.Elems)/2 {
			fields.Kind = resp.Map // otherwise a list: an object would lose duplicate fields
		}
		t.Rows = append(t.Rows, append(shared[:len(shared):len(shared)], e.Elems[0], fields))
	}
	return true
}

// flat spreads the fields of entries over columns. It joins the values of a duplicate field
// with a comma.
func (t Table) flat() (columns []string, row func(i int) []resp.Value) {
	last := len(t.Columns) - 1
	if last < 0 || t.Columns[last] != fieldsColumn {
		return t.Columns, func(i int) []resp.Value { return t.Rows[i] }
	}
	var names []string
	for _, row := range t.Rows {
		names = keysOf(names, row[last])
	}
	return append(t.Columns[:last:last], names...), func(i int) []resp.Value {
		row := t.Rows[i]
		return append(row[:last:last], spread(names, joined(row[last]))...)
	}
}

// spelledOut writes each value of an entry after its field name, in rows of varying length.
func (t Table) spelledOut() Table {
	last := len(t.Columns) - 1
	if last < 0 || t.Columns[last] != fieldsColumn {
		return t
	}
	rows := make([][]resp.Value, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = append(row[:last:last], row[last].Elems...)
	}
	t.Rows = rows
	return t
}

// joined merges the duplicate keys of a map.
func joined(m resp.Value) resp.Value {
	values, order := map[string][]string{}, []string{}
	for i := 0; i+1 < len(m.Elems); i += 2 {
		key := string(m.Elems[i].Str)
		if values[key] == nil {
			order = append(order, key)
		}
		values[key] = append(values[key], string(m.Elems[i+1].Str))
	}
	out := resp.EmptyMap
	for _, key := range order {
		out.Elems = append(out.Elems, resp.MakeString(key), resp.MakeString(strings.Join(values[key], ",")))
	}
	return out
}
