package local

import (
	"context"
	"sync"
)

// blanks holds an empty in-memory database. Later in-memory databases of the process copy its pages, which
// takes half as long as running the statements that create the tables. A test suite opens a thousand databases.
var blanks struct {
	sync.Mutex
	wanted bool // an in-memory database was opened before
	blank  *conn
}

// copyBlank makes c, which has no tables yet, an empty database. done is false for the first one of the
// process, because a copy would do its work twice.
func (c *conn) copyBlank(now int64) (done bool, err error) {
	b := &blanks
	b.Lock()
	defer b.Unlock()
	if !b.wanted {
		b.wanted = true
		return false, nil
	}
	if b.blank == nil {
		blank, err := openConn(Memory, makeIfNew)
		if err != nil {
			return false, err
		}
		if err := blank.migrate(0, now); err != nil {
			blank.close()
			return false, err
		}
		b.blank = blank
	}
	return true, b.blank.copyPages(context.Background(), c, BackupOptions{})
}
