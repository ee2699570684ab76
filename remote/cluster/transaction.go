package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/slot"
	"github.com/meowdis/meowdis/remote"
)

// transaction holds the state of MULTI and WATCH. A transaction is on one node: the one of its first key. Until a key
// names the node, commands are queued here.
type transaction struct {
	open     bool
	watching bool
	node     string // "" until a key names it
	slot     int    // of that key
	key      []byte
	queue    [][][]byte
	refused  bool // a command was refused here, so EXEC fails
}

func (t *transaction) takes(name string) bool {
	switch name {
	case "MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH":
		return true
	}
	return t.open
}

var (
	multi     = [][]byte{[]byte("MULTI")}
	exec      = [][]byte{[]byte("EXEC")}
	discard   = [][]byte{[]byte("DISCARD")}
	execAbort = resp.MakeError("EXECABORT Transaction discarded because of previous errors.")
	ok        = resp.MakeStatus("OK")
)

// transact runs a call of a transaction, or a whole transaction that the pipeline contains.
func (s *Session) transact(ctx context.Context, calls [][][]byte, replies []resp.Value) (n int, err error) {
	defer func() {
		if err != nil {
			s.tx = transaction{}
		}
	}()
	args := calls[0]
	name := strings.ToUpper(string(args[0]))
	if !s.tx.open && !s.tx.watching && name == "MULTI" && len(args) == 1 {
		if end := slices.IndexFunc(calls, func(c [][]byte) bool { return commands.Is(firstWord(c), "EXEC") }); end > 0 &&
			!slices.ContainsFunc(calls[1:end], func(c [][]byte) bool { return len(c) == 0 || s.endsTransaction(c) }) {
			return end + 1, s.whole(ctx, calls[:end+1], replies)
		}
	}
	replies[0], err = s.step(ctx, name, args)
	return 1, err
}

func firstWord(args [][]byte) []byte {
	if len(args) == 0 {
		return nil
	}
	return args[0]
}

// endsTransaction reports whether a queued call would not be queued.
func (s *Session) endsTransaction(args [][]byte) bool {
	switch strings.ToUpper(string(args[0])) {
	case "MULTI", "DISCARD", "WATCH", "RESET", "QUIT":
		return true
	}
	return false
}

// step runs one call of a transaction.
func (s *Session) step(ctx context.Context, name string, args [][]byte) (resp.Value, error) {
	t := &s.tx
	if !t.open {
		return s.outside(ctx, name, args)
	}
	if t.node == "" {
		return s.unplaced(ctx, name, args)
	}
	ends := name == "EXEC" || name == "DISCARD"
	call := args
	if t.refused && name == "EXEC" {
		call = discard
	}
	v, err := s.node(t.node).Do(ctx, call...)
	if err != nil {
		return v, err
	}
	s.last = t.node
	if t.refused && name == "EXEC" {
		v = execAbort
	}
	v = s.explainRedirect(v, args)
	if ends {
		*t = transaction{}
	}
	return v, nil
}

// outside runs MULTI, WATCH and the like while no transaction is open.
func (s *Session) outside(ctx context.Context, name string, args [][]byte) (resp.Value, error) {
	t := &s.tx
	if _, bad := commands.Find(args); bad.IsError() {
		return bad, nil
	}
	switch {
	case name == "MULTI" && !t.watching:
		*t = transaction{open: true}
		return ok, nil
	case name == "WATCH" && !t.watching:
		p := &part{args: args, keys: args[1:], slot: slot.Of(args[1])}
		if err := s.run(ctx, []*part{p}); err != nil {
			return resp.Value{}, err
		}
		if !p.reply.IsError() {
			*t = transaction{watching: true, node: p.from, slot: p.slot, key: args[1]}
		}
		return explainSlots(p.reply, p.keys), nil
	case !t.watching:
		return s.node(s.anyNode()).Do(ctx, args...)
	}
	v, err := s.node(t.node).Do(ctx, args...)
	if err == nil && !v.IsError() && name == "MULTI" {
		t.open = true
	} else if err == nil && name == "UNWATCH" {
		*t = transaction{}
	}
	return s.explainRedirect(v, args), err
}

// unplaced runs a call of a transaction before a key has named the node.
func (s *Session) unplaced(ctx context.Context, name string, args [][]byte) (resp.Value, error) {
	t := &s.tx
	switch name {
	case "DISCARD", "EXEC":
		queue, refused := t.queue, t.refused
		*t = transaction{}
		switch {
		case name == "DISCARD":
			return ok, nil
		case refused:
			return execAbort, nil
		}
		replies, err := s.node(s.anyNode()).Pipeline(ctx, slices.Concat([][][]byte{multi}, queue, [][][]byte{exec}))
		if err != nil {
			return resp.Value{}, err
		}
		return replies[len(replies)-1], nil
	case "MULTI":
		return resp.MakeError("ERR MULTI calls can not be nested"), nil
	case "WATCH":
		return resp.MakeError("ERR WATCH inside MULTI is not allowed"), nil
	}
	cmd := commands.Called(args)
	keys, err := s.keysOf(ctx, cmd, args)
	if err != nil {
		return resp.Value{}, err
	}
	if len(keys) == 0 {
		if _, bad := commands.Find(args); bad.IsError() {
			t.refused = true
			return bad, nil
		}
		t.queue = append(t.queue, args)
		return resp.Queued, nil
	}
	t.slot, t.key = slot.Of(keys[0]), keys[0]
	return s.place(ctx, args)
}

