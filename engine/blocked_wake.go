package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// serve serves the blocked clients whose keys have changed, in the order of the keys and then of arrival. It
// repeats until these calls wake no more clients. Its error is a store.JobError.
func (f *feed) serve(t *transaction, by server) error {
	for len(t.notes) > 0 {
		lines := f.waits.ready(t.notes)
		t.notes = t.notes[:0]
		for _, l := range lines {
			if err := f.serveLine(t, by, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// serveLine tries the calls of the clients blocked on one key, while the key exists and has the type that they
// wait for.
func (f *feed) serveLine(t *transaction, by server, l *line) error {
	for place := uint64(0); ; {
		w, gone := f.waits.next(l, place)
		if w == nil {
			return nil
		}
		place = w.place
		is, err := f.typeOf(by, l)
		switch {
		case err != nil:
			return &store.JobError{Err: err, Drop: func(err error) { f.waits.finish(w, nilReply, err) }}
		case is == "" && !gone:
			return nil
		case is != w.wait.Type && !w.wait.WakeIfMissing || !f.waits.take(w):
			continue
		}
		if err := f.serveOne(t, by, w); err != nil {
			return err
		}
	}
}

func (f *feed) serveOne(t *transaction, by server, w *waiter) error {
	began := time.Now()
	v, refused := w.session.Refused(w.call.cmd, w.call.args, Asking) // its permissions may have changed
	var err error
	if !refused {
		w.work.Begin()
		v, err = by.try(w)
	}
	w.took += time.Since(began)
	switch {
	case refused:
		w.reply, w.refused = v, true
		t.served = append(t.served, w)
	case err != nil:
		return by.failed(w, err)
	case v.IsNull():
		f.waits.settle([]*waiter{w}, false)
	default:
		f.read(t, w.call)
		w.reply = v
		t.served = append(t.served, w)
	}
	return nil
}

// typeOf returns the type of the key of a line, "" for a missing key.
func (f *feed) typeOf(by server, l *line) (string, error) {
	stmt := translator.ReadType(f.engine.env(l.db, nil), []byte(l.key))
	r, err := by.look(store.Batch{ReadOnly: true, Stmts: []store.Stmt{stmt}})
	if err != nil || r.Refused != nil || len(r.Rows[0]) == 0 {
		return "", err
	}
	return string(r.Rows[0][0][0].Bytes()), nil
}

// serveExternalCommits serves blocked clients after commits of other processes. It reports whether a key that they wait
// for has changed. After an error the caller calls it again.
func (f *feed) serveExternalCommits(ctx context.Context) (some bool, err error) {
	e := f.engine
	f.checking.Lock()
	defer f.checking.Unlock()
	lines, seen, err := f.changedLines(ctx)
	if err != nil || len(lines) == 0 {
		return false, err
	}
	var notes []note
	for _, l := range lines {
		notes = append(notes, note{l.db, [][]byte{[]byte(l.key)}})
	}
	defer func() {
		for i, l := range lines {
			if err == nil {
				l.seen = seen[i]
			}
		}
	}()
	holder, holds := e.store.(transactor)
	switch {
	case !holds:
		f.after.Lock()
		defer f.after.Unlock()
		t := &transaction{notes: notes}
		err = f.serve(t, outside{f, t, ctx})
		f.ended(t, true)
		return true, err
	case e.readOnly() != "": // the file is read-only, so only reads are served
		err = f.serveReadOnly(ctx, notes)
		return true, err
	}
	for {
		err = holder.Transact(ctx, false, panicsAsErrors(func(run Run) error {
			f.current.notes = append(f.current.notes, notes...)
			return f.serve(&f.current, inside{f, &f.current, run})
		}))
		if !dropJob(err) {
			return true, err
		}
	}
}

// dropJob removes the failed job from a transaction, and reports whether the transaction should run again.
func dropJob(err error) bool {
	var a *store.JobError
	if !errors.As(err, &a) {
		return false
	}
	a.Drop(a.Err)
	return true
}

// serveReadOnly serves clients that only read, on a read-only store.
func (f *feed) serveReadOnly(ctx context.Context, notes []note) error {
	t := &transaction{notes: notes}
	err := f.engine.store.(transactor).Transact(ctx, true, panicsAsErrors(func(run Run) error {
		f.ended(t, false)
		t.notes = append(t.notes, notes...)
		return f.serve(t, inside{f, t, run})
	}))
	f.ended(t, err == nil)
	dropJob(err)
	return err
}

// changedLines returns the lines of keys whose version differs from the last check, and their new versions.
func (f *feed) changedLines(ctx context.Context) (changed []*line, seen []string, err error) {
	f.waits.mu.Lock()
	var lines []*line
	for _, all := range f.waits.lines {
		lines = append(lines, all...)
	}
	f.waits.mu.Unlock()
	if len(lines) == 0 {
		return nil, nil, nil
	}
	slices.SortStableFunc(lines, func(a, b *line) int { return cmp.Compare(a.db, b.db) })
	b := store.Batch{ReadOnly: true}
	for i := 0; i < len(lines); { // one statement per database
		var keys [][]byte
		db := lines[i].db
		for ; i < len(lines) && lines[i].db == db; i++ {
			keys = append(keys, []byte(lines[i].key))
		}
		b.Stmts = append(b.Stmts, translator.ReadVersions(f.engine.env(db, nil), keys))
	}
	results, err := f.engine.store.Apply(ctx, []store.Batch{b})
	if err != nil {
		return nil, nil, err
	}
	if no := results[0].Refused; no != nil {
		return nil, nil, errors.New(no.Reason)
	}
	var versions []string
	for _, rows := range results[0].Rows {
		versions = append(versions, strings.Split(string(rows[0][0].Bytes()), ",")...)
	}
	for i, l := range lines {
		if l.seen != versions[i] {
			changed, seen = append(changed, l), append(seen, versions[i])
		}
	}
	return changed, seen, nil
}
