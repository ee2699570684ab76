package server

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// Reads reports why the server can run no command that reads: nil when it can.
func (s *Server) Reads(ctx context.Context) error {
	session := s.config.Engine.Session()
	defer session.Release()
	v, err := session.Do(ctx, []byte("DBSIZE"))
	if err == nil && v.IsError() {
		err = errors.New(string(v.Str))
	}
	return err
}

// healthTime is how long a look at the health takes at most, and how long it holds: anybody may
// ask.
const healthTime = time.Second

// health is what the last look at the server found.
type health struct {
	mu   sync.Mutex
	at   time.Time
	says string
}

// look looks, unless it has just been done.
func (h *health) look(s *Server) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.says != "" && time.Since(h.at) < healthTime {
		return h.says
	}
	ctx, cancel := context.WithTimeout(context.Background(), healthTime)
	defer cancel()
	switch h.says = healthy; {
	case s.Reads(ctx) != nil:
		h.says = "the database cannot be read"
	case s.config.Writable != nil && s.config.Writable() != nil:
		h.says = "the database cannot be written"
	}
	h.at = time.Now()
	return h.says
}

const healthy = "ok"

// Health answers whether the server can do its work: 200 when it can read and write, 503
// when not. It tells nothing else, and wants no token.
func (s *Server) Health(w http.ResponseWriter, _ *http.Request) {
	says := s.health.look(s)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if says != healthy {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	w.Write([]byte(says + "\n"))
}
