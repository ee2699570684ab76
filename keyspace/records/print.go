package records

import (
	"bytes"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// AppendCSV appends a CSV line for each record, after a header line of column names if header
// is set. With a header, the fields of a stream entry become columns. Without one, each value
// follows its field name, as the fields of entries may differ. escape works as in
// resp.AppendCSV. Nested values are written as JSON.
func (t Table) AppendCSV(out []byte, header, escape bool) []byte {
	row := func(i int) []resp.Value { return t.Rows[i] }
	if !header {
		t = t.spelledOut()
	} else {
		var columns []string
		columns, row = t.flat()
		names := make([]resp.Value, len(columns))
		for i, name := range columns {
			names[i] = resp.MakeString(name)
		}
		out = append(resp.AppendCSV(out, resp.MakeArray(names...), escape), '\n')
	}
	for n := range t.Rows {
		for i, cell := range row(n) {
			if i > 0 {
				out = append(out, ',')
			}
			if nested(cell) {
				cell = resp.MakeBulk(resp.AppendJSON(nil, cell))
			}
			out = resp.AppendCSV(out, cell, escape)
		}
		out = append(out, '\n')
	}
	return out
}

func nested(v resp.Value) bool { return v.Kind >= resp.Array && v.Kind <= resp.PairMap }

// AppendNDJSON appends a line of JSON for each record: an object of its columns, or the element
// of a list.
func (t Table) AppendNDJSON(out []byte) []byte {
	for _, row := range t.Rows {
		if t.List {
			out = resp.AppendJSON(out, row[0])
		} else {
			object := resp.EmptyMap
			for i, cell := range row {
				object.Elems = append(object.Elems, resp.MakeString(t.Columns[i]), cell)
			}
			out = resp.AppendJSON(out, object)
		}
		out = append(out, '\n')
	}
	return out
}

// cellText formats a cell for display, quoted if it has invisible characters. It writes nested
// values as JSON, and the words of a command as a command line.
func cellText(v resp.Value, escape bool) string {
	switch {
	case v.IsNull():
		return "(nil)"
	case v.Kind == resp.Array && shape(v.Elems) == allScalars:
		words := make([]string, len(v.Elems))
		for i, e := range v.Elems {
			words[i] = cellText(e, escape)
		}
		return strings.Join(words, " ")
	case nested(v):
		return string(resp.AppendJSON(nil, v))
	case v.Kind != resp.Bulk && v.Kind != resp.Verbatim:
		return string(resp.Printer{Format: resp.Raw, RESP3: true, After: new(string)}.Append(nil, v))
	}
	quoted := resp.AppendQuoted(nil, v.Str, !escape)
	if bare := quoted[1 : len(quoted)-1]; len(bare) > 0 && bytes.Equal(bare, v.Str) && len(bytes.TrimSpace(bare)) == len(bare) {
		return string(bare)
	}
	return string(quoted)
}
