package local

import (
	"errors"
	"os"

	"github.com/meowdis/meowdis/local/otherformats"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// ErrForeign is returned for a SQLite file that another program made, in a format that meowdis cannot read.
var ErrForeign = errors.New("it is not a meowdis file; run meowdis doctor to identify it")

// ReadOnly returns why the store refuses writes, or "" if it accepts them.
func (s *Store) ReadOnly() string {
	if guard := s.guard.Load(); guard != nil {
		if err := store.Caught(*guard); err != nil {
			return err.Error()
		}
	}
	switch {
	case s.promoted.Load():
		return ""
	case s.foreign != nil:
		return "this is " + s.foreign.Name + ", which meowdis can only read: convert it with meowdis import"
	case s.unwritable:
		return errUnwritable.Error()
	case s.options.WriteRefusal != "":
		return s.options.WriteRefusal
	case s.options.ReadOnly:
		return "the file is open for reading only"
	}
	return ""
}

// probe finds out whether the file is foreign, and returns the connection that it used, if any. A foreign file
// is then read with this connection. All other cases, including errors, are left to the code that opens meowdis
// files. It probes without writing, because closing a file that was open for writing may change it.
func (s *Store) probe() (*conn, error) {
	if info, err := os.Stat(s.path); s.path == Memory || err != nil || info.Size() == 0 {
		return nil, nil // the caller creates the file, or reports a better error
	}
	c, err := s.tryProbe()
	if isCantOpen(err) && !hasLog(s.path) {
		// A file in WAL mode needs files beside it, which cannot be created here.
		if s.immutable, err = statImmutable(s.path); err == nil {
			c, err = s.tryProbe()
		}
	}
	if errors.Is(err, ErrForeign) || s.foreign != nil {
		return c, err
	}
	frozen := s.immutable != nil
	if !s.options.ReadOnly {
		s.immutable = nil
	}
	if frozen && c != nil {
		// The connection holds no locks: closing it later would drop the locks of other connections.
		return nil, c.close()
	}
	return c, nil
}

func (s *Store) tryProbe() (*conn, error) {
	c, err := s.connectBare(true)
	if err != nil {
		return nil, err
	}
	if err := s.probeWith(c); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (s *Store) probeWith(c *conn) error {
	rows, _, err := c.run(store.Stmt{SQL: "PRAGMA application_id"})
	if err != nil || rows[0][0].Int() == schema.ApplicationID {
		return err
	}
	tables, err := c.tables()
	if err != nil || len(tables) == 0 || tables["meowdis"] != nil {
		return err
	}
	kind := otherformats.Detect(tables)
	if kind == nil {
		return ErrForeign
	}
	s.foreign, s.overlay = kind, kind.Tables(tables)
	s.options.ReadOnly = true
	if err := s.setUp(c); err != nil {
		return err
	}
	return c.overlay(s.overlay)
}

// sqlTables lists the columns of all tables except virtual tables, whose modules may be missing here.
const sqlTables = `SELECT m.name, c.name FROM sqlite_schema m LEFT JOIN pragma_table_info(m.name) c
	WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'`

func (c *conn) tables() (otherformats.File, error) {
	rows, _, err := c.run(store.Stmt{SQL: sqlTables})
	if err != nil {
		return nil, err
	}
	file := otherformats.File{}
	for _, row := range rows {
		name := string(row[0].Bytes())
		file[name] = append(file[name], string(row[1].Bytes()))
	}
	return file, nil
}
