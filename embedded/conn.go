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

// Do runs one command in database 0. Arguments are strings, []byte, integers, floats and bools,
// which are 1 and 0; a []string is an argument for each. An error reply is an error of the Reply;
// other errors mean that the database failed or ctx ended, and then it is unknown whether the
// command took effect. A command of a connection (SELECT, MULTI, WATCH) needs a Conn, and one that
// subscribes a client with Dialer. The rules of ACL SETUSER are for clients, not for Do.
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

// Conn is a client of its own, with a selected database, a transaction (MULTI) and watched keys. It
// is for one goroutine at a time, and need not be closed.
type Conn struct {
	db      *DB
	session *engine.Session
	ctx     context.Context // of what runs
}

// Conn returns a new one, in database 0.
func (db *DB) Conn() *Conn {
	c := &Conn{db: db, session: db.server.Session(who)}
	c.session.SetWaiting(c.waiting)
	return c
}

// Do runs one command, as that of DB does.
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

// waiting is around a wait, which ends with the database, too.
func (c *Conn) waiting(*commands.Command) (context.Context, func()) {
	ctx, cancel := context.WithCancel(c.ctx)
	stop := context.AfterFunc(c.db.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// arguments are what clients send for args.
func arguments(args []any) ([][]byte, error) {
	if len(args) == 0 {
		return nil, errors.New("there is no command")
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
			return nil, fmt.Errorf("argument %d is a time.Duration: give its Milliseconds() with PX and the like, or seconds", i)
		default:
			return nil, fmt.Errorf("argument %d is a %T, which has no form in Redis: make it a string, a []byte or a number", i, arg)
		}
	}
	if len(call) == 1 {
		if name, rest, ok := bytes.Cut(call[0], []byte(" ")); ok {
			return nil, fmt.Errorf("%q is one argument: give each by itself, as in %q, %q", call[0], name, rest)
		}
	}
	return call, nil
}
