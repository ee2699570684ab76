package translator

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// A staged build creates a key of many elements in slices, between the commands of other clients. The key has a hidden
// name until one short transaction publishes it.
//
// The invariant: until it is published, the key is in a database that no client can select, and it expires soon. So no
// command sees it, and if the build stops early, the sweep deletes the key like any other expired key. A slice is
// refused if the source keys have changed. Each slice extends the expiry.

// stagedBuildNames lists the commands with staged builds: each creates a key from other keys, or from a payload.
var stagedBuildNames = []string{
	"COPY", "SUNIONSTORE", "SINTERSTORE", "SDIFFSTORE", "ZUNIONSTORE", "ZINTERSTORE", "ZDIFFSTORE", "ZRANGESTORE",
	"GEOSEARCHSTORE", "GEORADIUS", "GEORADIUSBYMEMBER", "SORT", "BITOP", "RESTORE", "RESTORE-ASKING",
}

// stagedForm says how calls of a command may be staged.
type stagedForm byte

const (
	notStaged stagedForm = iota
	stagedBuild
	stagedChange
	stagedAddition
)

// stagedByID holds the form of each command, since every call of a frequent command looks it up.
var stagedByID = sync.OnceValue(func() []stagedForm {
	all := make([]stagedForm, len(commands.All()))
	for form, names := range [][]string{stagedBuild: stagedBuildNames, stagedChange: stagedChangeNames, stagedAddition: stagedAdditionNames} {
		for _, name := range names {
			all[commands.Lookup(name).ID()] = stagedForm(form)
		}
	}
	return all
})

// MayStage reports whether calls of the command may be staged.
func MayStage(cmd *commands.Command) bool { return stagedByID()[cmd.ID()] != notStaged }

// ChangesMany reports whether a staged call of the command would copy the elements of its key.
func ChangesMany(cmd *commands.Command) bool { return stagedByID()[cmd.ID()] >= stagedChange }

// AddsMany reports whether the command may be a staged addition.
func AddsMany(cmd *commands.Command) bool { return stagedByID()[cmd.ID()] == stagedAddition }

// StagedSources returns the source keys of a call, or the keys that it may change many elements of, and the size in
// bytes of its longest argument.
func StagedSources(cmd *commands.Command, args [][]byte) (keys [][]byte, longest int) {
	if ChangesMany(cmd) {
		if mayChangeMany(cmd, args) {
			for _, ref := range cmd.KeysOf(args) {
				keys = append(keys, args[ref.Pos])
			}
		}
		return keys, 0
	}
	for _, ref := range cmd.KeysOf(args) {
		if ref.Access.OnlyReads() {
			keys = append(keys, args[ref.Pos])
		}
	}
	for _, arg := range args {
		longest = max(longest, len(arg))
	}
	return keys, longest
}

// sqlSizes returns the total number of elements of keys. 1 KB of a string counts as one.
var sqlSizes = &keyListSQL{json: `SELECT total(iif(k.type = 'string', k.count / 1024, k.count)) FROM json_each(?2) j
	CROSS JOIN keys k ON k.db = ?1 AND k.key = unhex(j.value) AND (k.dies_at IS NULL OR k.dies_at > ?3)`}

// ReadSizes returns the statement that estimates the work of a call with the source keys, in elements.
func ReadSizes(env Env, keys [][]byte) store.Stmt {
	c := Call{Env: env}
	return sqlSizes.stmt(&c, keys)
}

// The hidden key expires stagedLease ms after a slice.
const stagedLease = 60_000

// Staged builds a hidden key in slices and publishes it.
type Staged struct {
	call *Call  // a call about the hidden key
	name []byte // the name of the hidden key

	// next returns the statements of the next slice, of about rows rows. before is the result of the previous slice,
	// nil for the first slice, which creates the key. An empty slice ends the build.
	next    func(before *store.Result, rows int) []store.Stmt
	publish func(c *Call, hidden []byte) Plan

	asked *Call
	begun bool
	skip  int // number of guards before next's statements in the last slice
}

// stagedRound limits the elements that one statement of a staged build adds.
const stagedRound = 100

// Builds with at most MaxUnstagedStmts such statements, or MaxUnstagedParts parts of a string, are not staged. The
// result of a command does not depend on them. They are variables for tests.
var MaxUnstagedStmts, MaxUnstagedParts = 20, 64

// stage returns a staged build. next receives the call and the name of the hidden key.
func (c *Call) stage(publish func(c *Call, hidden []byte) Plan, next func(hidden *Call, name []byte) func(*store.Result, int) []store.Stmt) *Staged {
	hidden := &Call{Command: c.Command, Args: c.Args, Env: c.Env}
	hidden.Env.DB, hidden.Env.Seed = schema.HiddenDB, c.Random()
	name := fmt.Appendf(nil, "%016x", hidden.Random())
	return &Staged{call: hidden, name: name, next: next(hidden, name), publish: publish, asked: c}
}

const sqlExtendLease = `UPDATE keys SET expires_at = ?3 WHERE db = ?1 AND key = ?2`

