package doctor

import (
	"errors"
	"time"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// ErrBeyond is the error of a file that is damaged beyond what Repair can do. It
// must be left as it is.
var ErrBeyond = errors.New("the file is damaged beyond repair: go back to a backup, or copy the readable rows to a new file (--recover NEW)")

// Repair mends everything that has a fix. It must run in one transaction that is
// undone when it fails; examine the file again after it.
func (e Exam) Repair() error {
	if e.Version != schema.Version {
		return errors.New("only files of the present schema version are mended: meowdis migrate brings a file up to date")
	}
	if err := e.reindex(); err != nil {
		return err
	}
	if have, err := ReadTables(e.Query); err != nil {
		return err
	} else if len(tablesOf(missing(e.Tables, have))) > 0 {
		return ErrBeyond
	}
	if err := remake(e.Query, e.Tables); err != nil {
		return err
	}
	prefix := store.String(LostAndFound + time.UnixMilli(e.Now).UTC().Format("20060102-150405") + ":")
	// The elements' names first: those that leave their key are adopted then.
	for _, n := range namedTables[1:] {
		if err := n.file(e.Query); err != nil {
			return err
		}
	}
	for _, c := range Checks() {
		e.step(c.Name)
		if err := c.mend(e.Query, prefix); err != nil {
			return err
		}
	}
	if err := namedTables[0].file(e.Query); err != nil {
		return err
	}
	return e.sweep()
}

func tablesOf(objects []Object) (tables []Object) {
	for _, o := range objects {
		if o.Type == "table" {
			tables = append(tables, o)
		}
	}
	return tables
}

// reindex makes the indexes anew when they do not fit, and refuses damage that
// is not in them.
func (e Exam) reindex() error {
	e.step("pages and indexes")
	found, broken, err := e.integrity()
	switch {
	case err != nil || len(found) == 0:
		return err
	case broken:
		return ErrBeyond
	}
	if _, err := e.Query("REINDEX"); err != nil {
		return err
	}
	if found, _, err = e.integrity(); err == nil && len(found) > 0 {
		err = ErrBeyond
	}
	return err
}

// sweep deletes what has expired, and what deleted keys have left.
func (e Exam) sweep() error {
	if err := Bury(e.Query); err != nil {
		return err
	}
	for _, sql := range []string{
		`DELETE FROM keys WHERE dies_at <= ?1`,
		`UPDATE keys SET count = count - n FROM (SELECT key_id, count(*) AS n FROM hashes WHERE expires_at <= ?1 GROUP BY key_id) WHERE id = key_id`,
		`DELETE FROM hashes WHERE expires_at <= ?1`,
	} {
		if _, err := e.Query(sql, store.Int(e.Now)); err != nil {
			return err
		}
	}
	return nil
}

// Bury deletes the elements that deleted keys have left.
func Bury(q Query) error { return runAll(q, bury()...) }
