package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// Dump holds the data of one moment as an RDB file.
type Dump struct {
	io.ReadCloser
	Size int64
	// Changed reports whether data may have changed since.
	Changed func(context.Context) (bool, error)
}

// replConf runs REPLCONF option value …, which describes the replica. An acknowledgement gets no reply.
func (c *client) replConf(args [][]byte) resp.Value {
	if len(args)%2 == 0 {
		return syntaxError
	}
	for i := 1; i < len(args); i += 2 {
		value := args[i+1]
		switch name := strings.ToLower(string(args[i])); name {
		case "ack", "getack":
			if c.replyMode == repliesOn {
				c.replyMode = skipping
			}
			return resp.OK
		case "listening-port", "rdb-only":
			n, ok := commands.ParseInt(value)
			if !ok {
				return resp.MakeError("ERR value is not an integer or out of range")
			}
			if name == "rdb-only" {
				c.wantsDump = n == 1
			}
		case "ip-address", "capa":
		case "rdb-filter-only":
			if len(value) > 0 {
				return resp.MakeError("ERR Unsupported rdb-filter-only option: " + commands.Quote(value))
			}
		default:
			return resp.MakeError("ERR Unrecognized REPLCONF option: " + commands.Quote(args[i]))
		}
	}
	return resp.OK
}

var noDump = resp.MakeError("ERR this server has no dump for replicas")

// newlineInterval separates the newlines sent to a replica while its dump is made.
const newlineInterval = time.Second

// psync runs PSYNC replicationid offset. It sends all data, then only pings. After a write it closes the connection,
// so the replica requests all data again and never serves an old state as current.
func (c *client) psync(args [][]byte) resp.Value {
	if _, ok := commands.ParseInt(args[2]); !ok {
		return resp.MakeError("ERR value is not an integer or out of range")
	}
	return c.replicate("+FULLRESYNC " + c.server.replID.Load().(string) + " 0\r\n")
}

func (c *client) sync([][]byte) resp.Value { return c.replicate("") }

// replicate sends the greeting and serves a replica until the connection ends.
func (c *client) replicate(greeting string) resp.Value {
	if c.server.config.Dump == nil {
		return noDump
	}
	c.server.syncs.Add(1)
	c.server.replicas.Add(1)
	defer c.server.replicas.Add(-1)
	c.write(append(c.out, greeting...))
	c.out = c.out[:0]
	log := c.server.config.Logger.With("replica", c.net.RemoteAddr().String())
	switch err := c.feed(); {
	case err != nil && !errors.Is(err, errReplicaLeft):
		if p := (*store.Panic)(nil); errors.As(err, &p) {
			c.server.panicked(p)
		}
		log.Error("copying the data to a replica", "error", err)
	default:
		log.Info("a replica has received its copy")
	}
	c.closed = true
	if c.broken == nil {
		c.broken = errReplicaLeft // the connection belongs to a replica: send no reply
	}
	return resp.OK
}

var errReplicaLeft = errors.New("the replica left")

// feed sends the dump, then pings until it is out of date.
func (c *client) feed() error {
	dump, err := c.awaitDump(c.life)
	if err != nil {
		return err
	}
	defer dump.Close()
	c.write(fmt.Appendf(nil, "$%d\r\n", dump.Size))
	buf := make([]byte, writePiece)
	for left := dump.Size; left > 0; {
		n, err := dump.Read(buf[:min(left, int64(len(buf)))])
		if c.write(buf[:n]); c.broken != nil {
			return errReplicaLeft
		}
		if left -= int64(n); err != nil && left > 0 {
			return fmt.Errorf("reading the dump: %w", err)
		}
	}
	if c.wantsDump {
		return nil
	}
	return c.keepAlive(c.life, dump)
}

// awaitDump creates the dump and sends newlines until it is ready. One dump is made at a time.
func (c *client) awaitDump(ctx context.Context) (*Dump, error) {
	ctx, cancel := context.WithCancel(ctx)
	type made struct {
		dump *Dump
		err  error
	}
	done := make(chan made, 1)
	go func() {
		select {
		case c.server.dumping <- struct{}{}:
		case <-ctx.Done():
			done <- made{nil, errReplicaLeft}
			return
		}
		var m made
		m.err = store.Caught(func() (err error) {
			m.dump, err = c.server.config.Dump(ctx)
			return err
		})
		<-c.server.dumping
		done <- m
	}()
	tick := time.NewTicker(newlineInterval)
	defer tick.Stop()
	for {
		select {
		case m := <-done:
			cancel()
			return m.dump, m.err
		case <-tick.C:
		}
		if c.write([]byte("\n")); c.broken != nil {
			cancel()
			if m := <-done; m.dump != nil {
				m.dump.Close()
			}
			return nil, errReplicaLeft
		}
	}
}

// keepAlive pings the replica and ignores its input until the dump is out of date.
func (c *client) keepAlive(ctx context.Context, dump *Dump) error {
	left := make(chan struct{})
	go func() {
		defer close(left)
		c.server.guard(func() {
			for in := c.reader(); ; {
				if _, err := in.ReadCommand(); err != nil {
					return
				}
			}
		})
	}()
	defer func() {
		c.net.Close()
		<-left
	}()
	tick := time.NewTicker(c.server.config.PingEvery)
	defer tick.Stop()
	for c.broken == nil {
		select {
		case <-left:
			return errReplicaLeft
		case <-ctx.Done():
			return errReplicaLeft
		case <-tick.C:
		}
		if changed, err := dump.Changed(ctx); err != nil || changed {
			return err
		}
		c.write([]byte("*1\r\n$4\r\nping\r\n"))
	}
	return errReplicaLeft
}
