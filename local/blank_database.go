package local

import (
	"context"
	"sync"
)

// blanks is how databases in memory are made after the first one of the process: by copying the
// pages of an empty one, which takes half as long as to run the statements that make its tables. A
// suite of tests opens a thousand.
var blanks struct {
	sync.Mutex
	wanted bool // a database in memory has been opened
	blank  *conn
}

// copyBlank makes c, which has no tables yet, an empty database. done is false for the first one of
// the process, which would be made twice.
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
	return true, b.blank.copyPages(context.Background(), c, nil)
}
