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

// maxRequestMemory is what one request may hold of rows and replies.
const maxRequestMemory = 32 << 20

// reader is the user of a read-only token.
var reader = func() *acl.User {
	users := acl.New()
	users.Set(acl.Reader, acl.ReaderRules)
	return users.Find(acl.Reader)
}()

// request is one on its way, in fields that follow their lengths.
type request struct {
	reads               bool // it may only read
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
	q := request{reads: next() == "read", method: next(), path: next(), query: next(), headers: map[string]string{}}
	for line := range strings.SplitSeq(next(), "\n") {
		if name, value, is := strings.Cut(line, ": "); is {
			q.headers[name] = value
		}
	}
	q.body = b
	return q
}

// handle answers the request in the inbox, of the object with that number. It returns 1 when the response
// is a stream, which has the number stream.
//
//go:wasmexport handle
func handle(number, stream int32) int32 {
	q := readRequest(inbox)
	inbox = nil
	beginWork()
	o, err := known(number)
	if err != nil {
		respond(rest.One(500, failed(err, 0)), nil)
		return 0
	}
	defer o.flush()
	if kind, is := rest.Events(q.path); is {
		return o.listen(q, kind, stream)
	}
	var headers []byte
	s := o.engine.Session()
	if q.reads {
		s.SetGuard(guardReader)
	}
	s.NeverWait()
	s.Bound(store.NewBudget(memory, maxRequestMemory, 0))
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

// listen begins a stream of events.
func (o *object) listen(q request, kind pubsub.Kind, stream int32) int32 {
	args, err := rest.PathCommand(q.path, q.query, nil)
	if err != nil {
		respond(rest.Bad(err), nil)
		return 0
	}
	cmd, bad := commands.Find(args)
	if cmd != nil && q.reads {
		bad, _ = guardReader(cmd, args, engine.Calling)
	}
	if bad.IsError() {
		respond(rest.One(400, bad), nil)
		return 0
	}
	queue := pubsub.NewQueue()
	o.engine.Hub().Follow(queue, kind, args[1:])
	o.streams[stream] = queue
	return 1
}

// guardReader checks a call by the rights of a read-only token.
func guardReader(cmd *commands.Command, args [][]byte, at engine.Moment) (v resp.Value, refused bool) {
	d := reader.Check(cmd, args)
	if d.Reason == acl.Allowed {
		return v, false
	}
	why := commands.OneLine(reader.Why(d, cmd, args, false))
	if at == engine.InScript {
		return resp.MakeError("ERR ACL failure in script: " + why), true
	}
	return resp.MakeError("NOPERM " + why), true
}

// failed is the reply when the database failed. SQL is for the log.
func failed(err error, _ int) resp.Value {
	println("meowdis: the database failed:", err.Error())
	why := failure("the Worker's log says more")
	errors.As(err, &why)
	return resp.MakeError("ERR the database failed: " + commands.OneLine(why.Error()))
}

// respond hands an answer over.
func respond(a rest.Answer, headers []byte) {
	hostHead(int32(a.Status), string(headers)+"content-type: "+a.ContentType())
	piece := func(b []byte) { hostBody(unsafe.Pointer(unsafe.SliceData(b)), int32(len(b))) }
	piece(a.Body(piece))
}

// events are messages as they go to a stream, in pieces.
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
