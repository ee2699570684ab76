package engine

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// blockedClients holds the blocked clients, in order of arrival for each key.
//
// A waiter belongs to its session until its call has found nothing. A change in that time sets again, so no
// wake-up is lost. Then the waiter is idle: the serving goroutine may take it and try its call, and the session
// may end it.
type blockedClients struct {
	feed *feed

	mu      sync.Mutex
	free    sync.Cond // signals that a waiter is idle or over
	lines   map[string][]*line
	last    uint64 // last place given out
	waiting map[*waiter]bool

	sleeping int // number of sessions that sleep
}

// line queues the clients blocked on one key.
type line struct {
	db      int
	key     string
	waiters []*waiter // sorted by place
	gone    int       // waiters that also wait for the key to be missing
	found   bool      // scratch of ready
	seen    string    // the key's version at the last check for commits of other processes
}

// waiter is a blocked call.
type waiter struct {
	session *Session
	call    planned
	wait    translator.Wait
	place   uint64
	lines   []*line
	done    chan struct{} // closed once it has its reply

	// Owned by the goroutine that serves it, which may be before the session sleeps.
	took    time.Duration
	work    store.Work
	refused bool // the reply is an error of the session's guard

	timedOut bool // owned by the session, which reads it after the wait

	waiterState
}

// waiterState is guarded by waits.mu.
type waiterState struct {
	state   state
	retry   bool // a key changed before the waiter was idle
	watched bool // commits of other processes are noticed for it
	asleep  bool // the session sleeps
	reply   resp.Value
	err     error
}

type state byte

const (
	own   state = iota // its session runs the call
	idle               // waits for a change
	taken              // a serving goroutine runs the call
	over               // it has its reply, or its session has ended it
)

func (ws *blockedClients) init(f *feed) {
	ws.feed, ws.free.L = f, &ws.mu
	ws.lines, ws.waiting = map[string][]*line{}, map[*waiter]bool{}
}

// enter adds a waiter. Its state is own if its session tries the call next, and idle inside the transaction in
// which the call has found nothing.
func (ws *blockedClients) enter(s *Session, p planned, wait translator.Wait, st state) *waiter {
	w := &waiter{session: s, call: p, wait: wait, waiterState: waiterState{state: st}, done: make(chan struct{})}
	if s.work.Budget != nil {
		w.work.Budget = s.work.Budget.Empty()
	}
	w.work.Watch(func(began time.Time) error { return s.engine.overdue(context.Background(), began, nil) })
	ws.feed.interest.Add(1)
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.last++
	w.place = ws.last
	for _, key := range wait.Keys {
		l := ws.line(p.db, string(key), true)
		if slices.Contains(w.lines, l) {
			continue
		}
		w.lines, l.waiters = append(w.lines, l), append(l.waiters, w)
		if wait.WakeIfMissing {
			l.gone++
		}
	}
	ws.waiting[w] = true
	if w.watched = st == own; w.watched {
		ws.feed.watch()
	}
	return w
}

// watch notices commits of other processes for a waiter that entered inside a transaction: the start of the check
// needs the store.
func (ws *blockedClients) watch(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.state != over && !w.watched {
		w.watched = true
		ws.feed.watch()
	}
}

// line returns the line of a key, or nil. With made it adds a missing line.
func (ws *blockedClients) line(db int, key string, made bool) *line {
	for _, l := range ws.lines[key] {
		if l.db == db {
			return l
		}
	}
	if !made {
		return nil
	}
	l := &line{db: db, key: key}
	ws.lines[key] = append(ws.lines[key], l)
	return l
}

// markIdle marks a waiter as idle after its call has found nothing, in a transaction that may be undone. A waiter
// that must try again stays with its session.
func (ws *blockedClients) markIdle(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.state == own && !w.retry {
		ws.setIdle(w)
	}
}

// reclaim returns an idle waiter to its session, whose transaction runs again.
func (ws *blockedClients) reclaim(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.state == idle {
		w.state = own
	}
}

// settleIdle does the same as rest outside of a transaction. It returns false if the waiter must try again.
func (ws *blockedClients) settleIdle(w *waiter) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.state == own && w.retry {
		w.retry = false
		return false
	}
	if w.state == own {
		ws.setIdle(w)
	}
	return true
}

