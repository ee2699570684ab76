package local

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/meowdis/meowdis/local/doctor"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// createPrivate creates an empty file that only its owner can read, and reports whether it did: it does not if the
// file exists. SQLite would make it readable for every user. The files that SQLite creates beside it get the
// file's mode.
func createPrivate(path string, readOnly bool) (made bool, err error) {
	if readOnly {
		return false, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false, nil // it exists, or SQLite will report why it cannot be created
	}
	return true, f.Close()
}

// discard removes an empty WAL and its shared memory, which SQLite could not remove. If made is set, it also
// removes the file itself while it has no tables. It removes nothing that a process has open.
func discard(path string, made bool) {
	connected.Lock()
	defer connected.Unlock()
	if connected.files[realPath(path)] > 0 {
		return
	}
	unlock, ok := lockExclusive(path)
	if !ok {
		return
	}
	defer unlock()
	if hasFrames(path) {
		return
	}
	os.Remove(path + "-wal") // leftovers are harmless
	os.Remove(path + "-shm")
	if info, err := os.Stat(path); made && err == nil && info.Size() <= pageSize {
		os.Remove(path)
	}
}

// prepareFile creates the tables of a new file, migrates an older one, and refuses any other file.
func (s *Store) prepareFile(c *conn) error {
	version, err := c.schemaVersion()
	switch {
	case err != nil:
		return err
	case version == schema.Version:
		return errors.Join(s.enterWAL(c), s.prepareHashIndex(c))
	case version > schema.Version:
		return NewerError(version)
	case s.options.ReadOnly && version == 0:
		return errors.New("it is empty: the first command that writes creates its tables")
	case s.options.ReadOnly:
		return fmt.Errorf("it has schema version %d, not %d: meowdis migrate brings it up to date", version, schema.Version)
	}
	if s.path == Memory {
		if done, err := c.copyBlank(s.options.Now()); done || err != nil {
			return err
		}
	}
	if err := s.enterWAL(c); err != nil {
		return err
	}
	// Inside a transaction, they could not be turned off.
	if err := c.script("PRAGMA foreign_keys = 0"); err != nil {
		return err
	}
	err = c.transaction(beginNow, func() error {
		// Another process may have been faster.
		version, err := c.schemaVersion()
		if err != nil {
			return err
		}
		return c.migrate(version, s.options.Now())
	})
	if err != nil {
		return err
	}
	s.wrote.Store(true)
	return errors.Join(c.script("PRAGMA foreign_keys = 1"), s.prepareHashIndex(c))
}

// NewerError returns the error for a file whose schema version is newer than ours.
func NewerError(version int) error { return schema.CheckVersion(version) }

// enterWAL switches a meowdis file or an empty file to WAL mode. The file stores the mode; a file already in
// WAL mode is not changed. SQLite fails at once if another process writes while the mode changes, so enterWAL
// waits.
func (s *Store) enterWAL(c *conn) error {
	if s.path == Memory || s.options.ReadOnly {
		return nil
	}
	late := time.Now().Add(defaultBusyTimeout)
	for {
		err := c.script("PRAGMA journal_mode = WAL")
		if !IsBusy(err) || time.Now().After(late) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// migrate upgrades the file from a schema version to the current one; version 0 is a new file.
func (c *conn) migrate(from int, now int64) error {
	if from == schema.Version {
		return nil
	}
	steps := [][]string{schema.Tables}
	if from > 0 {
		steps = schema.Migrations[from:]
	}
	for _, step := range steps {
		for _, sql := range step {
			if err := c.script(sql); err != nil {
				return err
			}
		}
	}
	record := store.Stmt{SQL: schema.SetVersion, Args: []store.Value{store.Int(schema.Version), store.Int(now)}}
	if _, _, err := c.run(record); err != nil {
		return err
	}
	if from > 0 {
		if err := c.conform(); err != nil {
			return err
		}
	}
	return c.script(fmt.Sprintf("PRAGMA application_id = %d", schema.ApplicationID))
}

// conform gives a migrated file the schema of a new one.
func (c *conn) conform() error {
	fresh, err := openConn(Memory, makeIfNew)
	if err != nil {
		return err
	}
	defer fresh.close()
	if err := fresh.migrate(0, 0); err != nil {
		return err
	}
	want, err := doctor.ReadTables(fresh.query)
	if err != nil {
		return err
	}
	return doctor.Conform(c.query, want)
}

// query runs one statement.
func (c *conn) query(sql string, args ...store.Value) ([]store.Row, error) {
	rows, _, err := c.run(store.Stmt{SQL: sql, Args: args})
	return rows, err
}
