package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/engine/metrics"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/server/tracking"
	"github.com/meowdis/meowdis/store"
)

// Config says what a server offers, and to whom.
type Config struct {
	Engine *engine.Engine
	// Storage is what ServeStorage offers.
	Storage Storage
	// Token guards REST. Without one every request is refused.
	Token string
	// ReadOnlyToken is that of the user default_ro, who may run commands that read, without KEYS
	// and SCAN, and whose password it is. Without one there is no such user.
	ReadOnlyToken string
	// Origins are those of web pages that may use REST in a browser, "*" for all.
	Origins []string
	// Gzip has long replies over REST compressed for clients that accept it.
	Gzip bool
	// RequirePass is the password that RESP clients must give, until CONFIG SET
	// changes it. Without one only clients on the loopback interface are served.
	RequirePass string
	// Cluster makes the server a cluster of one node, for clients that know nothing else.
	Cluster bool
	// ConfigFile is where CONFIG REWRITE writes the parameters, "" for nowhere.
	ConfigFile string
	// ACLFile is where users are kept: LoadUsers reads it and ACL SAVE writes it. Without
	// one users are gone when the server stops.
	ACLFile string
	// MaxRequest bounds the body of a REST request, in bytes; 0 is 64 MiB.
	MaxRequest int64
	// MaxRequestMemory is what one request may hold of rows and replies, in bytes; 0 is
	// 768 MiB.
	MaxRequestMemory int64
	// MaxMemory is what all requests together may hold; 0 is 2 GiB.
	MaxMemory int64
	// MaxData is how many bytes of the store data may take, until CONFIG SET maxmemory changes it; 0
	// is any number.
	MaxData int64
	// MaxClients bounds the connections over each protocol; 0 is 10,000. A tenth of
	// them may be strangers, who have not yet given the password or a token.
	MaxClients int
	// WriteTimeout is how long a client may take none of its reply; 0 is 30 seconds.
	WriteTimeout time.Duration
	// Grace is what a stopping server gives its clients to send what they have
	// begun and to take their last replies; 0 is 5 seconds.
	Grace time.Duration
	// TimeLimit is how long one command may take, or one EXEC, until CONFIG SET changes
	// it; 0 is for as long as it takes.
	TimeLimit time.Duration
	// Sleep waits, or until stop is closed; nil is the system's clock.
	Sleep func(stop <-chan struct{}, d time.Duration)
	// PublicMessage is what a client may read of a failure of the store, "" for nothing; nil
	// is nothing of any.
	PublicMessage func(error) string
	// Save makes what is committed survive a power cut, and copies it where that is wanted,
	// for SAVE, BGSAVE and SHUTDOWN SAVE; nil is that there is nothing to be done.
	Save func(context.Context) error
	// SavePath is where Save copies to, "" for nowhere.
	SavePath string
	// StoreFigures tells the metrics of the store; nil is that there is nothing to tell.
	StoreFigures func() StoreFigures
	// Stream tells how the stream of the file to another place is doing; nil is that there is none.
	Stream func() Stream
	// Following tells how the copy that is served is doing; nil is that it is no copy.
	Following func() Following
	// Dump makes a dump for a replica; nil refuses replicas.
	Dump func(context.Context) (*Dump, error)
	// PingEvery is how often a replica that has its dump gets a sign of life; 0 is 10 seconds.
	PingEvery time.Duration
	// Stop ends the contexts of ServeRESP and ServeREST, for SHUTDOWN; nil refuses that.
	Stop func()
	// Writable reports why the store takes no writes now; nil is that it does.
	Writable func() error
	// Logger hears of failures that no client can do anything about; nil is
	// silence.
	Logger *slog.Logger
	// Enter finds the tenants that clients are of; nil is that there are none. The server's own
	// Engine is then for whoever knows its Token or RequirePass.
	Enter Enter
	// Within is the server whose listeners have the clients of this one, which is a tenant's: they may
	// do nothing that is about the process, and come by its Enter only. MaxMemory is of that of all.
	Within *Server
	// Tenants tells the metrics of the tenants; nil is that there is nothing to tell.
	Tenants func() TenantFigures
}

// Server is safe for concurrent use.
type Server struct {
	config Config
	runID  string       // different for each server, in hex
	replID atomic.Value // as much, of what replicas would follow
	since  time.Time

	lastID   atomic.Int64  // of a connection
	wrong    atomic.Int64  // passwords and tokens whose refusals wait
	requests atomic.Uint64 // over REST
	counts   counts
	traffic  traffic
	tally    *metrics.Tally

	hub          *pubsub.Hub
	tracks       *tracking.Table
	notifies     atomic.Bool // keyspace events are told
	eventClasses string      // which

	tracing  sync.Mutex // while who tracks changes
	untrack  func()     // stops what tells the table of changes; nil while no one tracks
	users    *acl.Users
	userFile sync.Mutex // while the file is read or written

	pace       pace
	health     health
	saves      saves
	metrics    http.Handler
	overRESP   *connLimiter // of all listeners
	overREST   *connLimiter
	dumping    chan struct{} // has room for one
	replicas   atomic.Int64  // now
	syncs      atomic.Int64  // dumps that were asked for
	complaints complaints
	memory     *store.Pool
	expelled   atomic.Bool // it is a tenant's that is no more

	live live

	peak    atomic.Uint64 // of memory, in bytes, at the looks at it
	atStart uint64

	mu        sync.Mutex
	clients   map[int64]*client
	streams   map[*stream]bool
	listeners []string // of RESP, as INFO shows them
	params    map[string]string
}

