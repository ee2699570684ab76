package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// saves holds the state of SAVE, BGSAVE and SHUTDOWN. One save runs at a time.
type saves struct {
	mu       sync.Mutex
	since    time.Time // start of the running save, or zero
	last     time.Time // end of the last successful save
	took     time.Duration
	failed   bool // the last save failed
	count    int64
	changes  uint64             // Tally.Changes when the running save began
	saved    uint64             // Tally.Changes that the last successful save includes
	shutdown context.CancelFunc // cancels the save of a SHUTDOWN
}

var (
	saving     = resp.MakeError("ERR Background save already in progress")
	notSaved   = resp.MakeError("ERR saving failed: see the server's log")
	noShutdown = resp.MakeError("ERR Errors trying to SHUTDOWN. Check logs.")
)

// scheduled is the delay of a BGSAVE inside a transaction, which must include the transaction's changes.
const scheduled = 100 * time.Millisecond

// save runs the commands that save, and SHUTDOWN.
func (s *Server) save(ctx context.Context, p *principal, cmd *commands.Command, args [][]byte) (v resp.Value, ok bool) {
	switch cmd.Name {
	case "SAVE":
		switch err := s.saveNow(ctx); {
		case errors.Is(err, errSaving):
			return saving, true
		case err != nil:
			return notSaved, true
		}
		return resp.OK, true
	case "BGSAVE":
		return s.saveLater(ctx, args), true
	case "BGREWRITEAOF":
		return engine.BackgroundRewrite(ctx), true
	case "LASTSAVE":
		s.saves.mu.Lock()
		defer s.saves.mu.Unlock()
		return resp.MakeInt(s.saves.last.Unix()), true
	case "SHUTDOWN":
		return s.shutDown(ctx, p, args), true
	}
	return resp.Value{}, false
}

var errSaving = errors.New("a save is running")

// beginSave reserves the one running save and reports whether it was free.
func (s *Server) beginSave() bool {
	s.saves.mu.Lock()
	defer s.saves.mu.Unlock()
	if !s.saves.since.IsZero() {
		return false
	}
	s.saves.since, s.saves.changes = time.Now(), s.tally.Changes()
	return true
}

// finishSave runs the save reserved by beginSave.
func (s *Server) finishSave(ctx context.Context) (err error) {
	if s.config.Save != nil {
		err = store.Caught(func() error { return s.config.Save(ctx) })
		if p := (*store.Panic)(nil); errors.As(err, &p) {
			s.panicked(p)
		}
	}
	if err != nil {
		s.config.Logger.Error("saving", "error", err)
	}
	s.saves.mu.Lock()
	defer s.saves.mu.Unlock()
	now := time.Now()
	s.saves.took, s.saves.since = now.Sub(s.saves.since), time.Time{}
	if s.saves.failed = err != nil; err == nil {
		s.saves.last = now
		s.saves.count++
		s.saves.saved = s.saves.changes
	}
	return err
}

// saveNow returns when all commits are saved.
func (s *Server) saveNow(ctx context.Context) error {
	if !s.beginSave() {
		return errSaving
	}
	return s.finishSave(ctx)
}

// saveLater runs BGSAVE.
func (s *Server) saveLater(ctx context.Context, args [][]byte) resp.Value {
	v := engine.BackgroundSave(ctx, args)
	switch {
	case v.IsError():
	case engine.InExec(ctx): // the save must include the transaction's changes
		time.AfterFunc(scheduled, func() { s.guard(func() { s.saveNow(context.WithoutCancel(ctx)) }) })
	case !s.beginSave():
		return saving
	default:
		go s.guard(func() { s.finishSave(context.WithoutCancel(ctx)) })
	}
	return v
}

