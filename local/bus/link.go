//go:build unix

package bus

import (
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/logging"
)

// link connects to another process. It sends calls and receives replies in order.
type link struct {
	conn net.Conn

	mu       sync.Mutex
	hasWork  sync.Cond // signals that waiting is not empty, pending is empty, or the link is closed
	waiting  []byte    // bytes to be written
	pending  []chan resp.Value
	timeouts int // replies in pending that timed out
	closed   bool
}

// maxWaiting limits the bytes queued for a process that does not read.
const maxWaiting = 32 << 20

func newLink(conn net.Conn) *link {
	l := &link{conn: conn}
	l.hasWork.L = &l.mu
	return l
}

// send queues a call. It reports whether a reply can be awaited: it arrives on the channel, or the channel is
// closed. With a nil channel, the reply is discarded.
func (l *link) send(call []byte, answer chan resp.Value) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if len(l.waiting) > 0 && len(l.waiting)+len(call) > maxWaiting {
		l.closeLocked()
		return false
	}
	behind := len(l.pending) > 0 && l.timeouts > 0
	l.waiting = append(l.waiting, call...)
	if behind {
		answer = nil
	}
	l.pending = append(l.pending, answer)
	l.hasWork.Broadcast()
	return answer != nil
}

// run writes calls and reads replies until the link is closed.
func (l *link) run() {
	go store.Guard(logging.Panic(slog.Default()), l.write)
	defer l.close()
	in := resp.NewReader(l.conn)
	for {
		v, err := in.ReadReply()
		l.mu.Lock()
		if err != nil || len(l.pending) == 0 {
			l.closeLocked()
			l.mu.Unlock()
			return
		}
		answer := l.pending[0]
		if l.pending = l.pending[1:]; len(l.pending) == 0 {
			l.pending, l.timeouts = nil, 0
			l.hasWork.Broadcast()
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
			l.hasWork.Wait()
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

// timedOut records that a reply has timed out. No reply is awaited until the process has caught up.
func (l *link) timedOut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) > 0 {
		l.timeouts++
	}
}

// drain waits until all calls are answered, or until the deadline.
func (l *link) drain(deadline time.Time) {
	timer := time.AfterFunc(time.Until(deadline), l.close)
	defer timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.pending) > 0 && !l.closed {
		l.hasWork.Wait()
	}
}

func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closeLocked()
}

// closeLocked is close for a caller that holds mu.
func (l *link) closeLocked() {
	if l.closed {
		return
	}
	l.closed = true
	l.conn.Close()
	for _, answer := range l.pending {
		if answer != nil {
			close(answer)
		}
	}
	l.pending = nil
	l.hasWork.Broadcast()
}
