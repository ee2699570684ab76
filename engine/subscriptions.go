package engine

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/engine/metrics"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// WithHub sets the hub for the engine's messages. Without it the engine makes its own.
func WithHub(h *pubsub.Hub) Option { return func(e *Engine) { e.hub = h } }

// Hub returns the hub that carries the engine's messages.
func (e *Engine) Hub() *pubsub.Hub { return e.hub }

func (s *Session) publish(_ context.Context, c call) (resp.Value, error) {
	return resp.MakeInt(s.engine.hub.PublishCounted(pubsub.Channel, c.args[1], c.args[2], s.work.Step)), nil
}

func (s *Session) publishShard(_ context.Context, c call) (resp.Value, error) {
	return resp.MakeInt(s.engine.hub.Publish(pubsub.Shard, c.args[1], c.args[2])), nil
}

// listeners runs the subcommands of PUBSUB.
func (s *Session) listeners(_ context.Context, c call) (resp.Value, error) {
	_, sub, _ := strings.Cut(c.cmd.Name, " ")
	v, ok := s.engine.hub.Info(sub, c.args, s.work.Step)
	if !ok {
		return commands.SubcommandSyntax(c.args), nil
	}
	return v, nil
}

// publishAll ends an EXEC whose writes are committed: it sends the messages of its scripts, and runs the
// commands in after, which EXEC has postponed.
func (s *Session) publishAll(ctx context.Context, queue []call, calls []planned, after []int, replies []resp.Value) (err error) {
	for i, q := range queue {
		if q.cmd == nil {
			continue
		}
		s.show(q, s.shownIn(calls[i]))
		if e := calls[i].eval; e != nil {
			e.release()
		}
		if len(after) == 0 || after[0] != i {
			continue
		}
		after = after[1:]
		if !translator.Translates(q.cmd) {
			began := time.Now()
			if replies[i], err = ownCommand(q.cmd.Name).run(s, ctx, q); err != nil {
				return err
			}
			s.ran(q, time.Since(began), &replies[i])
		} else if v, refused := s.Refused(q.cmd, q.args, Exec); refused {
			replies[i] = v
		}
	}
	return nil
}

// shownIn returns the database that MONITOR shows for a call of a transaction.
func (s *Session) shownIn(p planned) int {
	if p.cmd != nil || p.eval != nil {
		return p.db
	}
	return s.db
}

// runOwn runs a command that acts on the session, and shows it to MONITOR. A panic is an error.
func (s *Session) runOwn(ctx context.Context, own sessionCommand, c call) (v resp.Value, err error) {
	defer store.Catch(&err)
	if c.cmd.Flags&commands.SkipMonitor != 0 { // MONITOR shows a script before its commands
		s.show(c, s.db)
		return own.run(s, ctx, c)
	}
	v, err = own.run(s, ctx, c)
	s.show(c, s.db)
	return v, err
}

// show sends a call to the clients of MONITOR.
func (s *Session) show(c call, db int) {
	if s.engine.hub.Watched() && c.cmd.Flags&commands.Admin == 0 {
		from := ""
		if s.who != nil {
			from, _ = s.who()
		}
		s.engine.hub.Show(shownLine(c, db, from))
	}
}

// shownLine returns a line of MONITOR. Its name for a unix socket differs from CLIENT LIST's, as in Redis.
func shownLine(c call, db int, from string) []byte {
	if path, ok := strings.CutSuffix(from, ":0"); ok && strings.HasPrefix(path, "/") {
		from = "unix:" + path
	}
	now := time.Now()
	line := strconv.AppendInt(nil, now.Unix(), 10)
	micros := strconv.Itoa(1_000_000 + now.Nanosecond()/1000)
	line = append(append(line, '.'), micros[1:]...)
	line = append(strconv.AppendInt(append(line, " ["...), int64(db), 10), ' ')
	line = append(append(line, from...), ']')
	for _, arg := range metrics.Redacted(c.cmd, c.args) {
		line = resp.AppendQuoted(append(line, ' '), arg, false)
	}
	return line
}

// deferredOutput holds the messages and MONITOR lines of a script until its writes are committed.
type deferredOutput struct {
	lines    [][]byte // MONITOR lines
	messages []message
	size     int
}

type message struct {
	kind             pubsub.Kind
	channel, payload []byte
}

// maxDeferred limits the bytes of messages and lines that are kept until a script ends.
const maxDeferred = 64 << 20

// publish runs PUBLISH or SPUBLISH in a script. The reply is the current number of receivers.
func (e *evaluation) publish(kind pubsub.Kind, args [][]byte) resp.Value {
	if e.deferred.size += 2*store.CellBytes + len(args[1]) + len(args[2]); e.deferred.size > maxDeferred {
		return resp.MakeError("ERR a script may publish at most 64 MB")
	}
	e.deferred.messages = append(e.deferred.messages, message{kind, args[1], args[2]})
	return resp.MakeInt(e.session.engine.hub.Receivers(kind, args[1]))
}

// show keeps a MONITOR line for a command of the script.
func (e *evaluation) show(c call, db int) {
	if !e.session.engine.hub.Watched() || c.cmd.Flags&commands.Admin != 0 {
		return
	}
	line := shownLine(c, db, "lua")
	if e.deferred.size += len(line); e.deferred.size > maxDeferred {
		return
	}
	e.deferred.lines = append(e.deferred.lines, line)
}

// release sends the script's lines and messages.
func (e *evaluation) release() {
	hub := e.session.engine.hub
	for _, line := range e.deferred.lines {
		hub.Show(line)
	}
	for _, m := range e.deferred.messages {
		hub.Publish(m.kind, m.channel, m.payload)
	}
	e.deferred = deferredOutput{}
}