// setIdle marks a waiter as idle.
func (ws *blockedClients) setIdle(w *waiter) {
	w.state, w.retry = idle, false
	ws.free.Broadcast()
}

// sleep marks the session of a waiter as asleep.
func (ws *blockedClients) sleep(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.asleep = w.state != over; w.asleep {
		ws.sleeping++
	}
}

// take claims an idle waiter for serving.
func (ws *blockedClients) take(w *waiter) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.state != idle {
		return false
	}
	w.state = taken
	return true
}

// end removes a waiter, with its reply or error if it has one.
func (ws *blockedClients) end(w *waiter) {
	w.state = over
	if w.asleep {
		ws.sleeping--
	}
	for _, l := range w.lines {
		at, _ := slices.BinarySearchFunc(l.waiters, w.place, func(o *waiter, place uint64) int {
			return cmp.Compare(o.place, place)
		})
		l.waiters = slices.Delete(l.waiters, at, at+1)
		if w.wait.WakeIfMissing {
			l.gone--
		}
		if len(l.waiters) == 0 {
			ws.drop(l)
		}
	}
	delete(ws.waiting, w)
	if w.watched {
		ws.feed.unwatch()
	}
	ws.feed.interest.Add(-1)
	ws.free.Broadcast()
	close(w.done)
}

func (ws *blockedClients) drop(l *line) {
	rest := slices.DeleteFunc(ws.lines[l.key], func(o *line) bool { return o == l })
	if ws.lines[l.key] = rest; len(rest) == 0 {
		delete(ws.lines, l.key)
	}
}

// finish ends w with reply and err, unless it already has a reply: then it returns false. It first waits for a
// goroutine that serves w.
func (ws *blockedClients) finish(w *waiter, reply resp.Value, err error) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w.state == taken {
		ws.free.Wait()
	}
	if w.state == over {
		return false
	}
	w.reply, w.err = reply, err
	ws.end(w)
	return true
}

// endOwn ends a waiter that is still with its session.
func (ws *blockedClients) endOwn(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.state == own {
		ws.end(w)
	}
}

// remove ends waiters that entered in a transaction that was undone.
func (ws *blockedClients) remove(entered []*waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range entered {
		if w.state != over {
			ws.end(w)
		}
	}
}

// fail ends a waiter whose call failed while it was served.
func (ws *blockedClients) fail(w *waiter, err error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.work.Budget.Rewind(0)
	w.err = err
	ws.end(w)
}

// settle ends the served waiters if their transaction committed, and makes them idle again if not.
func (ws *blockedClients) settle(served []*waiter, committed bool) {
	if len(served) == 0 {
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range served {
		if committed {
			ws.end(w)
			continue
		}
		w.work.Budget.Rewind(0)
		w.reply, w.refused = resp.Value{}, false
		ws.setIdle(w)
	}
}

// ready returns the lines of the changed keys.
func (ws *blockedClients) ready(notes []note) (lines []*line) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.lines) == 0 {
		return nil
	}
	add := func(all []*line, db int) {
		for _, l := range all {
			if (db < 0 || l.db == db) && !l.found {
				l.found = true
				lines = append(lines, l)
			}
		}
	}
	for _, n := range notes {
		for _, key := range n.keys {
			add(ws.lines[string(key)], n.db)
		}
		if n.keys == nil {
			for _, all := range ws.lines {
				add(all, n.db)
			}
			slices.SortFunc(lines, func(a, b *line) int { return cmp.Compare(a.waiters[0].place, b.waiters[0].place) })
		}
	}
	for _, l := range lines {
		l.found = false
		for _, w := range l.waiters {
			w.retry = w.retry || w.state == own
		}
	}
	return lines
}

// next returns the first idle waiter of a line after a place, or nil. gone reports whether any waiter of the
// line also waits for the key to be missing.
func (ws *blockedClients) next(l *line, place uint64) (w *waiter, gone bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	at, _ := slices.BinarySearchFunc(l.waiters, place+1, func(o *waiter, place uint64) int {
		return cmp.Compare(o.place, place)
	})
	for _, w := range l.waiters[at:] {
		if w.state == idle {
			return w, l.gone > 0
		}
	}
	return nil, false
}
