package server

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// debug runs the subcommands of DEBUG that concern the server.
func (s *Server) debug(cmd *commands.Command, args [][]byte) (v resp.Value, ok bool) {
	switch cmd.Name {
	case "DEBUG CHANGE-REPL-ID":
		s.replication.changeID()
	case "DEBUG LOG":
		s.config.Logger.Warn("DEBUG LOG", "message", string(args[2]))
	case "DEBUG SET-ACTIVE-EXPIRE":
		s.config.Engine.SetSweeping(string(args[2]) != "0")
	default:
		return resp.Value{}, false
	}
	return resp.OK, true
}

// digest runs DEBUG DIGEST. It reads a dump, and other clients continue. It ends with
// the connection.
func (c *client) digest(context.Context, [][]byte) resp.Value {
	if c.server.config.Dump == nil {
		return noDump
	}
	select {
	case c.server.dumping <- struct{}{}:
	case <-c.life.Done():
		return c.server.failure(c.life.Err())
	}
	defer func() { <-c.server.dumping }()
	dump, err := c.server.config.Dump(c.life, DumpOptions{Began: func() {}, Modules: true})
	if err != nil {
		return c.server.failure(err)
	}
	defer dump.Close()
	sum, err := rdb.FileDigest(whileRunning{c.life, dump})
	if err != nil {
		return c.server.failure(err)
	}
	return resp.MakeStatus(sum.String())
}

// whileRunning reads until ctx ends.
type whileRunning struct {
	ctx context.Context
	in  io.Reader
}

func (r whileRunning) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(b)
}

// digestValues runs DEBUG DIGEST-VALUE key ...
func (c *client) digestValues(ctx context.Context, args [][]byte) resp.Value {
	session := c.server.config.Engine.Session()
	session.Select(c.session.DB())
	sums := make([]resp.Value, 0, len(args)-2)
	for _, key := range args[2:] {
		replies, err := session.Pipeline(ctx, [][][]byte{{[]byte("DUMP"), key}, {[]byte("PEXPIRETIME"), key}})
		if err != nil {
			return c.server.failure(err)
		}
		var sum rdb.Digest
		switch payload := replies[0]; {
		case payload.IsError():
			return payload
		case !payload.IsNull():
			v, err := rdb.Restore(payload.Str, nil)
			if err != nil {
				return c.server.failure(err)
			}
			sum = rdb.ValueDigest(v, replies[1].Int >= 0)
		}
		sums = append(sums, resp.MakeStatus(sum.String()))
	}
	return resp.MakeArray(sums...)
}

// sleep runs DEBUG SLEEP, which blocks all clients. It ends when the server stops.
func (c *client) sleep(args [][]byte) resp.Value {
	seconds, err := strconv.ParseFloat(string(args[2]), 64)
	if err != nil {
		seconds = 0 // like C's strtod
	}
	d := time.Duration(seconds * float64(time.Second))
	defer c.server.config.Engine.Hold(d.Milliseconds())()
	c.server.config.Sleep(c.life.Done(), d)
	return resp.OK
}

// populate runs DEBUG POPULATE count [prefix [size]]. It sets strings in the selected database and keeps existing
// keys.
func (c *client) populate(ctx context.Context, args [][]byte) resp.Value {
	if len(args) > 5 {
		return commands.SubcommandSyntax(args)
	}
	count, bad := positive(args[2])
	if bad.IsError() {
		return bad
	}
	prefix, size := "key", int64(0)
	if len(args) > 3 {
		prefix = string(args[3])
	}
	if len(args) > 4 {
		if size, bad = positive(args[4]); bad.IsError() {
			return bad
		}
		if size > resp.MaxBulk {
			return resp.MakeError("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
		}
	}
	return c.setStrings(ctx, count, prefix, size)
}

// debugValue returns the value of the i-th string of DEBUG POPULATE. A size other than 0 truncates it or appends zero
// bytes.
func debugValue(i, size int64) []byte {
	value := []byte("value:" + strconv.FormatInt(i, 10))
	if size == 0 {
		return value
	}
	fixed := make([]byte, size)
	copy(fixed, value)
	return fixed
}

// setStrings sets count missing keys to strings, in several pipelines.
func (c *client) setStrings(ctx context.Context, count int64, prefix string, size int64) resp.Value {
	session := c.server.config.Engine.Session()
	session.Select(c.session.DB())
	some := max(min(1000, (1<<20)/max(size, 1)), 1) // about 1 MiB at a time
	for i := int64(0); i < count; {
		var calls [][][]byte
		for ; i < count && int64(len(calls)) < some; i++ {
			calls = append(calls, [][]byte{[]byte("SET"), fmt.Appendf(nil, "%s:%d", prefix, i), debugValue(i, size), []byte("NX")})
		}
		replies, err := session.Pipeline(ctx, calls)
		if err != nil {
			return c.server.failure(err)
		}
		for _, v := range replies {
			if v.IsError() {
				return v
			}
		}
		if ctx.Err() != nil || c.life.Err() != nil {
			break
		}
	}
	return resp.OK
}

func positive(arg []byte) (n int64, bad resp.Value) {
	n, ok := commands.ParseInt(arg)
	if !ok || n < 0 {
		return 0, resp.MakeError("ERR value is out of range, must be positive")
	}
	return n, bad
}
