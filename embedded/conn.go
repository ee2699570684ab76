package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Do runs one command in database 0. Arguments are strings, []byte, integers, floats and bools (1 and 0); a []string
// becomes one argument per element. Reply.Err returns an Error for an error reply. Any other error means that the
// database failed or ctx ended; the command may still have taken effect. Commands that act on a connection (SELECT,
// MULTI, WATCH) need a Conn, and commands that subscribe need a client with Dialer. ACL rules do not apply to Do.
func (db *DB) Do(ctx context.Context, args ...any) Reply {
	call, err := arguments(args)
	if err != nil {
		return Reply{err: err}
	}
	if cmd := commands.Called(call); cmd != nil && (cmd.Name == "SELECT" || cmd.Has(commands.OfConnection)) {
		return Reply{err: fmt.Errorf("%s acts on a connection: use DB.Conn, or a client with DB.Dialer", cmd.Name)}
	}
	return db.Conn().run(ctx, call)
}

// Conn is a connection with its own selected database, transaction (MULTI) and watched keys. Only one goroutine at a
// time may use it. It need not be closed.
type Conn struct {
	db      *DB
	session *engine.Session
	ctx     context.Context // context of the running command
}

// Conn returns a new Conn in database 0.
func (db *DB) Conn() *Conn {
	c := &Conn{db: db, session: db.server.Session(who)}
	c.session.SetWaiting(c.waiting)
	return c
}

// Do runs one command, like DB.Do, and allows the commands that act on a connection.
func (c *Conn) Do(ctx context.Context, args ...any) Reply {
	call, err := arguments(args)
	if err != nil {
		return Reply{err: err}
	}
	return c.run(ctx, call)
}

func (c *Conn) run(ctx context.Context, call [][]byte) Reply {
	if c.db.life.Err() != nil {
		return Reply{err: ErrClosed}
	}
	c.ctx = ctx
	v, err := c.session.Do(ctx, call...)
	if err != nil && ctx.Err() == nil && c.db.life.Err() != nil {
		err = errors.Join(ErrClosed, err)
	}
	return Reply{value: resp.Upgrade(v), err: err}
}

// waiting returns a context for a blocking command that also ends when the database closes.
func (c *Conn) waiting(*commands.Command) (context.Context, func()) {
	ctx, cancel := context.WithCancel(c.ctx)
	stop := context.AfterFunc(c.db.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// arguments converts args to the strings that a client would send.
func arguments(args []any) ([][]byte, error) {
	if len(args) == 0 {
		return nil, errors.New("empty command")
	}
	call := make([][]byte, 0, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			call = append(call, []byte(v))
		case []byte:
			call = append(call, v)
		case []string:
			for _, s := range v {
				call = append(call, []byte(s))
			}
		case int:
			call = append(call, strconv.AppendInt(nil, int64(v), 10))
		case int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
			call = append(call, fmt.Append(nil, v))
		case float32:
			call = append(call, strconv.AppendFloat(nil, float64(v), 'g', -1, 32))
		case float64:
			call = append(call, strconv.AppendFloat(nil, v, 'g', -1, 64))
		case bool:
			call = append(call, map[bool][]byte{false: {'0'}, true: {'1'}}[v])
		case time.Duration:
			return nil, fmt.Errorf("argument %d is a time.Duration: pass seconds, or Milliseconds() with PX", i)
		default:
			return nil, fmt.Errorf("argument %d has the unsupported type %T: pass a string, []byte or number", i, arg)
		}
	}
	if len(call) == 1 {
		if name, rest, ok := bytes.Cut(call[0], []byte(" ")); ok {
			return nil, fmt.Errorf("%q is one argument: pass each word separately, as in %q, %q", call[0], name, rest)
		}
	}
	return call, nil
}
