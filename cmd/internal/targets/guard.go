package targets

import (
	"context"
	"strings"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Guard is a session that refuses some calls before they are sent: Refuse returns the error reply. As in Redis, EXEC
// fails if a command of its transaction was refused.
type Guard struct {
	keyspace.Session
	Refuse func(ctx context.Context, args [][]byte) (reply resp.Value, refused bool)
	dirty  bool // a command of the open transaction was refused
}

// Plain returns a session without its guards.
func Plain(s keyspace.Session) keyspace.Session {
	for {
		g, ok := s.(*Guard)
		if !ok {
			return s
		}
		s = g.Session
	}
}

// Do runs one call.
func (g *Guard) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	replies, err := g.Pipeline(ctx, [][][]byte{args})
	if err != nil {
		return resp.Value{}, err
	}
	return replies[0], nil
}

// Pipeline runs calls, and continues after an error reply.
func (g *Guard) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	return g.run(ctx, calls, g.Session.Pipeline, false)
}

// PipelineUntilError runs calls up to the first error reply.
func (g *Guard) PipelineUntilError(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	return g.run(ctx, calls, g.Session.PipelineUntilError, true)
}

// run sends the calls that are not refused, in as few batches as possible.
func (g *Guard) run(ctx context.Context, calls [][][]byte, send func(context.Context, [][][]byte) ([]resp.Value, error), untilError bool) ([]resp.Value, error) {
	replies := make([]resp.Value, 0, len(calls))
	for len(calls) > 0 {
		var refusal resp.Value
		n, refused := 0, false
		for n < len(calls) && !refused {
			if refusal, refused = g.Refuse(ctx, calls[n]); !refused {
				n++
			}
			if g.dirty {
				break // each call may end the transaction
			}
		}
		got, err := g.send(ctx, calls[:n], send)
		replies = append(replies, got...)
		if err != nil || untilError && len(got) > 0 && got[len(got)-1].HasError() {
			return replies, err
		}
		calls = calls[n:]
		if refused {
			g.dirty = g.Session.InMulti()
			replies, calls = append(replies, refusal), calls[1:]
			if untilError {
				break
			}
		}
	}
	return replies, nil
}

func (g *Guard) send(ctx context.Context, calls [][][]byte, send func(context.Context, [][][]byte) ([]resp.Value, error)) ([]resp.Value, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	if g.dirty && strings.EqualFold(string(calls[0][0]), "EXEC") {
		g.dirty = false
		_, err := g.Session.Do(ctx, []byte("DISCARD"))
		return []resp.Value{resp.MakeError("EXECABORT Transaction discarded because of previous errors.")}, err
	}
	got, err := send(ctx, calls)
	g.dirty = g.dirty && g.Session.InMulti()
	return got, err
}

// ReadOnly implements --read-only: it refuses every command that may change data or server settings. It asks the
// server about commands that our tables do not know, such as a module's; server is nil for a file.
type ReadOnly struct {
	server    keyspace.Session
	readsOnly map[string]bool // by command: whether the server lists it as read-only
}

// Refuse implements Guard.Refuse.
func (r *ReadOnly) Refuse(ctx context.Context, args [][]byte) (resp.Value, bool) {
	if len(args) == 0 {
		_, bad := commands.Find(args)
		return bad, true
	}
	command := commands.Called(args)
	if command == nil {
		command = commands.Unsupported.Called(args)
	}
	switch {
	case command == nil && r.ask(ctx, args), command != nil && command.ChangesNothing():
		return resp.Value{}, false
	case command == nil:
		return resp.MakeError("READONLY " + display.Clipped(string(args[0])) + " is unknown and may write, and the target is read-only"), true
	}
	msg := "READONLY " + command.Name + " may write, and the target is read-only"
	if twin := commands.Lookup(command.Name + "_RO"); twin != nil {
		msg += "; " + twin.Name + " only reads"
	}
	return resp.MakeError(msg), true
}

// ask reports whether the server lists a command as read-only. It does not ask inside a transaction, which would
// queue the question.
func (r *ReadOnly) ask(ctx context.Context, args [][]byte) bool {
	if r.server == nil || r.server.InMulti() {
		return false
	}
	name := strings.ToLower(string(args[0]))
	if len(args) > 1 {
		name += "|" + strings.ToLower(string(args[1]))
	}
	reads, asked := r.readsOnly[name]
	if asked {
		return reads
	}
	info, err := r.server.Do(ctx, []byte("COMMAND"), []byte("INFO"), args[0])
	if err != nil {
		return false
	}
	cmd := commands.Learn(info, resp.Nil).Called(args)
	reads = cmd != nil && cmd.Flags&commands.ReadOnly != 0
	if r.readsOnly == nil {
		r.readsOnly = map[string]bool{}
	}
	r.readsOnly[name] = reads
	return reads
}
