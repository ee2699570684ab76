package tenants

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/internal/lockfile"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/logging"
)

// Config configures a Manager.
type Config struct {
	// Server is the part of the configuration that all tenants' servers share.
	Server server.Config
	// Open limits the open files of tenants; 0 means DefaultOpen.
	Open int
	// Full makes every commit survive a power cut.
	Full bool
	// Now is the clock for expiry, in Unix ms; nil uses the system's clock.
	Now func() int64
	// Registry has the options for the registry's file.
	Registry local.Options
}

const (
	// DefaultOpen is the default of Config.Open.
	DefaultOpen = 256

	// cacheOfAll limits the page caches of all open files together, in bytes. Each connection gets at least
	// leastCache. A file has up to mostConns connections.
	cacheOfAll = 256 << 20
	leastCache = 64 << 10
	mostConns  = 6

	// prepared is the number of prepared statements that a connection keeps.
	prepared = 200

	// A file without calls for idleFor is closed.
	idleFor   = time.Minute
	idleCheck = 10 * time.Second
)

// Manager serves the tenants of a directory. It is safe for concurrent use.
type Manager struct {
	config   Config
	registry *Registry
	lock     *os.File // locks the directory until Close
	files    *files
	front    *server.Server
	log      *slog.Logger

	mu   sync.Mutex
	live map[string]*tenant // by tenant ID

	changed       chan struct{} // signals that the registry may have changed
	quit          chan struct{}
	done          sync.WaitGroup
	stopListening func() // stops listening for changes of the registry
}

// tenant holds a tenant that has clients or an open file.
type tenant struct {
	file   *file
	server *server.Server

	// Guarded by Manager.mu.
	entry   Tenant
	clients int  // connected clients
	swept   bool // the sweep uses its file
}

// lockName names the file that the one server of a directory locks.
const lockName = "serve.lock"

// Open opens the directory of tenants, which OpenRegistry has created. It fails if another server has the directory
// open: clients of one server would not see notifications of the other's writes, and limits would hold for each server
// alone.
func Open(dir string, c Config) (*Manager, error) {
	book, err := OpenRegistry(dir, false, c.Registry)
	if err != nil {
		return nil, err
	}
	lock, err := lockDirectory(dir)
	if err != nil {
		return nil, errors.Join(err, book.Close())
	}
	c.Open = cmp.Or(c.Open, DefaultOpen)
	if c.Server.Logger == nil {
		c.Server.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Manager{
		config: c, registry: book, lock: lock, live: map[string]*tenant{}, log: c.Server.Logger,
		changed: make(chan struct{}, 1), quit: make(chan struct{}),
	}
	h.files = newFiles(c.Open, h.openFile, logging.Panic(h.log))
	return h, nil
}

// lockDirectory locks dir for this process until the file is closed.
func lockDirectory(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	lock, err := lockfile.Open(path, false)
	if errors.Is(err, fs.ErrNotExist) {
		lock, err = lockfile.Open(path, true)
	}
	switch {
	case errors.Is(err, lockfile.ErrInUse), errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("another server is serving the tenants of %s: stop it first", dir)
	case err != nil:
		return nil, fmt.Errorf("locking %s: %w", path, atomicfile.Pathless(err))
	}
	return lock, nil
}

// openFile opens the file of a tenant.
func (h *Manager) openFile(path string) (*local.Store, error) {
	return local.Open(path, local.Options{
		SyncFull: h.config.Full, Now: h.config.Now,
		MaxStatements: prepared,
		CacheBytes:    max(leastCache, cacheOfAll/h.config.Open/mostConns),
		Report:        logging.Errors(h.log, "maintaining a tenant's file", "file", path),
	})
}

// Engine returns the registry's engine, for the front server.
func (h *Manager) Engine() *engine.Engine { return h.registry.engine }

// RegistryStore returns the store of the registry.
func (h *Manager) RegistryStore() *local.Store { return h.registry.file }

// Serve starts serving the tenants within front, a server over Engine with Manager.Enter as its Enter. Call it before
// front serves.
func (h *Manager) Serve(front *server.Server) {
	h.front = front
	h.stopListening = h.registry.engine.Listen(func([]engine.Change) {
		select {
		case h.changed <- struct{}{}:
		default:
		}
	})
	h.done.Go(func() { h.forever(h.follow) })
	h.done.Go(func() { h.forever(h.closeIdle) })
	h.done.Go(func() { h.forever(h.sweep) })
}

// forever runs a job until the manager closes. After a panic it runs the job again, at most once a second.
func (h *Manager) forever(job func()) {
	for {
		store.Guard(logging.Panic(h.log), job)
		select {
		case <-h.quit:
			return
		case <-time.After(time.Second):
		}
	}
}

// follow expels the clients of tenants that were removed or have a new token.
func (h *Manager) follow() {
	for {
		select {
		case <-h.quit:
			return
		case <-h.changed:
		}
		for _, t := range h.all() {
			h.check(t)
		}
	}
}

// check compares a tenant with the registry.
func (h *Manager) check(t *tenant) {
	h.mu.Lock()
	known := t.entry
	h.mu.Unlock()
	now, ok, err := h.registry.read(context.Background(), known.hash)
	switch {
	case err != nil:
		h.log.Error("reading the list of tenants", "error", err)
	case !ok || now.ID != known.ID:
		h.expel(t)
	case now.Limits != known.Limits:
		h.limit(t, now)
	}
}

func (h *Manager) all() []*tenant {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]*tenant, 0, len(h.live))
	for _, t := range h.live {
		all = append(all, t)
	}
	return all
}

