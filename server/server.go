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
	"github.com/meowdis/meowdis/store/logging"
)

// Config configures a Server.
type Config struct {
	Engine *engine.Engine
	// Storage is the store served by ServeStorage.
	Storage Storage
	// Token authenticates REST clients. Without it every request is refused.
	Token string
	// ReadOnlyToken is the token and password of the user default_ro, who may run commands that read, except KEYS and
	// SCAN. Without it the user does not exist.
	ReadOnlyToken string
	// Origins are the origins of web pages that may use REST in a browser; "*" allows all.
	Origins []string
	// Gzip compresses long REST replies for clients that accept it.
	Gzip bool
	// RequirePass is the password of RESP clients, until CONFIG SET changes it. Without it the server accepts only
	// clients on the loopback interface.
	RequirePass string
	// Cluster makes the server a cluster of one node, for clients that require a cluster.
	Cluster bool
	// ConfigFile is the file that CONFIG REWRITE writes, or "".
	ConfigFile string
	// ACLFile stores the users: LoadUsers reads it and ACL SAVE writes it. Without it users are lost when the server
	// stops.
	ACLFile string
	// MaxRequest limits the body of a REST request, in bytes; 0 means 64 MiB.
	MaxRequest int64
	// MaxRequestMemory limits the rows and replies that one request holds, in bytes; 0 means 768 MiB.
	MaxRequestMemory int64
	// MaxMemory limits the memory of all requests together, in bytes; 0 means 2 GiB.
	MaxMemory int64
	// OnMemory is called when the memory of all requests together has changed by MemoryStep; nil for never.
	OnMemory func(used int64)
	// MaxData limits the data in the store, in bytes, until CONFIG SET maxmemory changes it; 0 means no limit.
	MaxData int64
	// MaxClients limits the connections of each protocol; 0 means 10,000. A tenth of them may be unauthenticated.
	MaxClients int
	// WriteTimeout closes a client that reads none of its reply for that long; 0 means 30 seconds.
	WriteTimeout time.Duration
	// Grace is the time a stopping server gives clients to finish their commands and read the replies; 0 means 5
	// seconds.
	Grace time.Duration
	// TimeLimit limits one command or one EXEC, until CONFIG SET changes it; 0 means no limit.
	TimeLimit time.Duration
	// LimitScripts applies TimeLimit to scripts, too, which have no limit in Redis. CONFIG SET command-time-limit sets it.
	LimitScripts bool
	// Sleep waits for d or until stop is closed; nil uses the system's clock.
	Sleep func(stop <-chan struct{}, d time.Duration)
	// PublicMessage returns the part of a store error that clients may read, or "". If nil, clients read none of any
	// error.
	PublicMessage func(error) string
	// Save makes commits survive a power cut, and copies the file if configured, for SAVE, BGSAVE and SHUTDOWN SAVE.
	// If nil, these commands do nothing.
	Save func(context.Context) error
	// SavePath is the file that Save copies to, or "".
	SavePath string
	// StoreFigures returns the store's numbers for the metrics; nil omits them.
	StoreFigures func() StoreFigures
	// Replication returns the state of replication through a place; nil means none.
	Replication func() Replication
	// Dump creates a dump for a replica; nil refuses replicas.
	Dump func(context.Context, DumpOptions) (*Dump, error)
	// PingEvery is the interval of pings to replicas; 0 means 10 seconds.
	PingEvery time.Duration
	// Stop ends the contexts of ServeRESP and ServeREST, for SHUTDOWN; nil refuses SHUTDOWN.
	Stop func()
	// Writable returns an error while the store accepts no writes; nil means that it always does.
	Writable func() error
	// Logger receives failures that clients cannot act on; nil discards them.
	Logger *slog.Logger
	// Enter finds the tenant of a client; nil means no tenants. With tenants, the server's own Engine serves only
	// clients that know its Token or RequirePass.
	Enter Enter
	// Within is set on a tenant's server: the server whose listeners accept the clients. Clients arrive only through
	// its Enter and may run no command about the process. MaxMemory counts against the MaxMemory of Within, too.
	Within *Server
	// Tenants returns the tenants' numbers for the metrics; nil omits them.
	Tenants func() TenantFigures
}

// Server serves an engine. It is safe for concurrent use.
type Server struct {
	identity
	replicaState
	requestCounts
	keyEvents
	clientTracking
	accounts
	memoryLimits
	openConnections

	config Config

	hub *pubsub.Hub

	health  health
	saves   saves
	metrics http.Handler

	live live
}

// identity tells servers apart.
type identity struct {
	runID    string // random, in hex
	since    time.Time
	expelled atomic.Bool // the tenant was removed
}

// replicaState counts replicas and the dumps they get.
type replicaState struct {
	replication *replicationLog
	dumping     chan struct{} // semaphore of 1
	syncs       atomic.Int64  // dumps requested by replicas
}

