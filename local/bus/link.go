//go:build unix

package bus

import (
	"net"
	"sync"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// link is a connection to another process, which asks and is answered in order.
type link struct {
	conn net.Conn

	mu      sync.Mutex
	some    sync.Cond // waiting is not empty, asked is, or the link is closed
	waiting []byte    // to be written
	asked   []chan resp.Value
	late    int // how many of asked somebody has given up
	closed  bool
}

// maxWaiting is what may wait for a process that does not read.
const maxWaiting = 32 << 20

func newLink(conn net.Conn) *link {
	l := &link{conn: conn}
	l.some.L = &l.mu
	return l
}

// send sends a call. It reports whether an answer may be waited for: it comes, or the channel is
// closed. A nil answer is of no interest.
func (l *link) send(call []byte, answer chan resp.Value) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if len(l.waiting) > 0 && len(l.waiting)+len(call) > maxWaiting {
		l.shut()
		return false
	}
	behind := len(l.asked) > 0 && l.late > 0
	l.waiting = append(l.waiting, call...)
	if behind {
		answer = nil
	}
	l.asked = append(l.asked, answer)
	l.some.Broadcast()
	return answer != nil
}

// run carries what is sent and what comes back, until the link is closed.
func (l *link) run() {
	go store.Guard(nil, l.write)
	defer l.close()
	in := resp.NewReader(l.conn)
	for {
		v, err := in.ReadReply()
		l.mu.Lock()
		if err != nil || len(l.asked) == 0 {
			l.shut()
			l.mu.Unlock()
			return
		}
		answer := l.asked[0]
		if l.asked = l.asked[1:]; len(l.asked) == 0 {
			l.asked, l.late = nil, 0
			l.some.Broadcast()
		}
		l.mu.Unlock()
		if answer != nil {
			answer <- v
		}
	}
}

func (l *link) write() {
	defer l.close()
	for {
		l.mu.Lock()
		for len(l.waiting) == 0 && !l.closed {
			l.some.Wait()
		}
		out := l.waiting
		l.waiting = nil
		closed := l.closed
		l.mu.Unlock()
		if closed {
			return
		}
		if _, err := l.conn.Write(out); err != nil {
			l.close()
			return
		}
	}
}

// gaveUp says that an answer was not waited for any longer: none is until the process has caught up.
func (l *link) gaveUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.asked) > 0 {
		l.late++
	}
}

// settle waits until all is answered, or for the deadline.
func (l *link) settle(deadline time.Time) {
	timer := time.AfterFunc(time.Until(deadline), l.close)
	defer timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.asked) > 0 && !l.closed {
		l.some.Wait()
	}
}

func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shut()
}

// shut is close under the lock.
func (l *link) shut() {
	if l.closed {
		return
	}
	l.closed = true
	l.conn.Close()
	for _, answer := range l.asked {
		if answer != nil {
			close(answer)
		}
	}
	l.asked = nil
	l.some.Broadcast()
}
