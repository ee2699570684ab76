package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// Dump holds the data of one moment as an RDB file.
type Dump struct {
	io.ReadCloser
	Size    int64
	Skipped int // keys that it lacks
}

// DumpOptions are the options of Config.Dump.
type DumpOptions struct {
	// Began is called once the moment of the dump is fixed, while no transaction of the store is open.
	Began func()
	// Modules includes values of modules, which a Redis server without them cannot load.
	Modules bool
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
			switch {
			case !ok:
				return resp.MakeError("ERR value is not an integer or out of range")
			case name == "rdb-only":
				c.wantsDump = n == 1
			default:
				c.replicaPort = n
			}
		case "ip-address":
			if len(value) > maxAddress {
				return resp.MakeError("ERR REPLCONF ip-address provided by replica instance is too long: " + strconv.Itoa(len(value)) + " bytes")
			}
			c.replicaIP = sanitized(string(value))
		case "capa":
			c.replicaEOF = c.replicaEOF || commands.Is(value, "EOF")
			c.replicaPSYNC2 = c.replicaPSYNC2 || commands.Is(value, "PSYNC2")
			c.replicaModules = c.replicaModules || commands.Is(value, "MEOWDIS-MODULES")
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

// maxAddress limits the address that a replica announces.
const maxAddress = 256

// sanitized returns an address without characters that would change a line of INFO.
func sanitized(address string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == ',' || r == '=' || r > '~' {
			return '?'
		}
		return r
	}, address)
}

var (
	noDump = resp.MakeError("ERR this server has no dump for replicas")
	isCopy = resp.MakeError("ERR this server is a copy: replicas follow the server that writes")
)

// newlineInterval separates the newlines sent to a replica while its dump is made.
const newlineInterval = time.Second

// psync runs PSYNC replicationid offset: the replica continues where it was, or gets all data.
func (c *client) psync(args [][]byte) resp.Value {
	next, ok := commands.ParseInt(args[2])
	if !ok {
		return resp.MakeError("ERR value is not an integer or out of range")
	}
	return c.replicate(func(r *replica) error {
		log := c.server.replication
		if id, ok := log.resume(r, string(args[1]), next); ok {
			log.partial.Add(1)
			if !r.partialsOK {
				id = ""
			}
			c.write([]byte(strings.TrimRight("+CONTINUE "+id, " ") + "\r\n"))
			return c.stream(r)
		}
		if string(args[1]) != "?" {
			log.partialFailed.Add(1)
		}
		return c.fullSync(r, true)
	})
}

func (c *client) sync([][]byte) resp.Value {
	return c.replicate(func(r *replica) error { return c.fullSync(r, false) })
}

// replicate runs serve for a replica until its connection ends.
func (c *client) replicate(serve func(*replica) error) resp.Value {
	switch {
	case c.server.config.Dump == nil:
		return noDump
	case !c.wantsDump && c.server.isCopy():
		return isCopy
	}
	c.write(c.out)
	c.out = c.out[:0]
	r := c.newReplica()
	c.isReplica.Store(true)
	c.classify()
	err := serve(r)
	c.server.replication.leave(r)
	switch log := r.logger(); {
	case err != nil && !errors.Is(err, errReplicaLeft):
		if p := (*store.Panic)(nil); errors.As(err, &p) {
			c.server.panicked(p)
		}
		log.Error("copying the data to a replica", "error", err)
	case r.isCut():
		log.Warn("disconnected a replica: it was too slow, or another process has written")
	default:
		log.Info("a replica has left")
	}
	c.closed = true
	if c.broken == nil {
		c.broken = errReplicaLeft // the connection belongs to a replica: send no reply
	}
	return resp.OK
}

var errReplicaLeft = errors.New("the replica left")

