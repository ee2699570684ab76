package server

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// hangupWatch detects that a client hangs up while its commands run and no other goroutine reads from it, so the
// server can stop a read whose client has gone. It also ends a read that takes longer than the grace of a stopping
// server.
//
// Most commands finish before the watch starts, hangupCheckAfter after they began. The watch reads into the buffer
// that the next commands are read from.
type hangupWatch struct {
	client  *client
	ctx     context.Context // ends when the client hangs up
	cancel  context.CancelFunc
	timer   *time.Timer
	checked chan struct{}
	stop    func() bool // cancels ending the read with the server; set by check
	on      bool        // between begin and end
}

// hungUp is the reply to a client that has closed only its sending side.
var hungUp = resp.MakeError("ERR the command was ended because its client hung up")

// stopping is the reply to a read that outlasts the grace of a stopping server.
var stopping = resp.MakeError("ERR the command was ended because the server stops")

// A read runs for hangupCheckAfter before the server checks whether its client has hung up. A client that has closed
// only its sending side looks the same as one that has gone: until then it gets its replies.
const hangupCheckAfter = 500 * time.Millisecond

func newHangupWatch(c *client) *hangupWatch {
	l := &hangupWatch{client: c, checked: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.timer = time.AfterFunc(time.Hour, l.check)
	l.timer.Stop()
	return l
}

func (l *hangupWatch) begin(after time.Duration) {
	l.on = true
	l.timer.Reset(after)
}

// onBlock is called before a command of the session blocks; the caller calls the returned func afterwards. The context
// ends when the server stops or the client hangs up, which gives the client's turn to the next waiter.
func (c *client) onBlock(cmd *commands.Command) (context.Context, func()) {
	c.write(c.out)
	c.out = c.out[:0]
	c.recordCommand(cmd.Name)
	goOn := c.suspendTracking()
	if c.watch == nil {
		c.watch = newHangupWatch(c)
	}
	ctx, cancel := context.WithCancel(c.watch.ctx)
	stop := context.AfterFunc(c.life, cancel)
	begun := c.watch.on // already started by callContext
	switch {
	case !begun:
		c.watch.begin(0)
	case c.watch.timer.Stop():
		c.watch.timer.Reset(0)
	}
	return ctx, func() {
		c.left = ctx.Err() != nil
		stop()
		cancel()
		if !begun {
			c.watch.end()
		}
		goOn()
	}
}

func (l *hangupWatch) end() {
	l.on = false
	if l.timer.Stop() {
		return
	}
	l.client.net.SetReadDeadline(time.Unix(1, 0))
	<-l.checked
	l.stop()
	// A stopping server sets this deadline, too. Losing it does no harm, since the server reads no further command.
	l.client.net.SetReadDeadline(time.Time{})
}

func (l *hangupWatch) check() {
	defer func() { l.checked <- struct{}{} }()
	l.stop = context.AfterFunc(l.client.life, func() { time.AfterFunc(l.client.server.config.Grace, l.cancel) })
	defer l.client.server.contain(l.cancel)
	err := l.client.reader().Ahead()
	var broken net.Error
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && !(errors.As(err, &broken) && broken.Timeout()) {
		l.cancel()
	}
}

// onlyRead reports whether none of the calls writes. Calls that write run to completion even if the client hangs up.
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