// shutDown runs SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE], and SHUTDOWN ABORT, which cancels a shutdown that is saving. A
// client whose SHUTDOWN succeeds gets no reply, as in Redis.
func (s *Server) shutDown(ctx context.Context, p *principal, args [][]byte) resp.Value {
	o, ok := shutdownOptions(args)
	busy, isBusy := s.busy()
	switch {
	case !ok || o["ABORT"] && len(args) > 2 || o["SAVE"] && o["NOSAVE"]:
		return syntaxError
	case o["ABORT"]:
		return s.abortShutdown()
	case isBusy && !o["NOSAVE"]:
		return busy
	case s.config.Stop == nil:
		return noShutdown
	}
	if o["SAVE"] {
		if err := s.saveBefore(ctx); err != nil && !o["FORCE"] {
			return noShutdown
		}
	}
	if isBusy {
		s.EndScripts()
	}
	s.config.Logger.Info("a client shuts down the server", "user", p.user.Load().Name())
	if p.client != nil {
		p.client.broken, p.client.closed = errShutDown, true
	}
	s.config.Stop()
	return resp.OK
}

// busy is engine.Engine.Busy.
func (s *Server) busy() (v resp.Value, busy bool) {
	if s.config.Engine == nil {
		return v, false
	}
	return s.config.Engine.Busy()
}

// EndScripts ends all scripts, which leave no changes. A stopping server does so after its grace.
func (s *Server) EndScripts() {
	if s.config.Engine != nil {
		s.config.Engine.EndScripts()
	}
}

var errShutDown = errors.New("the server is shutting down")

func shutdownOptions(args [][]byte) (o map[string]bool, ok bool) {
	o = map[string]bool{}
	for i := 1; i < len(args); i++ {
		switch word := option(args, i); word {
		case "SAVE", "NOSAVE", "NOW", "FORCE", "ABORT":
			o[word] = true
		default:
			return nil, false
		}
	}
	return o, true
}

// saveBefore saves unless SHUTDOWN ABORT cancels it.
func (s *Server) saveBefore(ctx context.Context) error {
	if !s.beginSave() {
		return errSaving
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.saves.mu.Lock()
	s.saves.shutdown = cancel
	s.saves.mu.Unlock()
	defer func() {
		s.saves.mu.Lock()
		defer s.saves.mu.Unlock()
		s.saves.shutdown = nil
	}()
	return s.finishSave(ctx)
}

func (s *Server) abortShutdown() resp.Value {
	s.saves.mu.Lock()
	defer s.saves.mu.Unlock()
	if s.saves.shutdown == nil {
		return resp.MakeError("ERR No shutdown in progress.")
	}
	s.saves.shutdown()
	return resp.OK
}

// persistenceInfo returns INFO's Persistence section. Every commit is in the file already. A save makes it survive a
// power cut and, if a directory is configured, copies it there.
func (s *Server) persistenceInfo() []string {
	s.saves.mu.Lock()
	defer s.saves.mu.Unlock()
	running, current, took, status := 0, int64(-1), int64(-1), "ok"
	if !s.saves.since.IsZero() {
		running, current = 1, int64(time.Since(s.saves.since).Seconds())
	}
	if s.saves.count > 0 || s.saves.failed {
		took = int64(s.saves.took.Seconds())
	}
	if s.saves.failed {
		status = "err"
	}
	return append([]string{
		"loading:0", "async_loading:0",
		"current_cow_peak:0", "current_cow_size:0", "current_cow_size_age:0", "current_fork_perc:0.00",
		"current_save_keys_processed:0", "current_save_keys_total:0",
		field("rdb_changes_since_last_save", s.tally.Changes()-s.saves.saved), field("rdb_bgsave_in_progress", running), field("rdb_last_save_time", s.saves.last.Unix()),
		field("rdb_last_bgsave_status", status), field("rdb_last_bgsave_time_sec", took), field("rdb_current_bgsave_time_sec", current),
		field("rdb_saves", s.saves.count), "rdb_last_cow_size:0", "rdb_last_load_keys_expired:0", "rdb_last_load_keys_loaded:0",
		"aof_enabled:0", "aof_rewrite_in_progress:0", "aof_rewrite_scheduled:0", "aof_last_rewrite_time_sec:-1",
		"aof_current_rewrite_time_sec:-1", "aof_last_bgrewrite_status:ok", "aof_rewrites:0", "aof_rewrites_consecutive_failures:0",
		"aof_last_write_status:ok", "aof_last_cow_size:0", "module_fork_in_progress:0", "module_fork_last_cow_size:0",
	}, s.streamInfo()...)
}
