package rqlite

import (
	"context"
	"fmt"
	"io"

	"github.com/meowdis/meowdis/store"
)

// toQuery and toRequest are the endpoints for statements. Each request is one transaction, in which rqlite
// must not rewrite random numbers and times.
const (
	toQuery   = "/db/query?transaction&noparse&norwrandom&norwtime"
	toRequest = "/db/request?transaction&noparse&norwrandom&norwtime"
)

// place identifies the statement of a request.
type place struct {
	call        *call
	batch, stmt int
	item        int // index of the item, in a request that writes
}

func (p place) sql() string { return p.call.batches[p.batch].Stmts[p.stmt].SQL }

// read serves calls that only read, from one snapshot.
func (s *Store) read(group []*call) { s.readAt(group, s.o.Level) }

func (s *Store) readAt(group []*call, level string) {
	ctx, cancel := s.bounded()
	defer cancel()
	body, places := []byte{'['}, []place(nil)
	for _, c := range group {
		c.withBudget(0, func(b *store.Budget) { c.used = b.Used() })
		for i, b := range c.batches {
			for j, stmt := range b.Stmts {
				body = appendStatement(comma(body, len(places)), c.forms[i][j].read, stmt.Args)
				places = append(places, place{call: c, batch: i, stmt: j})
			}
		}
	}
	var err error
	if len(places) > 0 {
		r := &request{path: toQuery, level: level, body: append(body, ']')}
		r.answer = func(from io.Reader) error { return s.take(from, group, places) }
		err = s.cluster.send(ctx, r)
	} else {
		err = s.take(nil, group, nil)
	}
	for _, c := range group {
		if err != nil {
			c.err = err
		}
		c.End(c.err)
	}
}

// take turns the response into results within the budgets. A batch whose rows do not fit is refused. No batch
// runs after one that has filled its budget.
func (s *Store) take(from io.Reader, group []*call, places []place) error {
	for _, c := range group {
		c.err, c.results = nil, make([]store.Result, len(c.batches))
		c.filling, c.cut = 0, len(c.batches)
		c.withBudget(0, func(b *store.Budget) { b.Rewind(c.used) })
		for i, b := range c.batches {
			c.results[i] = store.Result{Rows: make([][]store.Row, len(b.Stmts)), Changes: make([]int64, len(b.Stmts))}
		}
	}
	if len(places) == 0 {
		return nil
	}
	all, err := readAnswer(from, func(i int, row store.Row) bool {
		return i < len(places) && places[i].fits(row)
	})
	if err != nil {
		return err
	}
	if len(all) != len(places) {
		return errAnswer
	}
	for i, p := range places {
		if all[i].err != "" && p.call.err == nil {
			p.call.err = fmt.Errorf("running %q: %s", p.sql(), all[i].err)
		}
		p.call.results[p.batch].Rows[p.stmt] = all[i].rows
	}
	for _, c := range group {
		c.results = c.results[:c.cut]
	}
	return nil
}

// fits counts a row against the budget and refuses its batch if the row does not fit. It returns false for
// rows to drop, which includes all rows after a batch that filled the budget.
func (p place) fits(row store.Row) (ok bool) {
	c, ok := p.call, true
	c.withBudget(p.batch, func(b *store.Budget) {
		if p.batch > c.filling && b.Full() {
			c.cut = min(c.cut, p.batch)
		}
		r := &c.results[p.batch]
		if c.filling = p.batch; p.batch < c.cut && r.Refused == nil && !b.Take(row.Weight()) {
			says := b.Refusal()
			r.Refused = &store.Refusal{At: p.stmt, Reply: &says}
		}
		ok = p.batch < c.cut && r.Refused == nil
	})
	return ok
}

// width returns the number of columns of a statement that reads.
func (s *Store) width(ctx context.Context, sql string, args []store.Value) (n int, err error) {
	limited, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	body := append(appendStatement([]byte{'['}, "SELECT * FROM ("+sql+"\n) LIMIT 0", args), ']')
	r := &request{path: toQuery, level: "weak", body: body}
	r.answer = func(from io.Reader) error {
		all, err := readAnswer(from, func(int, store.Row) bool { return false })
		switch {
		case err != nil:
			return err
		case len(all) != 1:
			return errAnswer
		case all[0].err != "":
			return rejection{all[0].err}
		}
		n = all[0].columns
		return nil
	}
	return n, s.cluster.send(limited, r)
}
