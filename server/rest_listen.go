package server

import (
	"context"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server/rest"
)

// stream holds a reply of server-sent events, one per message.
type stream struct {
	queue *pubsub.Queue
	user  *acl.User
	end   context.CancelFunc
}

// servingKey finds a context in a request's context. It ends when the server stops.
type servingKey struct{}

// events serves a request for events and reports whether it was one. It returns when the server stops, or when the
// client leaves, stops reading or loses its permission.
func (q *request) events(w http.ResponseWriter) bool {
	kind, is := rest.Events(q.http.URL.EscapedPath())
	if !is {
		return false
	}
	s := q.server
	args, err := rest.PathCommand(q.http.URL.EscapedPath(), q.http.URL.RawQuery, nil)
	// The body is ignored, but net/http notices a disconnect only at the end of the body.
	if _, unread := io.Copy(io.Discard, http.MaxBytesReader(w, q.http.Body, maxHeader)); err == nil {
		err = unread
	}
	if err != nil {
		s.send(w, rest.BadRequest(err))
		return true
	}
	cmd, bad := commands.Find(args)
	if cmd == nil {
		s.send(w, rest.Single(http.StatusBadRequest, bad))
		return true
	}
	if v, refused := q.guard(cmd, args, engine.Calling, nil); refused {
		s.send(w, rest.Single(http.StatusBadRequest, v))
		return true
	}
	ctx, cancel := context.WithCancel(q.http.Context())
	defer cancel()
	if serving, ok := ctx.Value(servingKey{}).(context.Context); ok {
		defer context.AfterFunc(serving, cancel)()
	}
	st := &stream{queue: pubsub.NewQueue(), user: q.user.Load(), end: cancel}
	defer s.hub.Leave(st.queue)
	defer s.addStream(st)()
	s.join(kind)
	s.hub.Follow(st.queue, kind, args[1:])
	if !st.may(s.hub) { // the permissions may have changed before addStream
		cancel()
	}
	s.follow(ctx, w, st)
	return true
}

// follow sends the messages of a stream.
func (s *Server) follow(ctx context.Context, w http.ResponseWriter, st *stream) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // disables buffering in nginx
	wire := http.NewResponseController(w)
	_ = wire.SetReadDeadline(time.Time{})
	w.WriteHeader(http.StatusOK)
	if wire.Flush() != nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-st.queue.Ready():
		}
		all, err := st.queue.Next()
		if err != nil {
			return
		}
		var out []byte
		for i, v := range all {
			if out = rest.AppendEvent(out, v); len(out) < resp.Piece && i < len(all)-1 {
				continue
			}
			_ = wire.SetWriteDeadline(time.Now().Add(s.config.WriteTimeout))
			if _, err := w.Write(out); err != nil {
				return
			}
			out = out[:0]
		}
		if wire.Flush() != nil {
			return
		}
	}
}

// addStream registers a stream. The returned func removes it.
func (s *Server) addStream(st *stream) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[st] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.streams, st)
	}
}

// may reports whether the user of a stream may still receive it.
func (st *stream) may(hub *pubsub.Hub) bool { return maySubscribe(st.user, hub, st.queue) }

// endStreams ends the selected streams.
func (s *Server) endStreams(which func(*stream) bool) {
	s.mu.Lock()
	var all []*stream
	for st := range s.streams {
		all = append(all, st)
	}
	s.mu.Unlock()
	for _, st := range all {
		if which(st) {
			st.end()
		}
	}
}

// endUserStreams ends the streams of deleted users.
func (s *Server) endUserStreams(gone []*acl.User) {
	s.endStreams(func(st *stream) bool { return slices.Contains(gone, st.user) })
}