// New makes a server.
func New(c Config) *Server {
	c.MaxRequest = cmp.Or(c.MaxRequest, 64<<20)
	c.MaxRequestMemory = cmp.Or(c.MaxRequestMemory, 768<<20)
	c.MaxMemory = cmp.Or(c.MaxMemory, 2<<30)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.MaxClients = cmp.Or(c.MaxClients, 10_000)
	c.PingEvery = cmp.Or(c.PingEvery, 10*time.Second)
	c.Grace = cmp.Or(c.Grace, 5*time.Second)
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	id := make([]byte, 20)
	rand.Read(id)
	s := &Server{
		config: c, runID: hex.EncodeToString(id), since: time.Now(),
		users: acl.New(), clients: map[int64]*client{}, streams: map[*stream]bool{}, params: parameters(c), memory: store.NewPool(c.MaxMemory),
		tally: metrics.New(), atStart: readMemory().used, saves: saves{last: time.Now()}, dumping: make(chan struct{}, 1),
	}
	s.tracks = tracking.New(s.peer)
	rand.Read(id)
	s.replID.Store(hex.EncodeToString(id))
	s.users.SetPassword(c.RequirePass)
	if c.Within != nil {
		s.beTenant()
	}
	s.overRESP, s.overREST = s.newDoor(), s.newDoor()
	s.addReader()
	if c.Within == nil {
		s.metrics = s.newMetrics()
	}
	s.live.rechecks = make(chan struct{}, 1)
	s.take(s.params)
	if c.Engine != nil {
		s.hub = c.Engine.Hub()
		c.Engine.SetFacts(s.facts)
		c.Engine.SetTally(s.tally)
		c.Engine.SetReport(func(p *store.Panic) { s.panicked(p) })
	}
	return s
}

// budget is that of a request, or of one after the other.
func (s *Server) budget(piece int64) *store.Budget {
	return store.NewBudget(s.memory, s.config.MaxRequestMemory, piece)
}

// panicked logs a panic.
func (s *Server) panicked(err error) { store.LogPanic(s.config.Logger)(err) }

// guard calls fn on a goroutine that is not of one command, and logs its panic.
func (s *Server) guard(fn func()) { store.Guard(s.panicked, fn) }

// contain is for a goroutine to defer. It recovers a panic, logs it and calls end, which ends the client.
func (s *Server) contain(end func()) {
	if err := store.Recovered(recover()); err != nil {
		s.panicked(err)
		end()
	}
}

// add registers a client.
func (s *Server) add(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[c.id] = c
}

// find is the client with an id, nil without one.
func (s *Server) find(id int64) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients[id]
}

// remove takes a client off the list, and out of what it listens to.
func (s *Server) remove(c *client) {
	s.hub.Leave(&c.inbox)
	c.stopTracking()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, c.id)
}

// listensOn notes where RESP is served.
func (s *Server) listensOn(ln net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, is := ln.Addr().(*net.TCPAddr)
	if !is {
		s.listeners = append(s.listeners, fmt.Sprintf("name=%s,bind=%s", ln.Addr().Network(), ln.Addr()))
		return
	}
	if _, over := ln.(secure); over {
		s.listeners = append(s.listeners, fmt.Sprintf("name=tls,bind=%s,port=%d", a.IP, a.Port))
		return
	}
	s.listeners = append(s.listeners, fmt.Sprintf("name=tcp,bind=%s,port=%d", a.IP, a.Port))
	s.params = maps.Clone(s.params)
	if s.params["bind"] != "" {
		s.params["bind"] += " " + a.IP.String()
		return
	}
	s.params["port"], s.params["bind"] = strconv.Itoa(a.Port), a.IP.String()
}

// listening are the listeners as INFO shows them.
func (s *Server) listening() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.listeners)
}

// param is the value of a parameter.
func (s *Server) param(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.params[name]
}

// all lists the clients in the order of their arrival.
func (s *Server) all() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.clients), func(a, b *client) int { return cmp.Compare(a.id, b.id) })
}

// A wrong password or token is refused after a while, the later the more of them wait:
// so many connections guess hardly faster than one. Waiting holds nothing but the
// connection, and a client that knows the secret does not wait.
const (
	wrongWait    = 250 * time.Millisecond
	maxWrongWait = 5 * time.Second
)

// waitWrong is before the answer to a wrong secret.
func (s *Server) waitWrong(stop <-chan struct{}) {
	waiting := s.wrong.Add(1)
	defer s.wrong.Add(-1)
	s.config.Sleep(stop, min(time.Duration(waiting)*wrongWait, maxWrongWait))
}

func sleep(stop <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-stop:
	}
}

// sameSecret compares in a time that reveals nothing of either.
func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
