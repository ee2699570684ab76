package records

import (
	"bytes"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// AppendCSV appends a line for each record, the names of the columns first with
// header. The fields of an entry of a stream are columns under a header; without one
// each stands before its value, since entries may have different ones. escape is as
// in resp.AppendCSV; what is nested in a cell is JSON.
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

// AppendNDJSON appends a line of JSON for each record: an object of its columns,
// or the element of a list.
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

// cellText is a cell for people: text as it is where it can be seen, quoted where
// it cannot. What is nested is JSON, and the words of a command are a command line.
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
