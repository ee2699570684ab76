package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/bus"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/store/logging"
)

// Memory is the path of a database in memory, which is lost when it is closed.
const Memory = local.Memory

// ErrClosed is returned by calls on a closed database.
var ErrClosed = errors.New("the database is closed")

// DB is an open database. It is safe for concurrent use.
type DB struct {
	store    *local.Store
	server   *server.Server
	clock    *clock
	node     *bus.Node // nil for a database in memory
	logger   *slog.Logger
	readOnly bool // opened with ReadOnly

	life     context.Context // canceled by Close
	end      context.CancelFunc
	running  sync.WaitGroup // running servers
	starting sync.Mutex     // held while a server starts
	dialed   sync.Once
	pipes    *pipes
	closing  sync.Once
	closed   error

	clockMu sync.Mutex // held while the clock moves
}

// Option changes how a database is opened.
type Option func(*options)

type options struct {
	local.Options
	now    func() time.Time
	logger *slog.Logger
	engine []engine.Option
}

// ReadOnly refuses commands that write with an error reply. The file must exist.
func ReadOnly() Option { return func(o *options) { o.ReadOnly = true } }

// Full makes each commit survive a power cut, which is slower. Without it a commit survives the
// crash of the process, and a power cut may lose the last moments.
func Full() Option { return func(o *options) { o.SyncFull = true } }

// WithClock sets the database's clock. now is called from many goroutines.
func WithClock(now func() time.Time) Option { return func(o *options) { o.now = now } }

// WithSeed makes random commands (SPOP, RANDOMKEY) depend only on seed and the commands before, so that a test is
// repeatable.
func WithSeed(seed uint64) Option {
	return func(o *options) {
		var mu sync.Mutex
		source := rand.NewPCG(seed, 0)
		o.engine = append(o.engine, engine.WithSeed(func() uint64 {
			mu.Lock()
			defer mu.Unlock()
			return source.Uint64()
		}))
	}
}

// WithLogger sets the logger for failures of background work. Without it they are dropped.
func WithLogger(l *slog.Logger) Option { return func(o *options) { o.logger = l } }

// rowCacheBytes limits the row cache, in bytes.
const rowCacheBytes = 32 << 20

// Open opens the file at path, or Memory. It creates a missing file, unless ReadOnly is given; the directory must
// exist. Other processes may have the file open at the same time: "meowdis exec" and "meowdis serve" see each other's
// writes and the writes of this process.
func Open(path string, choices ...Option) (*DB, error) {
	if path == "" {
		return nil, errors.New("opening a database: empty path: pass a file name or embedded.Memory")
	}
	o := options{now: time.Now}
	for _, option := range choices {
		option(&o)
	}
	if path == Memory {
		o.ReadOnly = false
	}
	db := &DB{clock: newClock(o.now), readOnly: o.ReadOnly, logger: cmp.Or(o.logger, slog.New(slog.DiscardHandler)), pipes: newPipes()}
	o.Now, o.RowCacheBytes = db.clock.ms, rowCacheBytes
	o.Report = logging.Errors(db.logger, "maintaining the file", "file", path)
	var err error
	if db.store, err = local.Open(path, o.Options); err != nil {
		return nil, err
	}
	db.life, db.end = context.WithCancel(context.Background())
	hub := pubsub.New()
	if path != Memory {
		db.node = bus.New(path, hub)
	}
	with := append(o.engine, engine.WithClock(db.clock.ms), engine.WithTimer(db.clock.timer), engine.WithHub(hub))
	db.server = server.New(server.Config{
		Engine:        engine.New(db.store, with...),
		Writable:      db.store.Moved,
		PublicMessage: local.PublicMessage,
		Logger:        db.logger,
	})
	return db, nil
}

// Close closes the connections after their running commands, ends blocked commands, and closes the file. Later calls
// fail with ErrClosed. A second Close returns the result of the first.
func (db *DB) Close() error {
	db.closing.Do(func() {
		db.starting.Lock()
		db.end()
		db.starting.Unlock()
		db.pipes.Close()
		db.running.Wait()
		var left error
		if db.node != nil {
			left = db.node.Close()
		}
		db.closed = errors.Join(left, db.store.Close())
	})
	return db.closed
}

// Dialer connects a client to the database and ignores the network and address. The connection is not a socket and has
// no port. Use it as go-redis's redis.Options.Dialer or redigo's redis.DialContextFunc.
func (db *DB) Dialer(ctx context.Context, _, _ string) (net.Conn, error) {
	db.dialed.Do(func() { db.serve(db.life, db.pipes) }) // Close has closed the pipes
	conn, err := db.pipes.dial(ctx)
	if errors.Is(err, net.ErrClosed) {
		err = ErrClosed
	}
	return conn, err
}

// Serve serves Redis clients on ln until ctx is done or the database is closed, and closes ln. It returns when every
// connection is closed. Like "meowdis serve", it serves clients on other machines only after CONFIG SET requirepass
// has set a password.
func (db *DB) Serve(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(db.life, cancel)()
	ended, err := db.serve(ctx, ln)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	return <-ended
}

// serve starts serving ln until ctx is done.
func (db *DB) serve(ctx context.Context, ln net.Listener) (ended <-chan error, err error) {
	db.starting.Lock()
	defer db.starting.Unlock()
	if db.life.Err() != nil {
		return nil, ErrClosed
	}
	end := make(chan error, 1)
	db.running.Go(func() {
		err := db.server.ServeRESP(ctx, ln)
		if err != nil {
			db.logger.Error("serving", "address", ln.Addr(), "error", err)
		}
		end <- err
	})
	return end, nil
}

// FastForward moves the database's clock ahead by d and deletes the keys that have expired by then. It is for tests:
// other processes use their own clocks. It panics if d is negative.
func (db *DB) FastForward(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("embedded: FastForward(%v): the duration is negative; use SetTime", d))
	}
	db.clockMu.Lock()
	defer db.clockMu.Unlock()
	db.clock.forward(d)
	db.sweep()
}

// SetTime sets the database's clock to t and stops it: from now on only FastForward and SetTime move it. It deletes
// the keys that have expired by then.
func (db *DB) SetTime(t time.Time) {
	db.clockMu.Lock()
	defer db.clockMu.Unlock()
	db.clock.set(t)
	db.sweep()
}

// Now returns the time of the database's clock.
func (db *DB) Now() time.Time { return db.clock.now() }

// sweep deletes expired keys. Commands do not see keys that are left after a failure.
func (db *DB) sweep() {
	const slice = 1000
	for n := 1; n > 0 && !db.readOnly; {
		var err error
		if n, err = db.store.Sweep(db.life, slice); err != nil {
			if db.life.Err() == nil {
				db.logger.Error("deleting expired keys", "error", err)
			}
			return
		}
	}
}

// who returns the program's name in MONITOR and the slow log.
func who() (addr, name string) { return fmt.Sprint("pid:", os.Getpid()), "" }
