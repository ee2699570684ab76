package wire

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/meowdis/meowdis/store"
)

// Limits limits the size of a request or an answer.
type Limits struct {
	Bytes   int64 // of JSON, plus the memory overhead of its values and rows
	Batches int
	Stmts   int // in all batches together
}

// maxArgs is SQLite's limit for the args of a statement.
const maxArgs = 32766

// ReadRequest reads a request up to the end of r. If the request has "read", its batches are ReadOnly.
func ReadRequest(r io.Reader, most Limits) (*Request, error) {
	s := newScanner(r, most.Bytes)
	q := &Request{}
	reads, stmts := false, 0
	err := s.members(func(name string) (err error) {
		switch name {
		case "b":
			if q.Batches != nil {
				return errors.New(`duplicate "b"`)
			}
			q.Batches = []store.Batch{}
			err = s.list(func() error {
				if len(q.Batches) >= most.Batches {
					return ErrTooLarge
				}
				b, err := s.batch(most.Stmts - stmts)
				stmts += len(b.Stmts)
				q.Batches = append(q.Batches, b)
				return err
			})
		case "read":
			reads, err = s.boolean()
		case "max":
			q.Max, err = s.integer(0, math.MaxInt64)
		default:
			err = fmt.Errorf("unknown member %.20q", name)
		}
		return err
	})
	if err == nil {
		err = s.end()
	}
	if err == nil && q.Batches == nil {
		err = errors.New(`missing "b"`)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	for i := range q.Batches {
		q.Batches[i].ReadOnly = reads
	}
	return q, nil
}

// batch reads a batch of at most most statements.
func (s *scanner) batch(most int) (b store.Batch, err error) {
	err = s.list(func() error {
		if len(b.Stmts) >= most {
			return ErrTooLarge
		}
		stmt, err := s.stmt()
		b.Stmts = append(b.Stmts, stmt)
		return err
	})
	return b, err
}

func (s *scanner) stmt() (stmt store.Stmt, err error) {
	first := true
	err = s.list(func() error {
		if first {
			first = false
			sql, err := s.text()
			stmt.SQL = string(sql)
			return err
		}
		if len(stmt.Args) >= maxArgs {
			return ErrTooLarge
		}
		v, err := s.value()
		stmt.Args = append(stmt.Args, v)
		return err
	})
	if err == nil && first {
		err = errors.New("a statement has no SQL")
	}
	return stmt, err
}

// ReadResponse reads the answer to a request up to the end of r. stmts has the number of statements of each batch
// of the request, and reads whether they only read. The answer has results for all batches or for the first
// ones. Of most only Bytes is used.
func ReadResponse(r io.Reader, stmts []int, reads bool, most Limits) (results []store.Result, err error) {
	s := newScanner(r, most.Bytes)
	found := false
	err = s.members(func(name string) error {
		if name != "r" {
			return fmt.Errorf("unknown member %.20q", name)
		}
		found = true
		return s.list(func() error {
			if len(results) >= len(stmts) {
				return fmt.Errorf("more results than the %d batches", len(stmts))
			}
			result, err := s.result(stmts[len(results)], reads)
			results = append(results, result)
			return err
		})
	})
	if err == nil {
		err = s.end()
	}
	if err == nil && !found {
		err = errors.New(`missing "r"`)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	return results, nil
}

// batchStatus holds a result while it is read.
type batchStatus struct {
	store.Result
	why     string
	ms      int64
	refused *store.Refusal
}

// result reads the result of a batch of stmts statements.
func (s *scanner) result(stmts int, reads bool) (store.Result, error) {
	r := batchStatus{}
	refusal := func() *store.Refusal {
		if r.refused == nil {
			r.refused = &store.Refusal{At: -1}
		}
		return r.refused
	}
	err := s.members(func(name string) error {
		switch name {
		case "ok":
			return s.list(func() error {
				if len(r.Rows) >= stmts {
					return fmt.Errorf("a result has rows for more than %d statements", stmts)
				}
				rows, err := s.rows()
				r.Rows = append(r.Rows, rows)
				return err
			})
		case "n":
			return s.list(func() error {
				if len(r.Changes) >= stmts {
					return fmt.Errorf("a result has changes for more than %d statements", stmts)
				}
				n, err := s.integer(0, math.MaxInt64)
				r.Changes = append(r.Changes, n)
				return err
			})
		case "err":
			text, err := s.text()
			refusal().Reason = string(text)
			return err
		case "at":
			n, err := s.integer(0, int64(stmts)-1)
			refusal().At = int(n)
			return err
		case "why":
			text, err := s.text()
			r.why = string(text)
			return err
		case "ms":
			n, err := s.integer(0, int64(math.MaxInt64/time.Millisecond))
			r.ms = n
			return err
		}
		return fmt.Errorf("unknown member %.20q in a result", name)
	})
	if err != nil {
		return store.Result{}, err
	}
	return r.result(stmts, reads)
}

// result returns the result, or an error if parts are missing.
func (r *batchStatus) result(want int, reads bool) (store.Result, error) {
	if no := r.refused; no != nil {
		if no.At < 0 {
			return store.Result{}, errors.New(`a refusal without "at"`)
		}
		switch r.why {
		case "":
		case reasonTimeout:
			no.TooLong = &store.TooLong{Limit: time.Duration(r.ms) * time.Millisecond}
		case reasonTooManyRows:
			reply := store.TooManyRows
			no.Reply = &reply
		case reasonBadStatement:
			no.BadStatement = true
		default:
			return store.Result{}, fmt.Errorf("unknown reason of a refusal: %.20q", r.why)
		}
		r.Refused = no
		if want = no.At; r.why != "" {
			want = 0 // the earlier rows are not used
		}
	}
	switch {
	case len(r.Rows) < want:
		return store.Result{}, fmt.Errorf("a result has rows for %d of %d statements", len(r.Rows), want)
	case !reads && len(r.Changes) < want:
		return store.Result{}, fmt.Errorf("a result has changes for %d of %d statements", len(r.Changes), want)
	}
	return r.Result, nil
}

func (s *scanner) rows() (rows []store.Row, err error) {
	err = s.list(func() error {
		s.left -= store.RowBytes
		row := make(store.Row, 0, 4)
		err := s.list(func() error {
			v, err := s.value()
			row = append(row, v)
			return err
		})
		rows = append(rows, row)
		return err
	})
	return rows, err
}
