package rqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// writer numbers the requests of this process so that none takes effect twice. A request stores its number in
// the same transaction, and is refused if that number or a later one is already stored. Once the next request
// has taken effect, an earlier one that is still on its way is refused too.
type writer struct {
	id  int64 // random
	seq int64 // number of the last request
}

// The table of writers. Its name begins with _, like the tables of engines, which our checks skip. A writer is
// deleted an hour after its last request, when none of its requests can still be on its way.
const (
	sqlWriters = `CREATE TABLE IF NOT EXISTS _meowdis_writers(id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, minute INTEGER NOT NULL)`
	sqlByAge   = `CREATE INDEX IF NOT EXISTS _meowdis_writers_by_age ON _meowdis_writers(minute)`
	sqlNumber  = `INSERT INTO _meowdis_writers(id, seq, minute) VALUES(?1, ?2, ?3)
		ON CONFLICT(id) DO UPDATE SET seq = iif(excluded.seq > seq, excluded.seq, NULL), minute = max(minute, excluded.minute)`
	sqlForget = `DELETE FROM _meowdis_writers WHERE id IN (SELECT id FROM _meowdis_writers WHERE minute < ?1 ORDER BY minute LIMIT 100)`

	writerTTL = 60 // minutes

	// Substrings of SQLite's errors.
	saysNumbered  = "constraint failed: _meowdis_writers.seq"
	saysNoWriters = "no such table: _meowdis_writers"
	saysRefused   = "constraint failed"
)

// ErrReplyLost reports a write that took effect but whose reply was lost because its node is gone.
var ErrReplyLost = errors.New("the write took effect, but its reply was lost with the connection to the rqlite cluster")

var (
	errBrokenTransaction = errors.New("the rqlite cluster continued a transaction after an error: use another version of rqlite")
	errPartly            = errors.New("which of several writes took effect is unknown")
	errUnknown           = errors.New("whether the write took effect is unknown")
)

// item holds a batch of a call.
type item struct {
	call *call
	at   int
}

func (it item) batch() *store.Batch { return &it.call.batches[it.at] }

// refused holds the item that stopped a transaction.
type refused struct {
	at     int
	result store.Result
	broken error // set if the error was not a constraint
}

// maxStatements bounds the statements of a request that writes, unless a single batch has more.
const maxStatements = 2000

// write serves calls that write, in order. An item refused after earlier items in its transaction has seen
// writes that were rolled back. Those items are written first, and the refused item begins the next
// transaction.
func (s *Store) write(group []*call) {
	ctx, cancel := s.bounded()
	defer cancel()
	for _, c := range group {
		c.results = make([]store.Result, len(c.batches))
	}
	queue := items(group)
	for most := len(queue); len(queue) > 0; {
		n := fitting(queue, most)
		most = len(queue)
		no, err := s.commit(ctx, queue[:n])
		switch {
		case err != nil:
			fail(queue[:n], err)
		case no == nil:
		case no.broken != nil:
			queue[no.at].call.err, n = no.broken, 0
		case no.at == 0:
			queue[0].call.results[queue[0].at], n = no.result, 1
		default:
			most, n = no.at, 0
		}
		queue = withoutFailed(queue[n:])
	}
	for _, c := range group {
		c.End(c.err)
	}
}

// fail fails the calls of items that were sent together. If a call has further items, some may have taken
// effect before, and the rest will never run.
func fail(part []item, err error) {
	sent := map[*call]int{}
	for _, it := range part {
		sent[it.call]++
	}
	for c, n := range sent {
		if c.err = err; n < len(items([]*call{c})) {
			c.err = fmt.Errorf("%w: %v", errPartly, err)
		}
	}
}

// try serves a batch that is always rolled back, so it needs no number.
func (s *Store) try(group []*call) {
	ctx, cancel := s.bounded()
	defer cancel()
	c := group[0]
	no, err := s.transact(ctx, nil, items(group))
	switch {
	case err != nil:
		c.End(err)
	case no == nil:
		c.End(errBrokenTransaction)
	default:
		c.results = []store.Result{no.result}
		c.End(no.broken)
	}
}

// alwaysAborts reports whether the batch is certain to leave no trace.
func alwaysAborts(b *store.Batch) bool {
	n := len(b.Stmts)
	return n > 0 && b.Stmts[n-1].SQL == translator.Abort().SQL
}

// items returns the batches of calls that have statements.
func items(group []*call) (all []item) {
	for _, c := range group {
		for i := range c.batches {
			if len(c.batches[i].Stmts) > 0 {
				all = append(all, item{c, i})
			}
		}
	}
	return all
}

// withoutFailed returns the queue without the items of failed calls.
func withoutFailed(queue []item) (rest []item) {
	for _, it := range queue {
		if it.call.err == nil {
			rest = append(rest, it)
		}
	}
	return rest
}

