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
)

// Memory is the path of a database that lives as long as it is open.
const Memory = local.Memory

// ErrClosed is the error of whatever is asked of a closed database.
var ErrClosed = errors.New("the database is closed")

// DB is an open database. It is safe for concurrent use.
type DB struct {
	store  *local.Store
	server *server.Server
	clock  *clock
	node   *bus.Node // nil in memory
	logger *slog.Logger
	seen   bool // it may only be read

	life     context.Context // ends with Close
	end      context.CancelFunc
	running  sync.WaitGroup // the servers
	starting sync.Mutex     // while one begins
	dialed   sync.Once
	pipes    *pipes
	closing  sync.Once
	closed   error

	pause sync.Mutex // while the clock is moved
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
func Full() Option { return func(o *options) { o.Full = true } }

// WithClock has the database go by another clock than the system's. It is called from many
// goroutines.
func WithClock(now func() time.Time) Option { return func(o *options) { o.now = now } }

// WithSeed makes what a command draws by chance (SPOP, RANDOMKEY) depend on seed and on the commands
// before it, so that a test finds the same each time.
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

// WithLogger sets what hears of failures that no caller is told of. Without it they are dropped.
func WithLogger(l *slog.Logger) Option { return func(o *options) { o.logger = l } }

// kept is the memory for the rows that are read again and again.
const kept = 32 << 20

// Open opens the file at path, or Memory. A file that does not exist is made, unless it is
// ReadOnly; its directory must exist. Other processes may have it open, too: "meowdis exec" and
// "meowdis serve" see what this one writes, and the other way round.
func Open(path string, choices ...Option) (*DB, error) {
	if path == "" {
		return nil, errors.New("opening a database: the path is empty; embedded.Memory is the one of a database in memory")
	}
	o := options{now: time.Now}
	for _, option := range choices {
		option(&o)
	}
	if path == Memory {
		o.ReadOnly = false
	}
	db := &DB{clock: newClock(o.now), seen: o.ReadOnly, logger: cmp.Or(o.logger, slog.New(slog.DiscardHandler)), pipes: newPipes()}
	o.Now, o.RowCacheBytes = db.clock.ms, kept
	o.Report = func(err error) { db.logger.Error("keeping the file", "file", path, "error", err) }
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

// Close ends the connections after what is running, and what waits at once, and closes the file.
// What Do is asked later fails with ErrClosed. Closing again does nothing.
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

// Dialer connects a client to the database, whatever network and address it asks for. The
// connection is no socket, and has no port. It is for redis.Options of go-redis, and
// redis.DialContextFunc of redigo.
func (db *DB) Dialer(ctx context.Context, _, _ string) (net.Conn, error) {
	db.dialed.Do(func() { db.serve(db.life, db.pipes) }) // a closed database has closed the pipes
	conn, err := db.pipes.dial(ctx)
	if errors.Is(err, net.ErrClosed) {
		err = ErrClosed
	}
	return conn, err
}

// Serve serves Redis clients on ln until ctx is done or the database is closed, and closes ln. It
// returns when every connection is closed. As "meowdis serve" it serves clients on other machines
// only when CONFIG SET requirepass has set a password.
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

// serve serves ln until ctx is done.
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

// FastForward moves the database's clock ahead by d, and deletes what has expired by then. It is
// for tests: other processes go by their own clocks. It panics when d is negative.
func (db *DB) FastForward(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("embedded: FastForward(%v): time goes forward; SetTime sets it", d))
	}
	db.pause.Lock()
	defer db.pause.Unlock()
	db.clock.forward(d)
	db.sweep()
}

// SetTime sets the database's clock to t, and stops it: only FastForward and SetTime move it from
// now on. What has expired by then is deleted.
func (db *DB) SetTime(t time.Time) {
	db.pause.Lock()
	defer db.pause.Unlock()
	db.clock.set(t)
	db.sweep()
}

// Now is the time of the database's clock.
func (db *DB) Now() time.Time { return db.clock.now() }

// sweep deletes all that has expired. What is left after a failure no command sees.
func (db *DB) sweep() {
	const slice = 1000
	for n := 1; n > 0 && !db.seen; {
		var err error
		if n, err = db.store.Sweep(db.life, slice); err != nil {
			if db.life.Err() == nil {
				db.logger.Error("deleting what has expired", "error", err)
			}
			return
		}
	}
}

// who is how MONITOR and the slow log call the program.
func who() (addr, name string) { return fmt.Sprint("pid:", os.Getpid()), "" }
