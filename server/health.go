package server

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// Reads returns an error if the server cannot run a command that reads.
func (s *Server) Reads(ctx context.Context) error {
	session := s.config.Engine.Session()
	defer session.Release()
	v, err := session.Do(ctx, []byte("DBSIZE"))
	if err == nil && v.IsError() {
		err = errors.New(string(v.Str))
	}
	return err
}

// healthTTL limits a health check and caches its result, since requests need no token.
const healthTTL = time.Second

// health caches the result of the last check.
type health struct {
	mu     sync.Mutex
	at     time.Time
	result string
}

// check checks the server, unless the cached result is recent.
func (h *health) check(s *Server) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.result != "" && time.Since(h.at) < healthTTL {
		return h.result
	}
	ctx, cancel := context.WithTimeout(context.Background(), healthTTL)
	defer cancel()
	switch h.result = healthy; {
	case s.Reads(ctx) != nil:
		h.result = "the database cannot be read"
	case s.config.Writable != nil && s.config.Writable() != nil:
		h.result = "the database cannot be written"
	}
	h.at = time.Now()
	return h.result
}

const healthy = "ok"

// Health replies with 200 if the server can read and write, and 503 otherwise. It needs no token and reveals nothing
// else.
func (s *Server) Health(w http.ResponseWriter, _ *http.Request) {
	says := s.health.check(s)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if says != healthy {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	w.Write([]byte(says + "\n"))
}