// requestCounts counts connections, requests and failures.
type requestCounts struct {
	lastID   atomic.Int64  // ID of the last connection
	refusals atomic.Int64  // wrong passwords and tokens waiting for their refusal
	requests atomic.Uint64 // requests over REST
	counts   counts
	traffic  traffic
	tally    *metrics.Tally
	rates    rates
	failures failureLog
}

// keyEvents is the setting notify-keyspace-events.
type keyEvents struct {
	notifies     atomic.Bool // keyspace events are published
	eventClasses string      // their classes
}

// clientTracking serves CLIENT TRACKING.
type clientTracking struct {
	tracks     *tracking.Table
	trackingMu sync.Mutex // held while the set of tracking clients changes
	untrack    func()     // detaches the table from the engine; nil while no client tracks
}

// accounts holds the ACL users.
type accounts struct {
	users    *acl.Users
	userFile sync.Mutex // held while the file is read or written
}

// memoryLimits bounds and measures the memory of requests.
type memoryLimits struct {
	memory  *store.Pool
	peak    atomic.Uint64 // highest memory use seen, in bytes
	atStart uint64
}

// openConnections holds the connections of clients.
type openConnections struct {
	respConns *connLimiter // shared by all listeners
	restConns *connLimiter
	mu        sync.Mutex
	clients   map[int64]*client
	streams   map[*stream]bool
	listeners []string // RESP listeners in INFO's form
	params    map[string]string
}

// MemoryStep is the change of memory, in bytes, after which Config.OnMemory is called.
const MemoryStep = 64 << 20

// New returns a server. It does not listen.
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
		config: c, identity: identity{runID: hex.EncodeToString(id), since: time.Now()},
		accounts: accounts{users: acl.New()}, openConnections: openConnections{clients: map[int64]*client{}, streams: map[*stream]bool{}, params: parameters(c)}, memoryLimits: memoryLimits{memory: c.requestMemory(), atStart: readMemory().used},
		requestCounts: requestCounts{tally: metrics.New()}, saves: saves{last: time.Now()}, replicaState: replicaState{dumping: make(chan struct{}, 1)},
	}
	s.tracks = tracking.New(s.peer)
	s.replication = newReplicationLog(s)
	s.users.SetPassword(c.RequirePass)
	if c.Within != nil {
		s.setUpTenant()
	}
	s.respConns, s.restConns = s.newConnLimiter(), s.newConnLimiter()
	s.addReader()
	if c.Within == nil {
		s.metrics = s.newMetrics()
	}
	s.live.rechecks = make(chan struct{}, 1)
	s.applyParams(s.params)
	if c.Engine != nil {
		s.hub = c.Engine.Hub()
		c.Engine.SetFacts(s.facts)
		c.Engine.SetTally(s.tally)
		c.Engine.SetAwaitReplicas(s.replication.await, s.replication.acknowledged)
		c.Engine.SetReport(func(p *store.Panic) { s.panicked(p) })
	}
	return s
}

// budget returns a memory budget for one request at a time.
func (s *Server) budget(piece int64) *store.Budget {
	return store.NewBudget(s.memory, s.config.MaxRequestMemory, piece)
}

// panicked logs a panic.
func (s *Server) panicked(err error) { logging.Panic(s.config.Logger)(err) }

// guard calls fn and logs its panic. It is for goroutines that do not run a command.
func (s *Server) guard(fn func()) { store.Guard(s.panicked, fn) }

// contain recovers and logs a panic, and then calls end, which closes the client. Goroutines defer it.
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

// find returns the client with an ID, or nil.
func (s *Server) find(id int64) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients[id]
}

// remove removes a client and its subscriptions.
func (s *Server) remove(c *client) {
	s.hub.Leave(&c.inbox)
	c.stopTracking()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, c.id)
}

// listensOn records a RESP listener.
func (s *Server) listensOn(ln net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, is := ln.Addr().(*net.TCPAddr)
	if !is {
		s.listeners = append(s.listeners, fmt.Sprintf("name=%s,bind=%s", ln.Addr().Network(), ln.Addr()))
		return
	}
	if _, over := ln.(tlsListener); over {
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

// listening returns the RESP listeners in INFO's form.
func (s *Server) listening() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.listeners)
}

// param returns the value of a parameter.
func (s *Server) param(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.params[name]
}

// all returns the clients in order of arrival.
func (s *Server) all() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.clients), func(a, b *client) int { return cmp.Compare(a.id, b.id) })
}

// The refusal of a wrong password or token is delayed, for longer the more of them wait. So guessing over many
// connections is hardly faster than over one. A delayed client holds only its connection, and a client that knows the
// secret is not delayed.
const (
	refusalDelay    = 250 * time.Millisecond
	maxRefusalDelay = 5 * time.Second
)

// delayRefusal delays the reply to a wrong secret.
func (s *Server) delayRefusal(stop <-chan struct{}) {
	waiting := s.refusals.Add(1)
	defer s.refusals.Add(-1)
	s.config.Sleep(stop, min(time.Duration(waiting)*refusalDelay, maxRefusalDelay))
}

func sleep(stop <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-stop:
	}
}

// sameSecret compares two secrets in constant time.
func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
