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

// A key of many elements can be made aside: in slices, between the commands of others, under a
// hidden name, and then published in one short transaction.
//
// The invariant: until it is published, the key is in a database that no client can select, and it
// expires soon. So no command sees it, and whatever ends its making leaves a key that the sweep
// deletes like any other that has expired. Each slice is refused when the keys that it is made of have
// changed, and puts the expiry off.

// asideNames are the commands that may be carried out aside: each makes a key of what others hold, or
// of a payload.
var asideNames = []string{
	"COPY", "SUNIONSTORE", "SINTERSTORE", "SDIFFSTORE", "ZUNIONSTORE", "ZINTERSTORE", "ZDIFFSTORE", "ZRANGESTORE",
	"GEOSEARCHSTORE", "GEORADIUS", "GEORADIUSBYMEMBER", "SORT", "BITOP", "RESTORE",
}

var asideByID = sync.OnceValue(func() []bool {
	all := make([]bool, len(commands.All()))
	for _, name := range slices.Concat(asideNames, lessNames) {
		all[commands.Lookup(name).ID()] = true
	}
	return all
})

// MayBeAside reports whether calls of the command may be carried out aside.
func MayBeAside(cmd *commands.Command) bool { return asideByID()[cmd.ID()] }

// AsideSources returns the keys that a call makes another of, or the key that it removes many elements of, and
// how many bytes its longest argument has.
func AsideSources(cmd *commands.Command, args [][]byte) (keys [][]byte, longest int) {
	if RemovesMany(cmd) {
		if mayLessen(cmd, args) {
			keys = args[1:2]
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

// sqlSizes is how many elements keys have together, where 1 KB of a string is one.
var sqlSizes = &keyed{json: `SELECT total(iif(k.type = 'string', k.count / 1024, k.count)) FROM json_each(?2) j
	CROSS JOIN keys k ON k.db = ?1 AND k.key = unhex(j.value) AND (k.dies_at IS NULL OR k.dies_at > ?3)`}

// ReadSizes reads how much there is to do for a call that is made of the keys, in elements.
func ReadSizes(env Env, keys [][]byte) store.Stmt {
	c := Call{Env: env}
	return sqlSizes.on(&c, keys)
}

// asideLease is how long the hidden key stays after a slice, in ms.
const asideLease = 60_000

// Staged is a key that is made so.
type Staged struct {
	call *Call  // about the hidden key
	name []byte // its name

	// next returns the statements of the next slice, of about so many rows, after the result of those
	// before it, which is nil for the first: they make the key. There are none when it is complete.
	next    func(before *store.Result, rows int) []store.Stmt
	publish func(c *Call, hidden []byte) Plan

	asked *Call
	begun bool
	skip  int // statements of the last slice that are not next's
}

// asideRound is how many elements a statement adds to a key that is made aside.
const asideRound = 100

// Up to AsideFew such statements, or AsideParts of a string, are not worth slices. The result of a command
// does not depend on it. They are variables for tests.
var AsideFew, AsideParts = 20, 64

// stage is a key that the call makes aside. next is given what the statements are to be about.
func (c *Call) stage(publish func(c *Call, hidden []byte) Plan, next func(hidden *Call, name []byte) func(*store.Result, int) []store.Stmt) *Staged {
	hidden := &Call{Command: c.Command, Args: c.Args, Env: c.Env}
	hidden.Env.DB, hidden.Env.Seed = schema.HiddenDB, c.Random()
	name := fmt.Appendf(nil, "%016x", hidden.Random())
	return &Staged{call: hidden, name: name, next: next(hidden, name), publish: publish, asked: c}
}

const sqlPutOff = `UPDATE keys SET expires_at = ?3 WHERE db = ?1 AND key = ?2`

// Slice returns the statements of the next slice, of about so many rows, after the result of the one
// before it, nil for the first. They are refused when one of the sources is no longer at its version
// or the hidden key is gone. There are none when the key is complete.
func (a *Staged) Slice(env Env, sources []Versions, before *store.Result, rows int) []store.Stmt {
	a.call.Env.Now, a.call.named = env.Now, nil
	if before != nil {
		before = &store.Result{Rows: before.Rows[a.skip:], Changes: before.Changes[a.skip:]}
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
	lease := append(a.call.key(a.name)[:2], store.Int(env.Now+asideLease))
	return append(append(stmts, body...), store.Stmt{SQL: sqlPutOff, Args: lease})
}

// Guarded reports whether statement i of the last slice says that it cannot go on, rather than that it is
// wrong.
func (a *Staged) Guarded(i int) bool { return i < a.skip }

// There reads a row when the hidden key is still there.
func (a *Staged) There(env Env) store.Stmt {
	a.call.Env.Now, a.call.named = env.Now, nil
	return a.call.typeOf(a.name)
}

// Drop is the statement that deletes the hidden key.
func (a *Staged) Drop() store.Stmt { return a.call.drop(a.name) }

// Publish is the plan that puts the key in its place, once it is complete.
func (a *Staged) Publish(env Env) Plan {
	c := &Call{Command: a.asked.Command, Args: a.asked.Args, Env: env}
	return a.publish(c, a.name)
}

// sqlPublish gives the hidden key ?8 its name ?2 in ?1, the hash ?4 of that, a version, ?6 as the
// time of its last change and the expiry ?7.
const sqlPublish = `UPDATE keys SET db = ?1, key = ?2, hash = ?4, version = ?5, created_at = ?3, updated_at = ?6,
	expires_at = CAST(?7 AS INTEGER) WHERE db = ` + schema.Hidden + ` AND key = ?8`

// published is the statement that gives the hidden key its name.
func (c *Call) published(key, hidden []byte, updated int64, expires store.Value) store.Stmt {
	return store.Stmt{SQL: sqlPublish, Args: c.key(key, hashValue(key), c.newVersion(), store.Int(updated), expires, store.Bytes(hidden))}
}

// making is how a write makes key. It is not there once first has run; with a nil first, value takes
// the place of what is there.
type making struct {
	key   []byte
	reply resp.Value
	first func(*Call) []store.Stmt
	value func(c *Call, key []byte) []store.Stmt
	few   int // up to so many groups of statements are not worth slices

	restored bool // the key gets an expiry and a time of its last change
	expires  store.Value
	updated  int64
}

// make is the plan of a write that makes a key.
func (c *Call) make(m making) Plan {
	if c.Env.MayStage {
		if groups := c.asideGroups(m); groups != nil {
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

// asideGroups has the key made aside by the statements of its value, nil when they are few.
func (c *Call) asideGroups(m making) *Staged {
	var groups [][]store.Stmt
	a := c.stage(
		func(c *Call, hidden []byte) Plan {
			updated := m.updated
			if !m.restored {
				updated = c.Env.Now
			}
			first := []store.Stmt{c.drop(m.key)}
			if m.first != nil {
				first = m.first(c)
			}
			return write(always(m.reply), append(first, c.published(m.key, hidden, updated, m.expires))...)
		},
		func(hidden *Call, name []byte) func(*store.Result, int) []store.Stmt {
			groups = grouped(m.value(hidden, name))
			return func(_ *store.Result, rows int) []store.Stmt {
				n := min(max(1, rows/asideRound), len(groups))
				slice := slices.Concat(groups[:n]...)
				groups = groups[n:]
				return slice
			}
		})
	if len(groups) <= m.few {
		return nil
	}
	return a
}

// grouped parts the statements that make a key: those up to the one that makes its row are together,
// and so is one that goes by what the statement before it has changed with that.
func grouped(stmts []store.Stmt) (groups [][]store.Stmt) {
	row := -1
	for i, s := range stmts {
		if strings.HasPrefix(s.SQL, "INSERT INTO keys(") {
			row = i
		}
	}
	for i, s := range stmts {
		s.SkipIf = nil // it knows the results of one batch
		if i > 0 && (i <= row || strings.Contains(s.SQL, "changes()")) {
			groups[len(groups)-1] = append(groups[len(groups)-1], s)
		} else {
			groups = append(groups, []store.Stmt{s})
		}
	}
	return groups
}
