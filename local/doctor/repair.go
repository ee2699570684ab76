package doctor

import (
	"errors"
	"time"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// ErrBeyond is returned for a file that Repair cannot fix. The caller must leave it unchanged.
var ErrBeyond = errors.New("the file is damaged beyond repair: restore a backup, or copy the readable rows to a new file (--recover NEW)")

// Repair fixes every finding that has a fix. The caller runs it in one transaction, undoes the transaction if
// Repair fails, and examines the file again after it.
func (e Exam) Repair() error {
	if e.Version != schema.Version {
		return errors.New("only files with the current schema version can be repaired: run meowdis migrate first")
	}
	if err := e.reindex(); err != nil {
		return err
	}
	have, err := ReadTables(e.Query)
	if err != nil {
		return err
	}
	want, err := e.expected(have)
	switch {
	case err != nil:
		return err
	case len(tablesOf(missing(want, have))) > 0:
		return ErrBeyond
	}
	if err := recreate(e.Query, want); err != nil {
		return err
	}
	prefix := store.String(LostAndFound + time.UnixMilli(e.Now).UTC().Format("20060102-150405") + ":")
	// Element names come first: the elements that leave their key are adopted later.
	for _, n := range namedTables[1:] {
		if err := n.fixHashes(e.Query); err != nil {
			return err
		}
	}
	for _, c := range Checks() {
		e.step(c.Name)
		if err := c.repairIfBroken(e.Query, prefix); err != nil {
			return err
		}
	}
	if err := namedTables[0].fixHashes(e.Query); err != nil {
		return err
	}
	if err := e.repairSearch(); err != nil {
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

// reindex rebuilds the indexes if they do not match their tables. It fails for any other damage.
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

// sweep deletes expired keys and fields, and the elements of deleted keys.
func (e Exam) sweep() error {
	if err := DeletePending(e.Query); err != nil {
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

// DeletePending deletes the elements that deleted keys have left.
func DeletePending(q Query) error { return runAll(q, deletePending()...) }
