package rqlite

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/meowdis/meowdis/store"
)

// outcome holds the result of one statement.
type outcome struct {
	rows    []store.Row
	columns int
	changes int64
	err     string
}

// errAnswer reports a response that is not rqlite's.
var errAnswer = errors.New("its reply is not rqlite's")

// failure holds the error a node returns for a whole request.
type failure string

func (f failure) Error() string { return string(f) }

// readAnswer reads the outcomes of a request. It passes each row and the index of its statement to take. If
// take returns false, the row and the statement's later rows are dropped.
func readAnswer(r io.Reader, take func(i int, row store.Row) bool) (all []outcome, err error) {
	d := json.NewDecoder(r)
	d.UseNumber()
	failed := ""
	err = members(d, func(name string) error {
		switch name {
		case "results":
			return elements(d, func() error {
				o, err := readOutcome(d, func(row store.Row) bool { return take(len(all), row) })
				all = append(all, o)
				return err
			})
		case "error":
			return d.Decode(&failed)
		}
		return skip(d)
	})
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return nil, fmt.Errorf("the reply is incomplete: %w", io.ErrUnexpectedEOF)
	case errors.As(err, new(*json.SyntaxError)) || errors.As(err, new(*json.UnmarshalTypeError)) || errors.As(err, new(*strconv.NumError)):
		return nil, fmt.Errorf("%w: %w", errAnswer, err)
	case err != nil:
		return nil, err
	case failed != "":
		return nil, failure(failed)
	}
	return all, nil
}

func readOutcome(d *json.Decoder, take func(store.Row) bool) (o outcome, err error) {
	kept := true
	return o, members(d, func(name string) error {
		switch name {
		case "columns":
			return elements(d, func() error { o.columns++; return skip(d) })
		case "rows_affected":
			return d.Decode(&o.changes)
		case "error":
			return d.Decode(&o.err)
		case "values":
			return elements(d, func() error {
				row := make(cells, 0, o.columns)
				if err := d.Decode(&row); err != nil {
					return err
				}
				if kept = kept && take(store.Row(row)); kept {
					o.rows = append(o.rows, store.Row(row))
				}
				return nil
			})
		}
		return skip(d)
	})
}

// members calls each for every member of an object; each must read the value. null counts as an empty object.
func members(d *json.Decoder, each func(name string) error) error {
	return inside(d, '{', func() error {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		return each(name)
	})
}

// elements calls each for every element of an array; each must read it. null counts as an empty array.
func elements(d *json.Decoder, each func() error) error { return inside(d, '[', each) }

func inside(d *json.Decoder, open json.Delim, each func() error) error {
	t, err := d.Token()
	switch {
	case err != nil || t == nil:
		return err
	case t != open:
		return errAnswer
	}
	for d.More() {
		if err := each(); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func skip(d *json.Decoder) error {
	var raw json.RawMessage
	return d.Decode(&raw)
}

// cells encodes a row on the wire: an array of strings, numbers and null, in the form that cell produces.
type cells []store.Value

// UnmarshalJSON decodes b, which is valid JSON and which the decoder may overwrite later.
func (c *cells) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '[' {
		return errAnswer
	}
	for i := 1; i < len(b); {
		switch b[i] {
		case ' ', '\t', '\r', '\n', ',', ']':
			i++
			continue
		}
		end := endOf(b, i)
		v, err := readCell(b[i:end])
		if err != nil {
			return err
		}
		*c = append(*c, v)
		i = end
	}
	return nil
}

// endOf returns the end of the string, number or word that begins at i.
func endOf(b []byte, i int) int {
	if b[i] != '"' {
		return i + bytes.IndexAny(b[i:], ",] \t\r\n")
	}
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func readCell(b []byte) (store.Value, error) {
	switch {
	case string(b) == "null":
		return store.Value{}, nil
	case b[0] != '"':
		f, err := strconv.ParseFloat(string(b), 64)
		return store.Float(f), err
	case len(b) < 3:
		return store.Value{}, errAnswer
	}
	tag, text := b[1], b[2:len(b)-1]
	if tag == 't' && bytes.IndexByte(text, '\\') >= 0 {
		var s string
		err := json.Unmarshal(b, &s)
		return store.String(s[1:]), err
	}
	switch tag {
	case 't':
		return store.TextBytes(bytes.Clone(text)), nil
	case 'b':
		out, err := hex.AppendDecode(make([]byte, 0, len(text)/2), text)
		return store.Bytes(out), err
	case 'i':
		n, err := strconv.ParseInt(string(text), 10, 64)
		return store.Int(n), err
	case 'f':
		if string(text) == "-" {
			return store.Float(math.Inf(-1)), nil
		}
		return store.Float(math.Inf(1)), nil
	}
	return store.Value{}, errAnswer
}