// Slice returns the statements of the next slice, of about rows rows. before is the result of the previous slice, nil
// for the first one. The batch is refused if the version of a source has changed or the hidden key is missing. Without
// statements the key is complete.
func (a *Staged) Slice(env Env, sources []Versions, before *store.Result, rows int) []store.Stmt {
	a.call.Env.Now, a.call.sharedArgs = env.Now, nil
	if before != nil {
		before = &store.Result{Rows: before.Rows[a.skip:], Changes: before.Changes[a.skip:], Work: before.Work}
	}
	body := a.next(before, rows)
	if len(body) == 0 {
		return nil
	}
	var stmts []store.Stmt
	for _, v := range sources {
		stmts = append(stmts, v.Guard(env))
	}
	if a.begun {
		stmts = append(stmts, a.call.guardPresent(a.name, nil))
	}
	a.begun, a.skip = true, len(stmts)
	lease := append(a.call.key(a.name)[:2], store.Int(env.Now+stagedLease))
	return append(append(stmts, body...), store.Stmt{SQL: sqlExtendLease, Args: lease})
}

// IsGuard reports whether statement i of the last slice is a guard: its refusal means that the build cannot continue,
// not that a statement is wrong.
func (a *Staged) IsGuard(i int) bool { return i < a.skip }

// Exists returns the statement that reads a row if the hidden key still exists.
func (a *Staged) Exists(env Env) store.Stmt {
	a.call.Env.Now, a.call.sharedArgs = env.Now, nil
	return a.call.typeOf(a.name)
}

// Drop returns the statement that deletes the hidden key.
func (a *Staged) Drop() store.Stmt { return a.call.drop(a.name) }

// Publish plans the last transaction, which renames the complete key.
func (a *Staged) Publish(env Env) Plan {
	c := &Call{Command: a.asked.Command, Args: a.asked.Args, Env: env}
	return a.publish(c, a.name)
}

// sqlPublish moves the hidden key ?8 to the name ?2 in the database ?1 and sets its hash ?4, a version, the time ?6 of
// its last change, and the expiry ?7.
const sqlPublish = `UPDATE keys SET db = ?1, key = ?2, hash = ?4, version = ?5, created_at = ?3, updated_at = ?6,
	expires_at = CAST(?7 AS INTEGER) WHERE db = ` + schema.Hidden + ` AND key = ?8`

// publishStmt returns the statement that renames the hidden key.
func (c *Call) publishStmt(key, hidden []byte, updated int64, expires store.Value) store.Stmt {
	return store.Stmt{SQL: sqlPublish, Args: c.key(key, hashValue(key), c.newVersion(), store.Int(updated), expires, store.Bytes(hidden))}
}

// creation describes a write that creates key. The statements of first remove an existing key; with a nil first, value
// replaces it.
type creation struct {
	key   []byte
	reply resp.Value
	first func(*Call) []store.Stmt
	value func(c *Call, key []byte) []store.Stmt
	few   int // with at most this many groups of statements the write is not staged

	// elements returns the elements of a list, set, hash or sorted set, and the zero value for another type. A staged
	// build adds them in the order of their rows, instead of running the statements of value.
	elements func() addition

	restored bool // the key gets expires and updated
	expires  store.Value
	updated  int64
}

// create plans a write that creates a key.
func (c *Call) create(m creation) Plan {
	if c.Env.MayStage {
		if groups := c.stagedCreation(m); groups != nil {
			return Plan{Staged: groups}
		}
	}
	var stmts []store.Stmt
	if m.first != nil {
		stmts = m.first(c)
	}
	stmts = append(stmts, m.value(c, m.key)...)
	if m.restored {
		stmts = append(stmts, store.Stmt{SQL: sqlRestored, Args: append(c.key(m.key)[:2], m.expires, store.Int(m.updated))})
	}
	return write(always(m.reply), stmts...)
}

// stagedCreation returns the staged build of the key, or nil if its value is small.
func (c *Call) stagedCreation(m creation) *Staged {
	var b *additionBuild
	if m.elements != nil {
		if a := m.elements(); a.add != nil {
			if a.isFew(m.few) {
				return nil
			}
			b = newAdditionBuild(a)
		}
	}
	var groups [][]store.Stmt
	a := c.stage(
		func(c *Call, hidden []byte) Plan {
			updated := m.updated
			if !m.restored {
				updated = c.Env.Now
			}
			stmts := []store.Stmt{c.drop(m.key)}
			if m.first != nil {
				stmts = m.first(c)
			}
			if b != nil {
				stmts = append(stmts, b.countStmts(b.hidden, hidden)...)
			}
			return write(always(m.reply), append(stmts, c.publishStmt(m.key, hidden, updated, m.expires))...)
		},
		func(hidden *Call, name []byte) func(*store.Result, int) []store.Stmt {
			if b != nil {
				return b.begin(hidden, name)
			}
			groups = groupStmts(m.value(hidden, name))
			return func(_ *store.Result, rows int) []store.Stmt {
				n := min(max(1, rows/stagedRound), len(groups))
				slice := slices.Concat(groups[:n]...)
				groups = groups[n:]
				return slice
			}
		})
	if b == nil && len(groups) <= m.few {
		return nil
	}
	return a
}

// groupStmts splits the statements that create a key into groups that run together. All statements up to the one that
// creates the row are one group, and a statement that uses changes() stays with the one before it.
func groupStmts(stmts []store.Stmt) (groups [][]store.Stmt) {
	row := -1
	for i, s := range stmts {
		if strings.HasPrefix(s.SQL, "INSERT INTO keys(") {
			row = i
		}
	}
	for i, s := range stmts {
		s.SkipIf = nil // SkipIf may use results of other slices
		if i > 0 && (i <= row || strings.Contains(s.SQL, "changes()")) {
			groups[len(groups)-1] = append(groups[len(groups)-1], s)
		} else {
			groups = append(groups, []store.Stmt{s})
		}
	}
	return groups
}
