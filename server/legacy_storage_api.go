package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/meowdis/meowdis/store"
)

// The batch API of the first meowdis:
//
//	{"statements":[{"sql":"SELECT …","params":[…]}]}     {"results":[[{"column":value}]]}
//	{"pipeline":[{"statements":[…]}]}                    {"results":[[[…]]]}
//	{"init":true}                                        {"results":[]}
//
// Params are JSON values. {"b":"base64"} is a BLOB, in params and in rows. A failed item of a pipeline has
// {"error":"…"} in place of its results. Failed statements get the same object with status 400.

type legacyStmt struct {
	SQL    string            `json:"sql"`
	Params []json.RawMessage `json:"params"`
}

type legacyItem struct {
	Statements []legacyStmt `json:"statements"`
}

type legacyRequest struct {
	legacyItem
	Pipeline []legacyItem `json:"pipeline"`
	Init     bool         `json:"init"`
}

var errLegacyForm = errors.New(`the request must be {"b":[…]}, {"statements":[…]}, {"pipeline":[…]} or {"init":true}`)

// Each part of a request takes legacyPartBytes bytes of memory beside its text.
const legacyPartBytes = 256

// countParts counts the elements, members and objects of a JSON text.
func countParts(text []byte) (n int64) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case !quoted:
			if c == ',' || c == '[' || c == '{' {
				n++
			}
		case c == '\\':
			i++
		}
	}
	return n
}

// legacyBatches runs the batches of a request to the legacy API.
func (s *Server) legacyBatches(ctx context.Context, body io.Reader, held *store.Budget, reads bool) ([]byte, error) {
	var q legacyRequest
	text, err := io.ReadAll(body)
	if err == nil && !held.Take(legacyPartBytes*countParts(text)) {
		err = errNoMemory
	}
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(text)).Decode(&q)
	}
	if err != nil {
		return nil, badRequest{fmt.Errorf("reading the request: %w", err)}
	}
	items := q.Pipeline
	switch {
	case q.Init && items == nil && q.Statements == nil: // the tables exist already
		return []byte(`{"results":[]}`), nil
	case q.Statements != nil && items == nil:
		items = []legacyItem{q.legacyItem}
	case items == nil || q.Statements != nil:
		return nil, badRequest{errLegacyForm}
	case len(items) > maxBatches:
		return nil, badRequest{fmt.Errorf("the pipeline has more than %d items", maxBatches)}
	}
	batches := make([]store.Batch, len(items))
	for i, item := range items {
		for _, stmt := range item.Statements {
			args, err := legacyArgs(stmt.Params)
			if err != nil {
				return nil, badRequest{err}
			}
			batches[i].Stmts = append(batches[i].Stmts, store.Stmt{SQL: stmt.SQL, Args: args})
		}
	}
	return s.legacyAnswer(ctx, batches, q.Pipeline != nil, reads)
}

// legacyAnswer runs all batches, whose rows must fit in one answer.
func (s *Server) legacyAnswer(ctx context.Context, batches []store.Batch, pipeline, reads bool) ([]byte, error) {
	out, left := []byte(`{"results":`), batches
	if pipeline {
		out = append(out, '[')
	}
	for len(left) > 0 {
		results, release, err := s.runStorageBatches(ctx, left, 0, reads)
		if err == nil && len(results) == 0 {
			err = errors.New("the storage returned no results")
		}
		for i := range results {
			if i > 0 || len(left) < len(batches) {
				out = append(out, ',')
			}
			if out, err = s.appendItem(out, &left[i], &results[i], pipeline); err != nil {
				break
			}
		}
		release()
		switch {
		case err != nil:
			return nil, err
		case int64(len(out)) > s.config.MaxRequestMemory:
			return nil, errors.New("the pipeline returns too many rows for one answer: send fewer items")
		}
		left = left[len(results):]
	}
	if pipeline {
		out = append(out, ']')
	}
	return append(out, '}'), nil
}

// appendItem appends the result of one batch, or its error.
func (s *Server) appendItem(out []byte, b *store.Batch, r *store.Result, pipeline bool) ([]byte, error) {
	if no := r.Refused; no != nil {
		says := no.Reason
		if no.Reply != nil {
			says = string(no.Reply.Str)
		}
		if !pipeline {
			return nil, badRequest{errors.New(says)}
		}
		text, err := json.Marshal(map[string]string{"error": says})
		return append(out, text...), err
	}
	out = append(out, '[')
	for i, rows := range r.Rows {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = s.appendObjects(out, b.Stmts[i].SQL, rows); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// appendObjects appends the rows of a statement as objects.
func (s *Server) appendObjects(out []byte, sql string, rows []store.Row) ([]byte, error) {
	out = append(out, '[')
	if len(rows) == 0 {
		return append(out, ']'), nil
	}
	names, err := s.config.Storage.Columns(sql)
	if err == nil && len(names) != len(rows[0]) {
		err = fmt.Errorf("the columns of %q have changed", sql)
	}
	if err != nil {
		return nil, err
	}
	labels := make([][]byte, len(names))
	for i, name := range names {
		if labels[i], err = json.Marshal(name); err != nil {
			return nil, err
		}
	}
	for i, row := range rows {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, '{')
		for j, cell := range row {
			if j > 0 {
				out = append(out, ',')
			}
			if out, err = appendCell(append(append(out, labels[j]...), ':'), cell); err != nil {
				return nil, err
			}
		}
		out = append(out, '}')
	}
	return append(out, ']'), nil
}

// appendCell appends a cell as JSON.
func appendCell(out []byte, v store.Value) ([]byte, error) {
	var is any
	switch v.Kind() {
	case store.Integer:
		return strconv.AppendInt(out, v.Int(), 10), nil
	case store.Real:
		if f := v.Float(); !math.IsInf(f, 0) {
			is = f
		}
	case store.Text:
		if is = string(v.Bytes()); !utf8.Valid(v.Bytes()) {
			is = blob{v.Bytes()}
		}
	case store.Blob:
		is = blob{v.Bytes()}
	}
	text, err := json.Marshal(is)
	return append(out, text...), err
}

type blob struct {
	B []byte `json:"b"`
}

// legacyArgs converts params to the arguments of a statement.
func legacyArgs(params []json.RawMessage) ([]store.Value, error) {
	args := make([]store.Value, len(params))
	for i, raw := range params {
		in := json.NewDecoder(bytes.NewReader(raw))
		in.UseNumber()
		var v any
		if err := in.Decode(&v); err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case nil:
		case string:
			args[i] = store.String(v)
		case bool:
			if args[i] = store.Int(0); v {
				args[i] = store.Int(1)
			}
		case json.Number:
			if n, err := v.Int64(); err == nil {
				args[i] = store.Int(n)
				continue
			}
			f, err := v.Float64()
			if err != nil {
				return nil, fmt.Errorf("%s is not a valid double", v)
			}
			args[i] = store.Float(f)
		case map[string]any:
			text, is := v["b"].(string)
			b, err := base64.StdEncoding.DecodeString(text)
			if !is || err != nil || len(v) != 1 {
				return nil, errors.New(`a param must be null, a string, a number, true, false or {"b":"base64"}`)
			}
			args[i] = store.Bytes(b)
		default:
			return nil, errors.New(`a param must be null, a string, a number, true, false or {"b":"base64"}`)
		}
	}
	return args, nil
}
