package local

import (
	"context"
	"sync"

	"github.com/meowdis/meowdis/store"
)

// externalCommits notices the commits of other processes by the header of the log in shared memory. Its own
// process's are told from others' by the count of commits, as kept does.
type externalCommits struct {
	mu         sync.Mutex
	index      *walIndex // nil while no one asks
	seen       walHeader // what is known of
	committing bool      // the writer has the lock
	missed     bool      // others have committed since Changed was last called
}

// Changed reports whether other processes may have committed anything since the last call. But for
// the first call it is a look at a few words of memory. It is false for what only this
// process has.
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
		return false // which is what opens the log
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

// detach is for when the shared memory is about to go.
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

// began is for the writer once it has the lock, and after follows whatever became of the
// transaction.
func (o *externalCommits) began() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.index == nil {
		return
	}
	o.committing = true
	o.missed = o.missed || !o.index.is(&o.seen)
	o.seen = o.index.read()
}

func (o *externalCommits) after() {
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
	o.missed = o.missed || now != o.seen && now.commits() != o.seen.commits()+1
	o.seen = now
}
