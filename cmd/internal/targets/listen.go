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

// sessionMemory limits the rows and replies of one command or pipeline in this process.
const sessionMemory = 2 << 30

// useStore makes the connection run commands on a store. Other processes on the same file receive its messages.
func (c *Conn) useStore(file engine.Store, end func() error) {
	e := engine.New(file, engine.WithCancelledScripts())
	session := e.Session()
	session.Bound(store.NewBudget(nil, sessionMemory, 0).NoFlag())
	session.SetWho(func() (addr, name string) { return fmt.Sprint("pid:", os.Getpid()), "" })
	c.Session, c.hub, c.limit, c.end = session, e.Hub(), e.SetTimeLimit, end
	if c.Target.URL == nil && c.Target.Path != local.Memory {
		node := bus.New(c.Target.Path, c.hub)
		c.end = func() error { return errors.Join(node.Close(), end()) }
	}
}

// listener listens to a server. Implementations are remote.Redis, cluster.Session and remote.REST.
type listener interface {
	Listen(ctx context.Context, args [][]byte, each func(resp.Value) error) error
}

// Listen runs SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE or MONITOR, and calls each with every reply, including confirmations.
// The session is not affected. Listen returns the cause of ctx's end, an error of each, or nil after an error reply
// or a lost server. It calls notice if messages of other processes on a file cannot be received.
func (c *Conn) Listen(ctx context.Context, args [][]byte, notice func(error), each func(resp.Value) error) error {
	if c.hub != nil {
		return c.hub.Listen(ctx, args, notice, each)
	}
	return Plain(c.Session).(listener).Listen(ctx, args, each)
}
