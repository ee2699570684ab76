package translator

import (
	"github.com/meowdis/meowdis/store"
)

// Version holds the state of a key that WATCH records: a number that differs after the key has changed, been deleted or
// been created again. NULL stands for a missing key.
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

// ReadVersion returns the statement that reads the version of key. A missing key has no row.
func ReadVersion(env Env, key []byte) store.Stmt {
	c := Call{Env: env}
	return c.stmt(sqlVersion, key)
}

// Guard returns the statement that refuses a batch if the version of the key is not v.
func (v Version) Guard(env Env) store.Stmt {
	env.DB = v.DB
	c := Call{Env: env}
	return c.stmt(sqlGuardVersion, v.Key, v.At)
}

// Versions is Version for many keys, too many for a statement each. At differs after any of them has changed.
type Versions struct {
	DB   int
	Keys [][]byte
	At   store.Value
}

const (
	// A version is below 2^53, so its digits are exact on every engine.
	allVersions = `(SELECT group_concat(ifnull(CAST(version AS TEXT), '-')) FROM (SELECT k.version FROM json_each(?2) j
		LEFT JOIN keys k ON k.db = ?1 AND k.key = unhex(j.value) AND (k.dies_at IS NULL OR k.dies_at > ?3) ORDER BY j.key))`
	sqlVersions      = `SELECT ` + allVersions
	sqlGuardVersions = `INSERT INTO guard SELECT NULL WHERE ` + allVersions + ` IS NOT ?4`
)

// ReadVersions returns the statement that reads At for keys of the database env.DB.
func ReadVersions(env Env, keys [][]byte) store.Stmt {
	c := Call{Env: env}
	return store.Stmt{SQL: sqlVersions, Args: c.list(keys)}
}

// Guard returns the statement that refuses a batch if any of the keys has another version.
func (v Versions) Guard(env Env) store.Stmt {
	env.DB = v.DB
	c := Call{Env: env}
	return store.Stmt{SQL: sqlGuardVersions, Args: append(c.list(v.Keys), v.At)}
}

// Abort returns a statement that always refuses its batch. After reads it makes a dry run: the batch returns the rows
// of the statements before it and changes nothing.
func Abort() store.Stmt { return store.Stmt{SQL: sqlAbort} }