// expel closes the connections of a tenant that was removed or has a new token.
func (h *Manager) expel(t *tenant) {
	h.mu.Lock()
	if h.live[t.entry.ID] == t {
		delete(h.live, t.entry.ID)
	}
	h.mu.Unlock()
	t.server.Expel()
	t.file.remove()
}

// limit applies new limits of a tenant.
func (h *Manager) limit(t *tenant, now Tenant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.entry.Limits = now.Limits
	t.server.SetMaxData(now.Bytes)
}

// closeIdle closes files that have been idle for idleFor.
func (h *Manager) closeIdle() {
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	for {
		select {
		case <-h.quit:
			return
		case now := <-tick.C:
			h.files.closeIdle(now.Add(-idleFor))
		}
	}
}

var (
	tooManyClients = resp.MakeError("ERR max number of clients reached")
	registryFailed = resp.MakeError("ERR the database failed: see the server's log")
)

// Enter is for server.Config.Enter.
func (h *Manager) Enter(ctx context.Context, name, token string) (to *server.Server, leave func(), bad resp.Value) {
	found, ok, err := h.registry.Find(ctx, token)
	switch {
	case err != nil:
		h.log.Error("reading the list of tenants", "error", err)
		return nil, nil, registryFailed
	case !ok || name != acl.Default && name != found.Name:
		return nil, nil, bad
	}
	t, isNew := h.admit(found)
	if t == nil {
		return nil, nil, tooManyClients
	}
	if isNew {
		h.check(t) // it may have been removed before follow could notice
	}
	return t.server, sync.OnceFunc(func() { h.leave(t) }), bad
}

// admit counts a client of a tenant. t is nil if the tenant has reached its limit of clients.
func (h *Manager) admit(found Tenant) (t *tenant, isNew bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, isNew = h.tenantFor(found)
	if found.Clients > 0 && t.clients >= found.Clients {
		return nil, false
	}
	t.clients++
	return t, isNew
}

// tenantFor returns the tenant in memory, adding it if needed. The caller holds h.mu.
func (h *Manager) tenantFor(found Tenant) (t *tenant, isNew bool) {
	t = h.live[found.ID]
	if isNew = t == nil; isNew {
		t = h.newTenant(found)
		h.live[found.ID] = t
	}
	return t, isNew
}

// newTenant creates the server of a tenant. The caller holds h.mu.
func (h *Manager) newTenant(found Tenant) *tenant {
	t := &tenant{entry: found}
	t.file = &file{of: h.files, path: h.registry.Path(found), closed: func() { h.forget(t) }}
	c := h.config.Server
	c.Within, c.MaxData = h.front, found.Bytes
	if found.Clients > 0 {
		c.MaxClients = found.Clients
	}
	var options []engine.Option
	if h.config.Now != nil {
		options = append(options, engine.WithClock(h.config.Now))
	}
	c.Engine = engine.New(t.file, options...)
	c.Logger = h.log.With("tenant", found.Name)
	c.PublicMessage = publicMessage
	t.server = server.New(c)
	return t
}

func (h *Manager) leave(t *tenant) {
	h.mu.Lock()
	t.clients--
	h.mu.Unlock()
	h.forget(t)
}

// forget removes a tenant from memory if it has no clients and no open file, and is not being swept.
func (h *Manager) forget(t *tenant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.clients == 0 && !t.swept && !t.file.isOpen() && h.live[t.entry.ID] == t {
		delete(h.live, t.entry.ID)
	}
}

// publicMessage is local.PublicMessage for a tenant's clients.
func publicMessage(err error) string {
	switch {
	case errors.Is(err, errTooManyFiles):
		return "too many databases are in use: try again later"
	case errors.Is(err, errMissing):
		return "its file was deleted or moved"
	case errors.Is(err, errGone):
		return "it is closed"
	}
	return local.PublicMessage(err)
}

// Figures is for server.Config.Tenants.
func (h *Manager) Figures() server.TenantFigures {
	f := server.TenantFigures{
		Open:   h.files.open(),
		Opened: h.files.opened.Load(), Failed: h.files.failed.Load(), Crowded: h.files.crowded.Load(),
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.live {
		f.Clients += t.clients
	}
	return f
}

// Abandon makes running calls fail without effect.
func (h *Manager) Abandon() {
	h.files.abandon()
	h.mu.Lock()
	for _, t := range h.live {
		t.server.EndScripts()
	}
	h.mu.Unlock()
	h.registry.file.Abandon()
}

// Abandoned returns the number of calls that Abandon made fail.
func (h *Manager) Abandoned() int64 { return h.files.failedCalls() + h.registry.file.Abandoned() }

// Close closes all files. The servers must have no clients left.
func (h *Manager) Close() error {
	if h.stopListening != nil {
		h.stopListening()
	}
	close(h.quit)
	h.done.Wait()
	h.files.stop()
	h.files.settle()
	return errors.Join(h.registry.Close(), h.lock.Close())
}
