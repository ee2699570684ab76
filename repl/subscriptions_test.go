package repl

import (
	"context"
	"io"
	"testing"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestSubscriptions types commands while messages arrive.
func TestSubscriptions(t *testing.T) {
	listen := func(ctx context.Context, args [][]byte, each func(resp.Value) error) error {
		if string(args[1]) == "broken" {
			return io.ErrUnexpectedEOF
		}
		if err := each(resp.MakeArray(resp.MakeString("subscribe"), resp.MakeBulk(args[1]), resp.MakeInt(1))); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	o := Options{Target: Target{Session: newSession(t), Listen: listen}}
	out, errs := typedInto(t, o, "UNSUBSCRIBE\rSUBSCRIBE news\rPING\rSUBSCRIBE a b\rPSUBSCRIBE x*\rUNSUBSCRIBE a\rUNSUBSCRIBE nope\rUNSUBSCRIBE a b\rPING\r\x03PING\rSUBSCRIBE broken\rPING\rUNSUBSCRIBE\r")
	mustShow(t, out, "db> UNSUBSCRIBE", "db> SUBSCRIBE news", "1) \"subscribe\"\n2) \"news\"\n", "db(SUB 1)> PING", "PONG", `2) "a"`, "db(SUB 2)> ", "db(SUB 3)> UNSUBSCRIBE a",
		"db(SUB 3)> UNSUBSCRIBE a b", "db(SUB 2)> PING", "PONG", "^C", "db> PING", "db> SUBSCRIBE broken", "PING", "UNSUBSCRIBE")
	mustShow(t, out, "Error: unexpected EOF") // while the next command is typed, or before
	mustShow(t, errs, "messages appear here", "a was subscribed together with b: end them together, with UNSUBSCRIBE a b", "not subscribed to nope", "unsubscribed from a b", "unsubscribed from news x*")
}

// TestPushes shows messages that come with a reply.
func TestPushes(t *testing.T) {
	var push func(resp.Value)
	s := pushing{newSession(t), func() { push(resp.MakeArray(resp.MakeString("invalidate"), resp.MakeArray(resp.MakeString("k\n")))) }}
	o := Options{Target: Target{Session: s, OnPush: func(receive func(resp.Value)) { push = receive }}}
	_, errs := typedInto(t, o, "PING\r:set pushes off\rPING\r")
	if errs != "-> invalidate: 1) \"k\\n\"\n" {
		t.Errorf("%q", errs)
	}
}

// pushing is a session that calls push before each reply.
type pushing struct {
	keyspace.Session
	push func()
}

func (p pushing) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	p.push()
	return p.Session.Do(ctx, args...)
}