// fitting returns how many of the first items fit one request, at most most.
func fitting(queue []item, most int) int {
	n, statements, weight := 0, 0, 0
	for ; n < min(most, len(queue)); n++ {
		b := queue[n].batch()
		statements += len(b.Stmts)
		if weight += weigh(b); n > 0 && (statements > maxStatements || weight > maxGroupBytes) {
			break
		}
	}
	return n
}

// commit writes items in one transaction, exactly once.
func (s *Store) commit(ctx context.Context, part []item) (*refused, error) {
	no, err := s.transact(ctx, s.number(), part)
	if err != nil && strings.Contains(err.Error(), saysNoWriters) {
		if err := s.execute(ctx, sqlWriters, sqlByAge); err != nil {
			return nil, err
		}
		no, err = s.transact(ctx, s.number(), part)
	}
	return no, err
}

// number returns the statements that begin a transaction and number it.
func (s *Store) number() []store.Stmt {
	w, minute := &s.writer, s.o.Now()/60000
	w.seq++
	all := []store.Stmt{{SQL: sqlNumber, Args: []store.Value{store.Int(w.id), store.Int(w.seq), store.Int(minute)}}}
	if w.seq == 1 {
		all = append(all, store.Stmt{SQL: sqlForget, Args: []store.Value{store.Int(minute - writerTTL)}})
	}
	return all
}

// execute runs statements that are safe to run twice.
func (s *Store) execute(ctx context.Context, texts ...string) error {
	var first []store.Stmt
	for _, text := range texts {
		first = append(first, store.Stmt{SQL: text})
	}
	_, err := s.transact(ctx, first, nil)
	return err
}

// transact runs first and then the items in one transaction. It returns an error if the request failed or if a
// statement of first was refused. It returns the item that was refused, if any.
func (s *Store) transact(ctx context.Context, first []store.Stmt, part []item) (*refused, error) {
	body, places := []byte{'['}, make([]place, len(first))
	for i, stmt := range first {
		body = appendStatement(comma(body, i), formOf(stmt.SQL).text, stmt.Args)
	}
	for i, it := range part {
		for j, stmt := range it.batch().Stmts {
			body = appendStatement(comma(body, len(places)), it.call.forms[it.at][j].text, stmt.Args)
			places = append(places, place{it.call, it.at, j, i})
		}
	}
	var all []outcome
	r := &request{path: toRequest, level: "strong", body: append(body, ']')}
	r.answer = func(from io.Reader) (err error) {
		all, err = readAnswer(from, func(int, store.Row) bool { return true })
		return err
	}
	if err := s.cluster.send(ctx, r); err != nil {
		if r.unknown && len(first) > 0 {
			err = fmt.Errorf("%w: %w", errUnknown, err)
		}
		return nil, err
	}
	return settle(all, places, len(first))
}

// settle passes the outcomes of a transaction to the items, or returns the item that was refused.
func settle(all []outcome, places []place, first int) (*refused, error) {
	for i, o := range all {
		switch {
		case o.err == "":
			continue
		case i != len(all)-1 || i >= len(places):
			return nil, errBrokenTransaction
		case i < first && strings.Contains(o.err, saysNumbered):
			return nil, ErrReplyLost
		case i < first:
			return nil, errors.New("rqlite says: " + o.err)
		}
		return stopped(all, places, i), nil
	}
	if len(all) != len(places) {
		return nil, errAnswer
	}
	for i := first; i < len(all); i++ {
		p := places[i]
		r := &p.call.results[p.batch]
		if p.stmt == 0 {
			*r = empty(p)
		}
		p.take(r, &all[i])
		p.call.withBudget(p.batch, func(b *store.Budget) {
			for _, row := range all[i].rows {
				b.Charge(row.Weight())
			}
		})
	}
	return nil, nil
}

// stopped returns the item whose statement has outcome i, with the rows of its statements before it.
func stopped(all []outcome, places []place, i int) *refused {
	p := places[i]
	no := &refused{at: p.item, result: empty(p)}
	for j := i - p.stmt; j < i; j++ {
		places[j].take(&no.result, &all[j])
	}
	no.result.Refused = &store.Refusal{At: p.stmt, Reason: all[i].err}
	if !strings.Contains(all[i].err, saysRefused) {
		no.broken = fmt.Errorf("running %q: %s", p.sql(), all[i].err)
	}
	return no
}

// take stores the rows and changes of a statement. A write with RETURNING returns one row for each row it
// changes.
func (p place) take(r *store.Result, o *outcome) {
	r.Rows[p.stmt], r.Changes[p.stmt] = o.rows, o.changes
	if p.call.forms[p.batch][p.stmt].kind == returns {
		r.Changes[p.stmt] = int64(len(o.rows))
	}
}

func empty(p place) store.Result {
	n := len(p.call.batches[p.batch].Stmts)
	return store.Result{Rows: make([][]store.Row, n), Changes: make([]int64, n)}
}

func comma(body []byte, i int) []byte {
	if i > 0 {
		body = append(body, ',')
	}
	return body
}
