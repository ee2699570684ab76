package local

import (
	"context"
	"sync"

	"github.com/meowdis/meowdis/store"
)

// externalCommits detects commits of other processes from the WAL header in shared memory. Like rowCache, it
// identifies the commits of this process by the commit counter.
type externalCommits struct {
	mu         sync.Mutex
	index      *walIndex // nil until the first call of Changed
	seen       walHeader // the last known header
	committing bool      // the writer holds the write lock
	missed     bool      // other processes have committed since Changed was last called
}

// Changed reports whether other processes may have committed since the last call. Except for the first call, it
// only reads a few words of memory. It is false for an in-memory store and for a foreign file.
func (s *Store) Changed(ctx context.Context) bool {
	release, err := s.use()
	if err != nil || s.path == Memory || s.foreign != nil {
		if err == nil {
			release()
		}
		return false
	}
	defer release()
	if changed, known := s.externalCommits.changed(); known {
		return changed
	}
	s.watching.Lock()
	defer s.watching.Unlock()
	if s.watcher == nil {
		if s.watcher, err = s.connect(true); err != nil {
			s.watcher = nil
			return false
		}
	}
	if _, _, err := s.watcher.run(store.Stmt{SQL: "PRAGMA data_version"}); err != nil {
		return false // this read opens the WAL
	}
	index, err := s.watcher.walIndex()
	if err != nil {
		return false
	}
	s.externalCommits.attach(index)
	return true
}

func (o *externalCommits) attach(index *walIndex) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.index, o.seen = index, index.read()
}

// detach is called before the shared memory is unmapped.
func (o *externalCommits) detach() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.index = nil
}

func (o *externalCommits) changed() (changed, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.index == nil || o.committing {
		return false, o.index != nil
	}
	changed = o.missed || !o.index.is(&o.seen)
	if changed {
		o.missed, o.seen = false, o.index.read()
	}
	return changed, true
}

// onBegin is called by the writer once it holds the write lock. A call of onEnd follows, whether the transaction
// commits or not.
func (o *externalCommits) onBegin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.committing = true // also before the first call of Changed, which may come before onEnd
	if o.index == nil {
		return
	}
	o.missed = o.missed || !o.index.is(&o.seen)
	o.seen = o.index.read()
}

// onEnd is called by the writer after its transaction. own is the number of commits that SQLite has reported, 0 or 1.
func (o *externalCommits) onEnd(own uint32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.committing {
		return
	}
	o.committing = false
	if o.index == nil {
		return
	}
	now := o.index.read()
	// A transaction that restarts the WAL and then rolls back changes the header, but not the counter.
	o.missed = o.missed || now.commits() != o.seen.commits()+own
	o.seen = now
}
