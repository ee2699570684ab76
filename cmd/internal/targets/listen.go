package targets

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/bus"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// sessionMemory bounds the rows and replies of a command, or of a pipeline, in this process.
const sessionMemory = 2 << 30

// on has the connection run commands on a store. The messages of a file other processes get.
func (c *Conn) on(file engine.Store, end func() error) {
	e := engine.New(file)
	session := e.Session()
	session.Bound(store.NewBudget(nil, sessionMemory, 0))
	session.SetWho(func() (addr, name string) { return fmt.Sprint("pid:", os.Getpid()), "" })
	c.Session, c.hub, c.limit, c.end = session, e.Hub(), e.SetTimeLimit, end
	if c.Target.URL == nil && c.Target.Path != local.Memory {
		node := bus.New(c.Target.Path, c.hub)
		c.end = func() error { return errors.Join(node.Close(), end()) }
	}
}

// listener is a session on a server: remote.Redis and remote.REST.
type listener interface {
	Listen(ctx context.Context, args [][]byte, each func(resp.Value) error) error
}

// Listen carries out a command that begins to listen, SUBSCRIBE and its like or MONITOR, and gives
// what comes to each, the confirmations included; the session stays as it is. It ends with ctx, whose
// cause it returns, with an error of each, after an error reply, or when a server is lost. Notice is
// told why the messages of other processes on a file do not come, if they do not.
func (c *Conn) Listen(ctx context.Context, args [][]byte, notice func(error), each func(resp.Value) error) error {
	if c.hub != nil {
		return c.hub.Listen(ctx, args, notice, each)
	}
	return Plain(c.Session).(listener).Listen(ctx, args, each)
}
