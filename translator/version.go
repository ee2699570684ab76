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

// Abort is a statement that always refuses its batch. Behind reads it makes a
// dry run: the rows of the statements before it come back, nothing stays.
func Abort() store.Stmt { return store.Stmt{SQL: sqlAbort} }
