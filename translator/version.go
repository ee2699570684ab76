package translator

import (
	"github.com/meowdis/meowdis/store"
)

// Version is what WATCH remembers of a key: a number that differs whenever the
// key has changed, been deleted or made again. NULL stands for a missing key.
type Version struct {
	DB  int
	Key []byte
	At  store.Value
}

const (
	sqlVersion      = `SELECT version FROM keys WHERE ` + live
	sqlGuardVersion = `INSERT INTO guard SELECT NULL WHERE (SELECT version FROM keys WHERE ` + live + `) IS NOT ?4`
	sqlAbort        = `INSERT INTO guard VALUES(NULL)`
)

// ReadVersion is the statement that reads the version of key: no row for a
// missing key.
func ReadVersion(env Env, key []byte) store.Stmt {
	c := Call{Env: env}
	return c.stmt(sqlVersion, key)
}

// Guard is the statement that refuses a batch when the key is no longer at the
// version v.
func (v Version) Guard(env Env) store.Stmt {
	env.DB = v.DB
	c := Call{Env: env}
	return c.stmt(sqlGuardVersion, v.Key, v.At)
}

// Versions is Version for many keys, whose number is too large for a statement
// each. At differs from that of any later state of theirs.
type Versions struct {
	DB   int
	Keys [][]byte
	At   store.Value
}

const (
	// A version is below 2^53, so that its digits are exact on every engine.
	allVersions = `(SELECT group_concat(ifnull(CAST(version AS TEXT), '-')) FROM (SELECT k.version FROM json_each(?2) j
		LEFT JOIN keys k ON k.db = ?1 AND k.key = unhex(j.value) AND (k.dies_at IS NULL OR k.dies_at > ?3) ORDER BY j.key))`
	sqlVersions      = `SELECT ` + allVersions
	sqlGuardVersions = `INSERT INTO guard SELECT NULL WHERE ` + allVersions + ` IS NOT ?4`
)

// ReadVersions is the statement that reads At of keys of the database env.DB.
func ReadVersions(env Env, keys [][]byte) store.Stmt {
	c := Call{Env: env}
	return store.Stmt{SQL: sqlVersions, Args: c.list(keys)}
}

// Guard is the statement that refuses a batch when any of the keys is no longer
// at its version.
func (v Versions) Guard(env Env) store.Stmt {
	env.DB = v.DB
	c := Call{Env: env}
	return store.Stmt{SQL: sqlGuardVersions, Args: append(c.list(v.Keys), v.At)}
}

// Abort is a statement that always refuses its batch. After reads it makes a
// dry run: the rows of the statements before it come back, nothing stays.
func Abort() store.Stmt { return store.Stmt{SQL: sqlAbort} }