// fullSync sends all data, and then the effects after it.
func (c *client) fullSync(r *replica, greets bool) error {
	c.server.syncs.Add(1)
	log := c.server.replication
	began := make(chan string, 1)
	o := DumpOptions{Modules: c.wantsDump || r.modules, Began: func() {
		id, offset := log.position()
		if !c.wantsDump {
			id, offset = log.attach(r)
		}
		if greets {
			began <- fmt.Sprintf("+FULLRESYNC %s %d\r\n", id, offset)
		}
	}}
	if !c.wantsDump {
		log.activate()
	}
	dump, err := c.awaitDump(c.life, o, began)
	if err != nil {
		return err
	}
	if arrays := 0; !c.wantsDump {
		if r.modules {
			arrays = dump.Skipped
		}
		log.noteSkipped(dump.Skipped, arrays)
	}
	err = c.sendDump(r, dump)
	if err = errors.Join(err, dump.Close()); err != nil || c.wantsDump {
		return err
	}
	return c.stream(r)
}

// sendDump sends the dump: with its length, or between marks to a replica that accepts them.
func (c *client) sendDump(r *replica, dump *Dump) error {
	mark := ""
	if r.marked = r.eof; r.marked {
		mark = randomID()
		c.write([]byte("$EOF:" + mark + "\r\n"))
	} else {
		c.write(fmt.Appendf(nil, "$%d\r\n", dump.Size))
	}
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
	c.write([]byte(mark))
	return nil
}

// awaitDump creates the dump. It sends the greeting once the dump has begun, and newlines until it is ready. One dump is
// made at a time.
func (c *client) awaitDump(ctx context.Context, o DumpOptions, began <-chan string) (*Dump, error) {
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
			m.dump, err = c.server.config.Dump(ctx, o)
			return err
		})
		<-c.server.dumping
		done <- m
	}()
	tick := time.NewTicker(newlineInterval)
	defer tick.Stop()
	for {
		text := "\n"
		select {
		case m := <-done:
			cancel()
			select {
			case text = <-began:
				c.write([]byte(text))
			default:
			}
			return m.dump, m.err
		case text = <-began:
		case <-tick.C:
		}
		if c.write([]byte(text)); c.broken != nil {
			cancel()
			if m := <-done; m.dump != nil {
				m.dump.Close()
			}
			return nil, errReplicaLeft
		}
	}
}

// stream sends the log from the replica's position, and reads its acknowledgements.
func (c *client) stream(r *replica) error {
	left, started := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(started) })
	if !r.marked {
		first()
	}
	go func() {
		defer close(left)
		c.server.guard(func() {
			for in := c.reader(); ; {
				args, err := in.ReadCommand()
				if err != nil {
					return
				}
				if c.acknowledged(r, args) {
					first()
				}
			}
		})
	}()
	defer func() {
		c.net.Close()
		<-left
	}()
	select {
	case <-started: // a replica finds the mark only at the end of the received bytes
	case <-r.cut:
		return nil
	case <-left:
		return errReplicaLeft
	case <-c.life.Done():
		return errReplicaLeft
	}
	for c.broken == nil {
		b, grown := c.server.replication.next(r)
		if grown == nil {
			if r.isCut() {
				return nil
			}
			c.write(b)
			continue
		}
		select {
		case <-grown:
		case <-r.cut:
			return nil
		case <-left:
			return errReplicaLeft
		case <-c.life.Done():
			return errReplicaLeft
		}
	}
	return errReplicaLeft
}

// acknowledged reads REPLCONF ACK offset [FACK offset], and reports whether it is one.
func (c *client) acknowledged(r *replica, args [][]byte) bool {
	if len(args) < 3 || !commands.Is(args[0], "REPLCONF") || !commands.Is(args[1], "ACK") {
		return false
	}
	acked, ok := commands.ParseInt(args[2])
	if !ok {
		return false
	}
	fsynced := int64(0)
	if len(args) >= 5 && commands.Is(args[3], "FACK") {
		fsynced, _ = commands.ParseInt(args[4])
	}
	c.server.replication.acknowledge(r, acked, fsynced)
	return true
}
