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

// hangupWatch notices that a client hangs up while its commands run, when nothing else
// reads from it: a read that no client waits for is not worth its time.
//
// Most commands end sooner: the watch begins after longEnough. It reads ahead,
// into the buffer that the next commands are read from.
type hangupWatch struct {
	client  *client
	here    context.Context // ends when the client hangs up
	leave   context.CancelFunc
	timer   *time.Timer
	checked chan struct{}
	on      bool // between begin and end
}

// hungUp is the reply to a client that has only closed its own side.
var hungUp = resp.MakeError("ERR the command was ended because its client hung up")

// longEnough is how long reads run before it is checked whether their client is still
// there. One that has only closed its own side cannot be distinguished from one that is
// gone: until then it gets its replies.
const longEnough = 500 * time.Millisecond

func newHangupWatch(c *client) *hangupWatch {
	l := &hangupWatch{client: c, checked: make(chan struct{})}
	l.here, l.leave = context.WithCancel(context.Background())
	l.timer = time.AfterFunc(time.Hour, l.check)
	l.timer.Stop()
	return l
}

func (l *hangupWatch) begin(after time.Duration) {
	l.on = true
	l.timer.Reset(after)
}

// waiting is around each wait of the session. It ends when the client hangs up, and then its turn is
// the next one's, or when the server stops.
func (c *client) waiting(cmd *commands.Command) (context.Context, func()) {
	c.write(c.out)
	c.out = c.out[:0]
	c.called(cmd.Name)
	goOn := c.waits()
	if c.watch == nil {
		c.watch = newHangupWatch(c)
	}
	ctx, cancel := context.WithCancel(c.watch.here)
	stop := context.AfterFunc(c.life, cancel)
	begun := c.watch.on // by who reads
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
	// A stopping server sets this deadline, too; that it is lost does no harm, since
	// no command is read any more.
	l.client.net.SetReadDeadline(time.Time{})
}

func (l *hangupWatch) check() {
	defer func() { l.checked <- struct{}{} }()
	err := l.client.reader().Ahead()
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
