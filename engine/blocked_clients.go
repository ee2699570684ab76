package engine

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// waits are the clients that wait for keys, each key's in the order in which they came.
//
// A waiter is with its own session until its call has found nothing. What changes meanwhile is
// remembered (again), so that no wake-up is lost. Then it is idle: whoever serves may take it and
// try its call, and it may give up.
type waits struct {
	feed *feed

	mu      sync.Mutex
	free    sync.Cond // a waiter is idle or over
	lines   map[string][]*line
	last    uint64 // of the places in the lines
	waiting map[*waiter]bool

	asleep int // how many sessions are
}

// line is the waiters for a key.
type line struct {
	db      int
	key     string
	waiters []*waiter // in the order of their places
	gone    int       // how many of them wait for it to be missing, too
	found   bool      // by ready
	seen    string    // its version when other processes' commits were last looked at
}

// waiter is a call that waits.
type waiter struct {
	session *Session
	call    planned
	wait    translator.Wait
	place   uint64
	lines   []*line
	done    chan struct{} // closed once it has its reply

	// Of who serves it, who may do so before its session is asleep.
	took    time.Duration
	work    store.Work
	refused bool // the reply is the refusal of its session's guard

	// Guarded by waits.mu.
	state  state
	again  bool // a key has changed while it was with its session
	asleep bool // its session is
	reply  resp.Value
	err    error
}

type state byte

const (
	own   state = iota // with its session
	idle               // with nobody
	taken              // with who serves
	over               // it has its reply, or has given up
)

func (ws *waits) init(f *feed) {
	ws.feed, ws.free.L = f, &ws.mu
	ws.lines, ws.waiting = map[string][]*line{}, map[*waiter]bool{}
}

// enter makes a waiter, which its session is about to try.
func (ws *waits) enter(s *Session, p planned, wait translator.Wait) *waiter {
	w := &waiter{session: s, call: p, wait: wait, done: make(chan struct{})}
	if s.work.Budget != nil {
		w.work.Budget = s.work.Budget.Another()
	}
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
		if wait.Gone {
			l.gone++
		}
	}
	ws.waiting[w] = true
	ws.feed.watch()
	return w
}

// line is that of a key. It is made if there is none, and made is true.
func (ws *waits) line(db int, key string, made bool) *line {
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

// rest says that the call of a waiter has found nothing, in a transaction that may be undone. It is
// idle then, unless it must try again.
func (ws *waits) rest(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.state == own && !w.again {
		ws.let(w)
	}
}

// wake has a waiter with its session again, whose transaction is run once more.
func (ws *waits) wake(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.state == idle {
		w.state = own
	}
}

// rested is rest outside of a transaction. It is false for a waiter that must try again.
func (ws *waits) rested(w *waiter) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.state == own && w.again {
		w.again = false
		return false
	}
	if w.state == own {
		ws.let(w)
	}
	return true
}

// let lets a waiter be idle.
func (ws *waits) let(w *waiter) {
	w.state, w.again = idle, false
	ws.free.Broadcast()
}

// sleep says that the session of a waiter is asleep.
func (ws *waits) sleep(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.asleep = w.state != over; w.asleep {
		ws.asleep++
	}
}

// take takes a waiter that is idle.
func (ws *waits) take(w *waiter) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.state != idle {
		return false
	}
	w.state = taken
	return true
}

// end ends a waiter, with its reply or error, or without either.
func (ws *waits) end(w *waiter) {
	w.state = over
	if w.asleep {
		ws.asleep--
	}
	for _, l := range w.lines {
		at, _ := slices.BinarySearchFunc(l.waiters, w.place, func(o *waiter, place uint64) int {
			return cmp.Compare(o.place, place)
		})
		l.waiters = slices.Delete(l.waiters, at, at+1)
		if w.wait.Gone {
			l.gone--
		}
		if len(l.waiters) == 0 {
			ws.drop(l)
		}
	}
	delete(ws.waiting, w)
	ws.feed.unwatch()
	ws.feed.interest.Add(-1)
	ws.free.Broadcast()
	close(w.done)
}

func (ws *waits) drop(l *line) {
	rest := slices.DeleteFunc(ws.lines[l.key], func(o *line) bool { return o == l })
	if ws.lines[l.key] = rest; len(rest) == 0 {
		delete(ws.lines, l.key)
	}
}

// give gives a waiter a reply that no one serves, and ends it. It is false for one that has another.
func (ws *waits) give(w *waiter, reply resp.Value, err error) bool {
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

// leave is the end of a waiter that is still with its session.
func (ws *waits) leave(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.state == own {
		ws.end(w)
	}
}

// fail ends a waiter whose call has failed while it was served.
func (ws *waits) fail(w *waiter, err error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.work.Budget.Back(0)
	w.err = err
	ws.end(w)
}

// settle says what became of the transaction in which waiters were served.
func (ws *waits) settle(served []*waiter, committed bool) {
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
		w.work.Budget.Back(0)
		w.reply, w.refused = resp.Value{}, false
		ws.let(w)
	}
}

// ready is the lines of keys that have changed.
func (ws *waits) ready(notes []note) (lines []*line) {
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
			w.again = w.again || w.state == own
		}
	}
	return lines
}

// next is the first idle waiter of a line after a place, nil without one. gone reports whether any of
// the line waits for a missing key, too.
func (ws *waits) next(l *line, place uint64) (w *waiter, gone bool) {
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
