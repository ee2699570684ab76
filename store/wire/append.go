package wire

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/meowdis/meowdis/store"
)

// Request is a list of batches to run.
type Request struct {
	Batches []store.Batch // only their statements and ReadOnly are sent
	Max     int64         // bytes of rows that a batch may return, 0 for no limit
}

// reads reports whether none of the batches writes.
func (r *Request) reads() bool {
	for i := range r.Batches {
		if !r.Batches[i].ReadOnly {
			return false
		}
	}
	return true
}

// AppendRequest appends r.
func AppendRequest(out []byte, r *Request) []byte {
	out = AppendStart(out)
	for i := range r.Batches {
		out = AppendBatch(comma(out, i), &r.Batches[i])
	}
	return AppendEnd(out, r.reads(), r.Max)
}

// AppendStart begins a request that the caller writes in pieces: then AppendBatch for each batch, with commas
// between, and AppendEnd.
func AppendStart(out []byte) []byte { return append(out, `{"b":[`...) }

// AppendBatch appends the statements of b.
func AppendBatch(out []byte, b *store.Batch) []byte {
	out = append(out, '[')
	for i := range b.Stmts {
		s := &b.Stmts[i]
		out = appendString(append(comma(out, i), '['), s.SQL)
		for _, arg := range s.Args {
			out = AppendValue(append(out, ','), arg)
		}
		out = append(out, ']')
	}
	return append(out, ']')
}

// AppendEnd ends a request. reads means that all its batches only read; most is Request.Max.
func AppendEnd(out []byte, reads bool, most int64) []byte {
	out = append(out, ']')
	if reads {
		out = append(out, `,"read":true`...)
	}
	if most > 0 {
		out = strconv.AppendInt(append(out, `,"max":`...), most, 10)
	}
	return append(out, '}')
}

// Reasons of refusals that are not constraints.
const (
	reasonTimeout      = "late"
	reasonTooManyRows  = "rows"
	reasonBadStatement = "bad"
)

// AppendResponse appends the results of a request's first batches. reads means that the request only reads.
func AppendResponse(out []byte, results []store.Result, reads bool) []byte {
	out = append(out, `{"r":[`...)
	for i := range results {
		out = appendResult(comma(out, i), &results[i], reads)
	}
	return append(out, "]}"...)
}

func appendResult(out []byte, r *store.Result, reads bool) []byte {
	out = append(out, '{')
	rows, changes := r.Rows, r.Changes
	if no := r.Refused; no != nil {
		out = appendRefusal(out, no)
		rows, changes = rows[:min(no.At, len(rows))], changes[:min(no.At, len(changes))]
	}
	out = append(out, `"ok":[`...)
	for i, of := range rows {
		out = appendRows(comma(out, i), of)
	}
	out = append(out, ']')
	if !reads {
		out = append(out, `,"n":[`...)
		for i := range rows {
			n := int64(0)
			if i < len(changes) { // nil from a read-only store
				n = changes[i]
			}
			out = strconv.AppendInt(comma(out, i), n, 10)
		}
		out = append(out, ']')
	}
	return append(out, '}')
}

func appendRefusal(out []byte, r *store.Refusal) []byte {
	out = appendString(append(out, `"err":`...), r.Reason)
	out = strconv.AppendInt(append(out, `,"at":`...), int64(r.At), 10)
	why := ""
	switch {
	case r.TooLong != nil:
		out = strconv.AppendInt(append(out, `,"ms":`...), r.TooLong.Limit.Milliseconds(), 10)
		why = reasonTimeout
	case r.Reply != nil:
		why = reasonTooManyRows
	case r.BadStatement:
		why = reasonBadStatement
	}
	if why != "" {
		out = appendString(append(out, `,"why":`...), why)
	}
	return append(out, ',')
}

func appendRows(out []byte, rows []store.Row) []byte {
	out = append(out, '[')
	for i, row := range rows {
		out = append(comma(out, i), '[')
		for j, cell := range row {
			out = AppendValue(comma(out, j), cell)
		}
		out = append(out, ']')
	}
	return append(out, ']')
}

func comma(out []byte, i int) []byte {
	if i > 0 {
		return append(out, ',')
	}
	return out
}

// hasExactFloat limits the integers that a double represents exactly: ±2^53.
const hasExactFloat = 1 << 53

// AppendValue appends an argument or a cell.
func AppendValue(out []byte, v store.Value) []byte {
	switch v.Kind() {
	case store.Integer:
		n := v.Int()
		if n <= hasExactFloat && n >= -hasExactFloat {
			return strconv.AppendInt(out, n, 10)
		}
		return append(strconv.AppendInt(append(out, `{"i":"`...), n, 10), `"}`...)
	case store.Real:
		return appendReal(out, v.Float())
	case store.Text:
		if b := v.Bytes(); utf8.Valid(b) {
			return appendString(out, b)
		}
		return appendBase64(out, 't', v.Bytes())
	case store.Blob:
		return appendBase64(out, 'b', v.Bytes())
	}
	return append(out, "null"...)
}

func appendReal(out []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(out, "null"...)
	case math.IsInf(f, 1):
		return append(out, `{"f":"Infinity"}`...)
	case math.IsInf(f, -1):
		return append(out, `{"f":"-Infinity"}`...)
	}
	at := len(out)
	out = strconv.AppendFloat(out, f, 'g', -1, 64)
	for _, c := range out[at:] {
		if c == '.' || c == 'e' {
			return out
		}
	}
	return append(out, ".0"...)
}

func appendBase64(out []byte, of byte, b []byte) []byte {
	out = append(out, '{', '"', of, '"', ':', '"')
	return append(base64.StdEncoding.AppendEncode(out, b), '"', '}')
}

const hex = "0123456789abcdef"

// appendString appends a JSON string of UTF-8.
func appendString[T string | []byte](out []byte, s T) []byte {
	out = append(out, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		out = append(append(out, s[from:i]...), '\\')
		from = i + 1
		switch c {
		case '"', '\\':
			out = append(out, c)
		case '\n':
			out = append(out, 'n')
		default:
			out = append(out, 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(out, s[from:]...), '"')
}
