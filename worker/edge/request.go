//go:build wasip1

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"unsafe"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server/rest"
	"github.com/meowdis/meowdis/store"
)

// maxRequestMemory limits the rows and replies of one request, in bytes.
const maxRequestMemory = 32 << 20

// reader has the permissions of the read-only token.
var reader = func() *acl.User {
	users := acl.New()
	users.Set(acl.Reader, acl.ReaderRules)
	return users.Find(acl.Reader)
}()

// request holds a decoded request. A length precedes each field of its encoding, except the body.
type request struct {
	readOnly            bool // sent with the read-only token
	method, path, query string
	headers             map[string]string
	body                []byte
}

func readRequest(b []byte) request {
	next := func() string {
		n := binary.LittleEndian.Uint32(b)
		field := b[4 : 4+n]
		b = b[4+n:]
		return string(field)
	}
	q := request{readOnly: next() == "read", method: next(), path: next(), query: next(), headers: map[string]string{}}
	for line := range strings.SplitSeq(next(), "\n") {
		if name, value, is := strings.Cut(line, ": "); is {
			q.headers[name] = value
		}
	}
	q.body = b
	return q
}

// handle runs the request in the inbox on the object with that number. It returns 1 if the response is a stream, which
// gets the number stream.
//
//go:wasmexport handle
func handle(number, stream int32) (streaming int32) {
	defer guard(func() {
		respond(rest.Single(500, panicked), nil)
		streaming = 0
	})
	q := readRequest(inbox)
	inbox = nil
	beginWork()
	o, err := objectFor(number)
	if err != nil {
		respond(rest.Single(500, failed(err, 0)), nil)
		return 0
	}
	defer o.flush()
	if kind, is := rest.Events(q.path); is {
		return o.listen(q, kind, stream)
	}
	var headers []byte
	s := o.engine.Session()
	if q.readOnly {
		s.SetGuard(guardReader)
	}
	s.NeverWait()
	s.SetRESP2(true)
	s.Bound(store.NewBudget(memory, maxRequestMemory, 0).NoFlag())
	defer s.Release()
	call := rest.Call{
		Method: q.method, Path: q.path, Query: q.query,
		Header:  func(name string) string { return q.headers[strings.ToLower(name)] },
		Body:    func() ([]byte, error) { return q.body, nil },
		Context: context.Background(), Session: s, Failed: failed,
	}
	a := call.Answer(func(name, value string) { headers = append(headers, name+": "+value+"\n"...) })
	respond(a, headers)
	return 0
}

// listen starts a stream of events.
func (o *object) listen(q request, kind pubsub.Kind, stream int32) int32 {
	args, err := rest.PathCommand(q.path, q.query, nil)
	if err != nil {
		respond(rest.BadRequest(err), nil)
		return 0
	}
	cmd, bad := commands.Find(args)
	if cmd != nil && q.readOnly {
		bad, _ = guardReader(cmd, args, engine.Calling, nil)
	}
	if bad.IsError() {
		respond(rest.Single(400, bad), nil)
		return 0
	}
	queue := pubsub.NewQueue()
	o.engine.Hub().Follow(queue, kind, args[1:])
	o.streams[stream] = queue
	return 1
}

// guardReader checks a call against the permissions of a read-only token.
func guardReader(cmd *commands.Command, args [][]byte, at engine.Moment, step func(int)) (v resp.Value, refused bool) {
	d := reader.CheckCounted(cmd, args, step)
	if d.Reason == acl.Allowed {
		return v, false
	}
	why := commands.OneLine(reader.DenialText(d, cmd, args, false))
	if at == engine.InScript {
		return resp.MakeError("ERR ACL failure in script: " + why), true
	}
	return resp.MakeError("NOPERM " + why), true
}

// failed returns the reply for a failed database. SQL is only logged.
func failed(err error, _ int) resp.Value {
	println("meowdis: the database failed:", err.Error())
	why := failure("see the Worker's log")
	errors.As(err, &why)
	return resp.MakeError("ERR the database failed: " + commands.OneLine(why.Error()))
}

// respond sends an answer.
func respond(a rest.Answer, headers []byte) {
	hostHead(int32(a.Status), string(headers)+"content-type: "+a.ContentType())
	piece := func(b []byte) { hostBody(unsafe.Pointer(unsafe.SliceData(b)), int32(len(b))) }
	piece(a.Body(piece))
}

// events encodes messages for a stream, in pieces.
func events(all []resp.Value) (pieces [][]byte) {
	var out []byte
	for _, v := range all {
		if out = rest.AppendEvent(out, v); len(out) >= resp.Piece {
			pieces, out = append(pieces, out), nil
		}
	}
	if len(out) > 0 {
		pieces = append(pieces, out)
	}
	return pieces
}