// place begins the transaction on the node of its first key, with the calls queued so far and args.
func (s *Session) place(ctx context.Context, args [][]byte) (resp.Value, error) {
	t := &s.tx
	p := &part{slot: t.slot}
	deadline := time.Now().Add(s.patience())
	for attempt := 1; ; attempt++ {
		at, calls := s.beginAt(p, slices.Concat([][][]byte{multi}, t.queue, [][][]byte{args}))
		replies, err := s.node(at).Pipeline(ctx, calls)
		var v verdict
		if err != nil {
			if !errors.Is(err, remote.ErrUnreachable) {
				return resp.Value{}, err
			}
			v, p.ask = verdict{stale: true, waits: true}, ""
		} else {
			s.last = at
			p.reply, p.from = replies[len(replies)-1], at
			if s.judgePart(p, &v); p.done {
				t.node = at
				return explainSlots(p.reply, s.keysIn(args)), nil
			}
			if _, derr := s.node(at).Do(ctx, discard...); derr != nil {
				return resp.Value{}, derr
			}
		}
		if time.Now().After(deadline) {
			*t = transaction{}
			return p.reply, err
		}
		if err := s.settle(ctx, v, attempt); err != nil {
			return resp.Value{}, err
		}
	}
}

// beginAt returns the node to begin a transaction on, and what to send to it: its calls, after ASKING if another node
// has named this one. ASKING counts until EXEC.
func (s *Session) beginAt(p *part, calls [][][]byte) (at string, sent [][][]byte) {
	if at = s.target(p); at == "" {
		at = s.anyNode()
	}
	if p.ask != "" {
		calls = append([][][]byte{asking}, calls...)
	}
	return at, calls
}

// settle prepares another attempt.
func (s *Session) settle(ctx context.Context, v verdict, attempt int) error {
	if v.stale {
		s.renew(ctx, v.owner)
	}
	if v.waits || attempt > 3 {
		return wait(ctx, attempt)
	}
	return context.Cause(ctx)
}

// keysIn returns the keys of a call of a known command.
func (s *Session) keysIn(args [][]byte) [][]byte {
	if cmd := commands.Called(args); cmd != nil {
		return cmd.KeyNames(args)
	}
	return nil
}

// whole runs a whole transaction, which is repeated on another node as long as it had no effect.
func (s *Session) whole(ctx context.Context, calls [][][]byte, replies []resp.Value) error {
	inner := calls[1 : len(calls)-1]
	p := &part{slot: -1, address: s.anyNode(), home: -1}
	keys, err := s.firstKeys(ctx, inner)
	if err != nil {
		return err
	}
	if len(keys) > 0 {
		p.slot, s.tx.slot, s.tx.key = slot.Of(keys[0]), slot.Of(keys[0]), keys[0]
	}
	defer func() { s.tx = transaction{} }()
	deadline := time.Now().Add(s.patience())
	for attempt := 1; ; attempt++ {
		at, sent := s.beginAt(p, calls)
		got, err := s.node(at).Pipeline(ctx, sent)
		var v verdict
		if err != nil {
			if ctx.Err() != nil || !errors.Is(err, remote.ErrUnreachable) && !remote.Repeatable(inner) || time.Now().After(deadline) {
				return err
			}
			v = s.nodeLost(ctx, p)
		} else {
			s.last = at
			copy(replies, got[len(got)-len(calls):])
			if s.ran(p, replies[:len(calls)], at, &v) || time.Now().After(deadline) {
				s.explainRedirects(replies, calls)
				return nil
			}
		}
		if err := s.settle(ctx, v, attempt); err != nil {
			return err
		}
	}
}

// firstKeys returns the keys of the first call that has keys.
func (s *Session) firstKeys(ctx context.Context, calls [][][]byte) ([][]byte, error) {
	for _, args := range calls {
		keys, err := s.keysOf(ctx, commands.Called(args), args)
		if err != nil || len(keys) > 0 {
			return keys, err
		}
	}
	return nil, nil
}

// nodeLost chooses another node for a transaction without keys whose node cannot be reached.
func (s *Session) nodeLost(ctx context.Context, p *part) verdict {
	p.ask = ""
	if p.slot < 0 {
		s.renew(ctx, "")
		s.replace([]*part{p})
	}
	return verdict{stale: true, waits: true}
}

// ran reports whether a transaction is over. Otherwise its node has discarded it, because the slot is elsewhere or is
// moving.
func (s *Session) ran(p *part, replies []resp.Value, at string, v *verdict) bool {
	p.ask = ""
	if !replies[len(replies)-1].IsError() {
		return true
	}
	for _, reply := range replies {
		to, redirected := s.readRedirect(reply, at)
		if redirected && to.slot != p.slot {
			continue // a key of another slot: no other node would take it
		}
		other := *p
		other.reply, other.from, other.done = reply, at, false
		if s.judgePart(&other, v); !other.done {
			p.ask = other.ask
			return false
		}
	}
	return true
}

func (s *Session) explainRedirects(replies []resp.Value, calls [][][]byte) {
	for i, args := range calls {
		replies[i] = s.explainRedirect(replies[i], args)
	}
}

// explainRedirect returns the reply for a key that is not on the transaction's node.
func (s *Session) explainRedirect(v resp.Value, args [][]byte) resp.Value {
	to, redirected := s.readRedirect(v, s.tx.node)
	keys := s.keysIn(args)
	switch {
	case !redirected:
		return explainSlots(v, keys)
	case to.slot == s.tx.slot:
		return resp.MakeError(fmt.Sprintf("TRYAGAIN slot %d has moved to another node during the transaction: begin it again", to.slot))
	}
	return explainSlots(resp.MakeError("CROSSSLOT Keys in transaction don't hash to the same slot"), append([][]byte{s.tx.key}, keys...))
}
