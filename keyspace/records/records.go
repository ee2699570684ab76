package records

import (
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Table holds a reply as records. Every row has a cell per column.
type Table struct {
	Columns []string
	Rows    [][]resp.Value
	// List marks the records as elements of a list, set or other collection: one column.
	List bool
	// Scan marks the records as a page of a scan. Cursor is the next cursor, "" at the end.
	Scan   bool
	Cursor string
}

// Of returns the records in v, the reply to args. ok is false for a reply without records: a
// single value, an error or nested data.
func Of(args [][]byte, v resp.Value) (t Table, ok bool) {
	reply := commands.Known(args).Reply(args)
	columns := reply.ColumnsOf(args)
	switch {
	case reply.Records == commands.NoRecords:
		return t, false
	case reply.Records == commands.Page:
		return scan(columns, v)
	case reply.Records >= commands.Entries && reply.Records <= commands.EntriesByStream:
		return stream(reply.Records, v)
	case reply.Records == commands.Pairs:
		return pairs(columns, v)
	case reply.Records == commands.Threes:
		return threes(columns, v)
	case reply.Records == commands.Levels:
		return levels(columns, v)
	case v.Kind == resp.Scored:
		return pairs([]string{"member", "score"}, v)
	case v.Kind == resp.Map || v.Kind == resp.PairMap:
		return pairs([]string{"name", "value"}, v)
	case v.Kind == resp.Array || v.Kind == resp.Set || v.Kind == resp.Push:
		return rows(reply.Records, columns, v)
	}
	return t, false
}

// scan reads a cursor and a page.
func scan(columns []string, v resp.Value) (t Table, ok bool) {
	if len(v.Elems) != 2 || v.Elems[1].Kind != resp.Array {
		return t, false
	}
	if cursor := string(keyspace.Text(v.Elems[0])); cursor != "0" {
		t.Cursor = cursor
	}
	page := v.Elems[1]
	if len(columns) == 1 {
		t.Columns, t.Rows, t.List, t.Scan = columns, singles(page.Elems), true, true
		return t, true
	}
	cursor := t.Cursor
	t, ok = pairs(columns, page)
	t.Cursor, t.Scan = cursor, true
	return t, ok
}

// pairs returns two-column records of an aggregate of alternating elements or two-element
// arrays.
func pairs(columns []string, v resp.Value) (t Table, ok bool) {
	elems := v.Elems
	t.Columns = columns
	switch {
	case v.Kind == resp.Array && len(elems) > 0 && elems[0].Kind == resp.Array:
		t.Rows = make([][]resp.Value, len(elems))
		for i, e := range elems {
			if len(e.Elems) != 2 {
				return t, false
			}
			t.Rows[i] = e.Elems
		}
	case v.Kind < resp.Array || v.Kind > resp.PairMap || len(elems)%2 != 0:
		return t, false
	default:
		t.Rows = make([][]resp.Value, len(elems)/2)
		for i := range t.Rows {
			t.Rows[i] = elems[2*i : 2*i+2 : 2*i+2]
		}
	}
	if columns[1] == "score" {
		for i, row := range t.Rows {
			if row[1].Kind == resp.Bulk {
				t.Rows[i] = []resp.Value{row[0], number(row[1])}
			}
		}
	}
	return t, true
}

// threes returns three-column records of a map to pairs, or of an aggregate of alternating
// elements.
func threes(columns []string, v resp.Value) (t Table, ok bool) {
	elems := v.Elems
	if v.Kind == resp.Map {
		elems = nil
		for i := 0; i+1 < len(v.Elems); i += 2 {
			elems = append(append(elems, v.Elems[i]), v.Elems[i+1].Elems...)
		}
	}
	if v.Kind != resp.Map && v.Kind != resp.Array || len(elems)%3 != 0 {
		return t, false
	}
	t.Columns = columns
	for row := range slices.Chunk(elems, 3) {
		t.Rows = append(t.Rows, []resp.Value{row[0], number(row[1]), row[2]})
	}
	return t, true
}

// levels returns the elements of each level as records. The first column is the level number.
func levels(columns []string, v resp.Value) (t Table, ok bool) {
	if v.Kind != resp.Array {
		return t, false
	}
	t.Columns = columns
	for i, level := range v.Elems {
		width := len(columns) - 1
		if len(level.Elems)%width != 0 {
			return t, false
		}
		for row := range slices.Chunk(level.Elems, width) {
			row = append([]resp.Value{resp.MakeInt(int64(len(v.Elems) - 1 - i))}, row...)
			if width == 2 {
				row[2] = number(row[2])
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t, true
}

// number parses a score, which RESP2 sends as a string.
func number(v resp.Value) resp.Value {
	if f, err := strconv.ParseFloat(string(v.Str), 64); v.Kind == resp.Bulk && err == nil {
		return resp.Value{Kind: resp.Double, Float: f, Str: v.Str}
	}
	return v
}

// rows converts the elements of an array to records. Each element is a map, an array or a
// single value.
func rows(form commands.Records, columns []string, v resp.Value) (t Table, ok bool) {
	switch form {
	case commands.Maps:
		return maps(v.Elems)
	case commands.Rows:
		v = filled(v, len(columns))
	}
	switch shape(v.Elems) {
	case allMaps:
		return maps(v.Elems)
	case allArrays:
		return arrays(v.Elems, columns, form == commands.FlatRows)
	case allScalars:
		name := "value"
		if form != commands.Rows && len(columns) > 0 {
			name = columns[0]
		}
		return Table{Columns: []string{name}, Rows: singles(v.Elems), List: true}, true
	}
	return t, false
}

// filled replaces each nil row with n nils.
func filled(v resp.Value, n int) resp.Value {
	for i, e := range v.Elems {
		if e.IsNull() {
			v.Elems = slices.Clone(v.Elems)
			v.Elems[i] = resp.MakeArray(slices.Repeat([]resp.Value{resp.Nil}, n)...)
		}
	}
	return v
}

func singles(elems []resp.Value) [][]resp.Value {
	rows := make([][]resp.Value, len(elems))
	for i := range elems {
		rows[i] = elems[i : i+1 : i+1]
	}
	return rows
}

// Shapes of an array's elements.
type elements int

const (
	allScalars elements = iota
	allMaps
	allArrays
	mixed
)

func shape(elems []resp.Value) elements {
	of := func(v resp.Value) elements {
		switch v.Kind {
		case resp.Map:
			return allMaps
		case resp.Array:
			return allArrays
		case resp.Set, resp.Push, resp.Scored, resp.PairMap:
			return mixed
		}
		return allScalars
	}
	if len(elems) == 0 {
		return allScalars
	}
	first := of(elems[0])
	for _, e := range elems[1:] {
		if of(e) != first {
			return mixed
		}
	}
	return first
}

// maps returns records whose columns are the keys of maps, or of flat arrays of alternating
// keys and values.
func maps(elems []resp.Value) (t Table, ok bool) {
	for _, e := range elems {
		if len(e.Elems)%2 != 0 {
			return t, false
		}
		t.Columns = keysOf(t.Columns, e)
	}
	for _, e := range elems {
		t.Rows = append(t.Rows, spread(t.Columns, e))
	}
	return t, len(t.Columns) > 0
}

// keysOf adds the keys of a map to columns, without duplicates.
func keysOf(columns []string, m resp.Value) []string {
	for i := 0; i+1 < len(m.Elems); i += 2 {
		if key := string(m.Elems[i].Str); !slices.Contains(columns, key) {
			columns = append(columns, key)
		}
	}
	return columns
}

// spread returns the map's value for each column, nil for a missing key.
func spread(columns []string, m resp.Value) []resp.Value {
	row := make([]resp.Value, len(columns))
	for i := 0; i+1 < len(m.Elems); i += 2 {
		row[slices.Index(columns, string(m.Elems[i].Str))] = m.Elems[i+1]
	}
	return row
}

// arrays converts arrays of equal length to records. With flat, it inlines nested arrays.
// Unnamed columns are numbered.
func arrays(elems []resp.Value, columns []string, flat bool) (t Table, ok bool) {
	for _, e := range elems {
		row := e.Elems
		if flat {
			row = flattened(row)
		}
		if len(row) == 0 || len(t.Rows) > 0 && len(row) != len(t.Rows[0]) {
			return t, false
		}
		t.Rows = append(t.Rows, row)
	}
	n := len(t.Rows[0])
	if t.Columns = columns[:min(n, len(columns))]; len(t.Columns) < n {
		t.Columns = nil
		for i := range n {
			t.Columns = append(t.Columns, strconv.Itoa(i+1))
		}
	}
	return t, true
}

// flattened replaces each array in row by its elements.
func flattened(row []resp.Value) []resp.Value {
	var flat []resp.Value
	for _, v := range row {
		if v.Kind == resp.Array {
			flat = append(flat, v.Elems...)
		} else {
			flat = append(flat, v)
		}
	}
	return flat
}
