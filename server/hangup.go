package server

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
)

// lookout notices that a client hangs up while its commands run, when nothing else
// reads from it: a read that nobody waits for is not worth its time.
//
// Most commands have ended before there is anything to see: looking begins after a
// moment. It reads ahead, into the buffer that the next commands are read from.
type lookout struct {
	client *client
	here   context.Context // ends when the client is gone
	leave  context.CancelFunc
	timer  *time.Timer
	looked chan struct{}
}

// hungUp is for those who have only closed their own side.
var hungUp = resp.MakeError("ERR the command was ended because its client hung up")

// longEnough is how long reads run before somebody looks whether their client is still
// there. One that has only closed its own side cannot be told from one that is gone:
// until then it gets its replies.
const longEnough = 500 * time.Millisecond

func newLookout(c *client) *lookout {
	l := &lookout{client: c, looked: make(chan struct{})}
	l.here, l.leave = context.WithCancel(context.Background())
	l.timer = time.AfterFunc(time.Hour, l.look)
	l.timer.Stop()
	return l
}

func (l *lookout) begin() { l.timer.Reset(longEnough) }

func (l *lookout) end() {
	if l.timer.Stop() {
		return
	}
	l.client.net.SetReadDeadline(time.Unix(1, 0))
	<-l.looked
	// When the server stops meanwhile, whose deadline this is, too, no command is read
	// any more.
	l.client.net.SetReadDeadline(time.Time{})
}

func (l *lookout) look() {
	defer func() { l.looked <- struct{}{} }()
	err := l.client.in.Ahead()
	var broken net.Error
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && !(errors.As(err, &broken) && broken.Timeout()) {
		l.leave()
	}
}

// onlyRead reports whether none of the calls writes. What a client has sent before it
// hung up is carried out when something in it does.
func (c *client) onlyRead(calls [][][]byte) bool {
	if c.session.InMulti() {
		return false
	}
	for _, args := range calls {
		if cmd, _ := commands.Find(args); cmd == nil || cmd.Flags&commands.ReadOnly == 0 {
			return false
		}
	}
	return true
}
