package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"strconv"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// CSVHeader names the columns of CSVWriter. Field is the index in a list or array, the id of a
// stream entry, the field of a hash, the member of a sorted set, or the element of a vector
// set. Value is the member of a set, the score in a sorted set, or JSON for a document, a
// vector or the fields of an entry. Expires is the expiry of the field, or otherwise of the
// key, in Unix ms.
const CSVHeader = "db,key,type,expires,field,value\n"

// CSVWriter is a sink that writes CSV, one row per element.
type CSVWriter struct {
	bufferedWriter
	notify  Notify
	started bool
	index   int64 // index of the next element of a list in parts
	lost    bool  // vector attributes of the key were omitted
	open    bool  // the row of a string is unfinished
}

// NewCSVWriter returns a sink that writes CSV to out.
func NewCSVWriter(out io.Writer, notify Notify) *CSVWriter {
	return &CSVWriter{bufferedWriter: bufferedWriter{out: out}, notify: notify}
}

// Put writes the rows of a part.
func (w *CSVWriter) Put(_ context.Context, p Part) error {
	w.header()
	if p.First {
		w.index, w.lost = 0, false
	}
	if p.Err != nil {
		w.end()
	}
	if err := w.value(p); err != nil {
		return err
	}
	switch s, _ := p.Value.(*rdb.Stream); {
	case s != nil && len(s.Groups) > 0:
		w.notify(p.Key, &Incomplete{"CSV has no place for consumer groups"})
	case p.Last && w.lost:
		w.notify(p.Key, &Incomplete{"CSV has no place for attributes"})
	}
	w.flush()
	return w.err
}

// Close writes the header if the file has no keys.
func (w *CSVWriter) Close(_ context.Context, cause error) error {
	if cause != nil {
		return cause
	}
	w.header()
	w.flush()
	return w.err
}

func (w *CSVWriter) header() {
	if !w.started {
		w.started = true
		w.text(CSVHeader)
	}
}

func (w *CSVWriter) value(p Part) error {
	k := p.Key
	switch v := p.Value.(type) {
	case rdb.String:
		w.string(p, v)
	case rdb.List:
		for _, e := range v {
			w.row(k, k.ExpiresAt, decimal(w.index), e)
			w.index++
		}
	case rdb.Set:
		for _, e := range v {
			w.row(k, k.ExpiresAt, nil, e)
		}
	case rdb.ZSet:
		for i := range v {
			w.row(k, k.ExpiresAt, v[i].Name, []byte(resp.FormatDouble(v[i].Score)))
		}
	case rdb.Hash:
		for i := range v {
			w.row(k, cmp.Or(v[i].ExpiresAt, k.ExpiresAt), v[i].Name, v[i].Value)
		}
	case *rdb.Module:
		w.notify(k, &Incomplete{"CSV has no place for its value"})
	case Document:
		w.row(k, k.ExpiresAt, nil, v)
	case *rdb.Stream:
		for i := range v.Entries {
			w.row(k, k.ExpiresAt, formatID(v.Entries[i].ID), jsonOf(v.Entries[i].Fields))
		}
	case *VectorSet:
		return w.vectors(k, v)
	case *Array:
		for _, s := range v.Slots {
			w.row(k, k.ExpiresAt, strconv.AppendUint(nil, s.Index, 10), s.Value)
		}
	case *Elements:
		for _, parts := range v.List {
			var field []byte
			if len(parts) > 1 {
				field = parts[0]
			}
			w.row(k, k.ExpiresAt, field, parts[len(parts)-1])
		}
	}
	return nil
}

// vectors writes the elements of a vector set, without their attributes.
func (w *CSVWriter) vectors(k *Key, v *VectorSet) error {
	for _, e := range v.Elements {
		vector, err := json.Marshal(v.Kind.Source(e.Record, v.Dim))
		if err != nil {
			return err
		}
		w.row(k, k.ExpiresAt, e.Name, vector)
		w.lost = w.lost || len(e.Attributes) > 0
	}
	return nil
}

// jsonOf returns the fields of a stream entry as a JSON array.
func jsonOf(fields [][]byte) []byte {
	values := make([]resp.Value, len(fields))
	for i, f := range fields {
		values[i] = resp.MakeBulk(f)
	}
	return resp.AppendJSON(nil, resp.MakeArray(values...))
}

// string writes the parts of a string as one row.
func (w *CSVWriter) string(p Part, v rdb.String) {
	if p.First {
		w.begin(p.Key, p.Key.ExpiresAt, nil)
		w.text(`"`)
	}
	w.quoted(v)
	w.open = true
	if p.Last {
		w.end()
	}
}

// end ends the row of a string.
func (w *CSVWriter) end() {
	if w.open {
		w.open = false
		w.text("\"\n")
	}
}

// row writes a row.
func (w *CSVWriter) row(k *Key, expires int64, field, value []byte) {
	w.begin(k, expires, field)
	w.text(`"`)
	w.quoted(value)
	w.text("\"\n")
}

// begin writes a row up to its value.
func (w *CSVWriter) begin(k *Key, expires int64, field []byte) {
	w.text(strconv.Itoa(k.DB), `,"`)
	w.quoted(k.Name)
	w.text(`",`, string(k.Type), ",")
	if expires != 0 {
		w.text(strconv.FormatInt(expires, 10))
	}
	w.text(",")
	if field != nil {
		w.text(`"`)
		w.quoted(field)
		w.text(`"`)
	}
	w.text(",")
}

// quoted writes the content of a quoted field.
func (w *CSVWriter) quoted(b []byte) {
	w.pieces(b, false, func(out, b []byte) []byte {
		for _, c := range b {
			if c == '"' {
				out = append(out, '"')
			}
			out = append(out, c)
		}
		return out
	})
}
