package translator

import (
	"bytes"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// A SET creates the key or reuses its row. An expired key, or one of another type, starts over: the trigger keys_anew
// deletes its elements. KEEPTTL also keeps the TTL of a key of another type.
const (
	insertString        = `INSERT INTO keys(db, key, hash, type, version, expires_at, created_at, updated_at, value) `
	onConflictOverwrite = ` ON CONFLICT(db, key) DO UPDATE SET type = 'string', version = version + 1, updated_at = ?3,
		created_at = iif(type <> 'string' OR dies_at <= ?3, ?3, created_at), count = 0, value = excluded.value, expires_at = `
	keepTTL = `iif(dies_at <= ?3, NULL, expires_at)`

	sqlSetAnyKey     = insertString + `VALUES(?1, ?2, ?5, 'string', ?4, ?7, ?3, ?3, ?6)` + onConflictOverwrite + `excluded.expires_at`
	sqlSetKey        = sqlSetAnyKey + unlessOverwritten
	sqlSetKeyKeepTTL = insertString + `VALUES(?1, ?2, ?5, 'string', ?4, NULL, ?3, ?3, ?6)` + onConflictOverwrite + keepTTL + unlessOverwritten

	// Most overwritten strings are live and not in parts. For these, the UPDATE takes half the time of the upsert,
	// which is then skipped. For new keys the UPDATE costs nothing.
	sqlOverwrite        = `UPDATE keys SET value = ?6, version = version + 1, updated_at = ?3, expires_at = ?7` + whereWhole
	sqlOverwriteKeepTTL = `UPDATE keys SET value = ?6, version = version + 1, updated_at = ?3` + whereWhole
	whereWhole          = ` WHERE ` + live + ` AND type = 'string' AND count = 0`
	unlessOverwritten   = ` WHERE changes() = 0`
)

// expiry holds the TTL after a SET; the zero value removes it.
type expiry struct {
	given bool  // EX, PX, EXAT or PXAT
	at    int64 // Unix ms
	keep  bool  // KEEPTTL
}

// setString appends the statements that set key to the string value.
func (c *Call) setString(stmts []store.Stmt, key, value []byte, exp expiry) []store.Stmt {
	if exp.given && exp.at <= c.Env.Now {
		return append(stmts, c.drop(key))
	}
	if isLong(value) {
		return append(c.setString(stmts, key, nil, exp), c.makeLong(key, value)...)
	}
	args := c.newString(key, value)
	if exp.keep {
		return append(stmts, store.Stmt{SQL: sqlOverwriteKeepTTL, Args: args},
			store.Stmt{SQL: sqlSetKeyKeepTTL, Args: args, SkipIf: somethingChanged})
	}
	args = append(args, exp.column())
	return append(stmts, store.Stmt{SQL: sqlOverwrite, Args: args, Supersedes: sqlSetAnyKey}, store.Stmt{SQL: sqlSetKey, Args: args, SkipIf: somethingChanged})
}

// storeString plans a write that sets key, of any type, to the string value.
func (c *Call) storeString(key, value []byte, reply resp.Value) Plan {
	return c.create(creation{
		key: key, reply: reply, few: MaxUnstagedParts,
		value: func(c *Call, key []byte) []store.Stmt { return c.setString(nil, key, value, expiry{}) },
	})
}

// newString returns the arguments of a statement that sets key to the string value: ?1 db, ?2 key, ?3 now, ?4 version,
// ?5 hash, ?6 value, with capacity for one more.
func (c *Call) newString(key, value []byte) []store.Value {
	return append(make([]store.Value, 0, 7),
		store.Int(int64(c.Env.DB)), store.Bytes(key), store.Int(c.Env.Now), c.newVersion(), hashValue(key), store.Bytes(value))
}

// column returns the new value of the column expires_at.
func (e expiry) column() (at store.Value) {
	if e.given {
		at = store.Digits(e.at)
	}
	return at
}

// A string that is created only if the key is missing needs no read: the unique name refuses a second row.
const sqlAddString = insertString + `VALUES(?1, ?2, ?5, 'string', ?4, ?7, ?3, ?3, ?6)`

// addString returns the statements that create the string value at key, and refuse an existing key. The expiry is empty
// or in the future.
func (c *Call) addString(key, value []byte, exp expiry, refused *resp.Value) []store.Stmt {
	var long []store.Stmt
	if isLong(value) {
		value, long = nil, c.makeLong(key, value)
	}
	add := store.Stmt{SQL: sqlAddString, Args: append(c.newString(key, value), exp.column()), Refused: refused}
	return append([]store.Stmt{c.purge(key), add}, long...)
}

// deadline returns the absolute time of a TTL option: n seconds or ms, from now or since the epoch. As in Redis, it
// returns false for an n that is not positive or overflows.
func (c *Call) deadline(n int64, seconds, absolute bool) (int64, bool) {
	if n <= 0 {
		return 0, false
	}
	return c.expireAt(n, seconds, absolute)
}

// options holds the options of SET, GETEX and similar commands.
type options struct {
	nx, xx, get, keep, persist bool
	compare                    comparison
	unit                       int  // position of the last TTL option, 0 for none
	noRepeat                   bool // at most one TTL option
}

// parseOptions parses options from argument i on. own parses the options of the command: it returns the number of
// arguments of the option, 0 if it is not one. A TTL option may be repeated with the same word, and the last one wins.
func (c *Call) parseOptions(i int, own func(i int, o *options) (words int)) (o options, ok bool) {
	for ; i < len(c.Args); i++ {
		words := own(i, &o)
		switch {
		case words > 0:
			i += words - 1
		case c.isTTL(i) && !o.keep && !o.persist && i+1 < len(c.Args) &&
			(o.unit == 0 || !o.noRepeat && bytes.EqualFold(c.Args[i], c.Args[o.unit])):
			o.unit = i
			i++
		default:
			return o, false
		}
	}
	return o, true
}

// isTTL reports whether argument i is the unit of a TTL.
func (c *Call) isTTL(i int) bool {
	return c.is(i, "EX") || c.is(i, "PX") || c.is(i, "EXAT") || c.is(i, "PXAT")
}

// setOption parses an option that only SET has.
func (c *Call) setOption(i int, o *options) (words int) {
	if c.is(i, "GET") {
		o.get = true
		return 1
	}
	if m := c.comparison(i); m.word != 0 && !o.nx && !o.xx && (o.compare.word == 0 || o.compare.word == m.word) {
		o.compare = m
		return 2
	}
	return c.msetexOption(i, o)
}

// msetexOption parses an option that SET and MSETEX share.
func (c *Call) msetexOption(i int, o *options) (words int) {
	switch {
	case c.is(i, "NX") && !o.xx && o.compare.word == 0:
		o.nx = true
	case c.is(i, "XX") && !o.nx && o.compare.word == 0:
		o.xx = true
	case c.is(i, "KEEPTTL") && o.unit == 0:
		o.keep = true
	default:
		return 0
	}
	return 1
}

// expiry returns the change of the TTL by the options, or the error reply for an invalid time.
func (c *Call) expiry(o options) (e expiry, bad resp.Value) {
	if o.unit == 0 {
		return expiry{keep: o.keep}, bad
	}
	n, ok := parseInt(c.Args[o.unit+1])
	if !ok {
		return e, notInteger
	}
	at, ok := c.deadline(n, c.is(o.unit, "EX") || c.is(o.unit, "EXAT"), len(c.Args[o.unit]) == len("EXAT"))
	if !ok {
		return e, invalidExpire(c).Reply
	}
	return expiry{given: true, at: at}, bad
}

func set(c *Call) Plan {
	if len(c.Args) == 3 {
		return write(decodeOK, c.setString(make([]store.Stmt, 0, 2), c.Args[1], c.Args[2], expiry{})...)
	}
	o, ok := c.parseOptions(3, c.setOption)
	if !ok {
		return fail(errSyntax)
	}
	exp, bad := c.expiry(o)
	if bad.IsError() {
		return answer(bad)
	}
	key, value := c.Args[1], c.Args[2]
	if o.get || o.compare.digest() || isLong(o.compare.with) {
		return c.setGet(key, value, o, exp)
	}
	var stmts []store.Stmt
	switch {
	case o.compare.word != 0:
		stmts = c.guardCompare(key, o.compare, &resp.Nil)
	case o.nx && !exp.keep && (!exp.given || exp.at > c.Env.Now) && !isLong(value):
		add := store.Stmt{SQL: sqlAddOrReplace, Args: append(c.newString(key, value), exp.column())}
		return write(okIfChanged, add)
	case o.nx && !exp.keep && (!exp.given || exp.at > c.Env.Now):
		return write(decodeOK, c.addString(key, value, exp, &resp.Nil)...)
	case o.nx:
		stmts = append(stmts, c.guardAbsent(key, &resp.Nil))
	case o.xx:
		stmts = append(stmts, c.guardPresent(key, &resp.Nil))
	}
	return write(decodeOK, c.setString(stmts, key, value, exp)...)
}

// setGet replies with the old value. A condition is checked in Go, since the old value must be read anyway. A SET
// without GET also comes here if SQL cannot check its condition: a digest or a long string.
func (c *Call) setGet(key, value []byte, o options, exp expiry) Plan {
	get := c.stmt(sqlGet, key)
	if !o.nx && !o.xx && o.compare.word == 0 {
		stmts := append(make([]store.Stmt, 0, 4), get, c.guardString(key))
		return write(decodeString, c.setString(stmts, key, value, exp)...)
	}
	return readThen(func(r *store.Result) Plan {
		old := decodeString(r)
		done, refused := old, old
		if !o.get {
			done, refused = resp.OK, resp.Nil
		}
		switch {
		case old.IsError():
			return answer(old)
		case !old.IsNull() && o.compare.invalid():
			return fail(errDigest)
		case o.nx != old.IsNull() && o.compare.word == 0, !o.compare.holds(old):
			return answer(refused)
		}
		return write(always(done), c.setString(nil, key, value, exp)...)
	}, get)
}

// okIfChanged replies OK if statement 0 changed a row, otherwise nil.
func okIfChanged(r *store.Result) resp.Value {
	if r.Changes[0] == 0 {
		return resp.Nil
	}
	return resp.OK
}

func decodeOK(*store.Result) resp.Value { return resp.OK }

// sqlAddOrReplace creates the string if no live key exists.
const sqlAddOrReplace = sqlAddString + onConflictOverwrite + `excluded.expires_at WHERE dies_at <= ?3`

func setnx(c *Call) Plan {
	key, value := c.Args[1], c.Args[2]
	if isLong(value) {
		return write(always(resp.One), c.addString(key, value, expiry{}, &resp.Zero)...)
	}
	return write(changed(0), store.Stmt{SQL: sqlAddOrReplace, Args: append(c.newString(key, value), store.Value{})})
}

// setex translates SETEX and PSETEX.
func setex(seconds bool) func(*Call) Plan {
	return func(c *Call) Plan {
		n, ok := parseInt(c.Args[2])
		if !ok {
			return fail(errNotInteger)
		}
		at, ok := c.deadline(n, seconds, false)
		if !ok {
			return invalidExpire(c)
		}
		return write(decodeOK, c.setString(nil, c.Args[1], c.Args[3], expiry{given: true, at: at})...)
	}
}

func getset(c *Call) Plan { return c.setGet(c.Args[1], c.Args[2], options{}, expiry{}) }
