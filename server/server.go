package server

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/engine"
)

// Config says what a server offers, and to whom.
type Config struct {
	Engine *engine.Engine
	// Token guards REST. Without one every request is refused.
	Token string
	// RequirePass is the password that RESP clients must give, until CONFIG SET
	// changes it. Without one only clients on the loopback interface are served.
	RequirePass string
	// MaxRequest bounds the body of a REST request, in bytes; 0 is 64 MiB.
	MaxRequest int64
	// MaxClients bounds the RESP connections; 0 is 10,000.
	MaxClients int
	// Grace is what a stopping server gives its clients to send what they have
	// begun and to take their last replies; 0 is 5 seconds.
	Grace time.Duration
	// Logger hears of failures that no client can do anything about; nil is
	// silence.
	Logger *slog.Logger
}

// Server is safe for concurrent use.
type Server struct {
	config Config
	runID  string // different for each server, in hex
	since  time.Time

	lastID   atomic.Int64  // of a connection
	requests atomic.Uint64 // over REST
	commands atomic.Uint64 // carried out, refused ones included

	mu      sync.Mutex
	clients map[int64]*client
	params  map[string]string
}

// New makes a server.
func New(c Config) *Server {
	c.MaxRequest = cmp.Or(c.MaxRequest, 64<<20)
	c.MaxClients = cmp.Or(c.MaxClients, 10_000)
	c.Grace = cmp.Or(c.Grace, 5*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	id := make([]byte, 20)
	rand.Read(id)
	s := &Server{
		config: c, runID: hex.EncodeToString(id), since: time.Now(),
		clients: map[int64]*client{}, params: parameters(c),
	}
	if c.Engine != nil {
		c.Engine.SetFacts(s.facts)
	}
	return s
}

// password is what RESP clients must give, "" for nothing.
func (s *Server) password() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.params["requirepass"]
}

// add registers a client, unless there are too many.
func (s *Server) add(c *client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clients) >= s.config.MaxClients {
		return false
	}
	s.clients[c.id] = c
	return true
}

func (s *Server) remove(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, c.id)
}

// all lists the clients in the order of their arrival.
func (s *Server) all() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.clients), func(a, b *client) int { return cmp.Compare(a.id, b.id) })
}

// sameSecret compares in a time that tells nothing of either.
func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
