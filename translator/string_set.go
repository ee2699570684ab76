package translator

import (
	"bytes"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// A SET makes the key, or takes the row of the one that is there: an expired key
// begins anew, and so does one of another type, whose elements go (the trigger
// keys_anew). What keeps its TTL keeps that of a key of another type, too.
const (
	makeString = `INSERT INTO keys(db, key, hash, type, version, expires_at, created_at, updated_at, value) `
	overwrite  = ` ON CONFLICT(db, key) DO UPDATE SET type = 'string', version = version + 1, updated_at = ?3,
		created_at = iif(type <> 'string' OR dies_at <= ?3, ?3, created_at), count = 0, value = excluded.value, expires_at = `
	keptTTL = `iif(dies_at <= ?3, NULL, expires_at)`

	sqlSetAnyKey     = makeString + `VALUES(?1, ?2, ?5, 'string', ?4, ?7, ?3, ?3, ?6)` + overwrite + `excluded.expires_at`
	sqlSetKey        = sqlSetAnyKey + unlessSetAgain
	sqlSetKeyKeepTTL = makeString + `VALUES(?1, ?2, ?5, 'string', ?4, NULL, ?3, ?3, ?6)` + overwrite + keptTTL + unlessSetAgain

	// Most strings that are overwritten are live and not in parts: an UPDATE is half the work of
	// the upsert, which is moot then, and no work of it where keys are new.
	sqlSetAgain        = `UPDATE keys SET value = ?6, version = version + 1, updated_at = ?3, expires_at = ?7` + whole
	sqlSetAgainKeepTTL = `UPDATE keys SET value = ?6, version = version + 1, updated_at = ?3` + whole
	whole              = ` WHERE ` + live + ` AND type = 'string' AND count = 0`
	unlessSetAgain     = ` WHERE changes() = 0`
)

// expiry is what a SET makes of the key's TTL: without any, there is none.
type expiry struct {
	given bool  // EX, PX, EXAT or PXAT
	at    int64 // Unix ms
	keep  bool  // KEEPTTL
}

// setString appends the statements that make key the string value.
func (c *Call) setString(stmts []store.Stmt, key, value []byte, exp expiry) []store.Stmt {
	if exp.given && exp.at <= c.Env.Now {
		return append(stmts, c.drop(key))
	}
	if isLong(value) {
		return append(c.setString(stmts, key, nil, exp), c.makeLong(key, value)...)
	}
	args := c.newString(key, value)
	if exp.keep {
		return append(stmts, store.Stmt{SQL: sqlSetAgainKeepTTL, Args: args},
			store.Stmt{SQL: sqlSetKeyKeepTTL, Args: args, SkipIf: somethingChanged})
	}
	args = append(args, exp.column())
	return append(stmts, store.Stmt{SQL: sqlSetAgain, Args: args, Supersedes: sqlSetAnyKey}, store.Stmt{SQL: sqlSetKey, Args: args, SkipIf: somethingChanged})
}

// storeString is the plan that makes key the string value, whatever it was.
func (c *Call) storeString(key, value []byte, reply resp.Value) Plan {
	return c.make(making{
		key: key, reply: reply, few: AsideParts,
		value: func(c *Call, key []byte) []store.Stmt { return c.setString(nil, key, value, expiry{}) },
	})
}

// newString is the arguments of a statement that makes key the string value: ?1 db, ?2 key,
// ?3 now, ?4 version, ?5 hash, ?6 value, with room for one more.
func (c *Call) newString(key, value []byte) []store.Value {
	return append(make([]store.Value, 0, 7),
		store.Int(int64(c.Env.DB)), store.Bytes(key), store.Int(c.Env.Now), c.newVersion(), hashValue(key), store.Bytes(value))
}

// column is what the column expires_at becomes.
func (e expiry) column() (at store.Value) {
	if e.given {
		at = store.Digits(e.at)
	}
	return at
}

// A string that is only made where there is no key needs no look at what is there: the
// name, which is unique, refuses.
const sqlAddString = makeString + `VALUES(?1, ?2, ?5, 'string', ?4, ?7, ?3, ?3, ?6)`

// addString is the statements that make key the string value, and refuse when there is
// a key. The expiry is none, or in the future.
func (c *Call) addString(key, value []byte, exp expiry, refused *resp.Value) []store.Stmt {
	var long []store.Stmt
	if isLong(value) {
		value, long = nil, c.makeLong(key, value)
	}
	add := store.Stmt{SQL: sqlAddString, Args: append(c.newString(key, value), exp.column()), Refused: refused}
	return append([]store.Stmt{c.purge(key), add}, long...)
}

// deadline is the absolute time that a TTL option means: n seconds or ms, from
// now or since the epoch. False when it is not positive or overflows, which
// Redis refuses.
func (c *Call) deadline(n int64, seconds, absolute bool) (int64, bool) {
	if n <= 0 {
		return 0, false
	}
	return c.expireAt(n, seconds, absolute)
}

// options are those of SET, GETEX and their like.
type options struct {
	nx, xx, get, keep, persist bool
	compare                    comparison
	unit                       int  // position of the TTL option that counts, 0 without one
	once                       bool // a TTL option may not come again
}

// parseOptions reads options from argument i on. own reads those of the command:
// it returns how many args one takes, 0 for none of them. The word of a TTL option
// may come again, and then the last one counts; another one may not.
func (c *Call) parseOptions(i int, own func(i int, o *options) (words int)) (o options, ok bool) {
	for ; i < len(c.Args); i++ {
		words := own(i, &o)
		switch {
		case words > 0:
			i += words - 1
		case c.isTTL(i) && !o.keep && !o.persist && i+1 < len(c.Args) &&
			(o.unit == 0 || !o.once && bytes.EqualFold(c.Args[i], c.Args[o.unit])):
			o.unit = i
			i++
		default:
			return o, false
		}
	}
	return o, true
}

// isTTL reports whether argument i says in which unit a TTL follows.
func (c *Call) isTTL(i int) bool {
	return c.is(i, "EX") || c.is(i, "PX") || c.is(i, "EXAT") || c.is(i, "PXAT")
}

// setOption reads an option that only SET has.
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

// msetexOption reads an option that SET and MSETEX have.
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

// expiry is what the options make of the key's TTL, or the error reply for a
// time that is none.
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

// setGet answers the old value. A condition decides on what was read, since the
// old value is the answer either way. A SET without GET comes here when it
// compares what SQL cannot, a digest or a long string.
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

// okIfChanged answers OK when statement 0 has changed something, and nil otherwise.
func okIfChanged(r *store.Result) resp.Value {
	if r.Changes[0] == 0 {
		return resp.Nil
	}
	return resp.OK
}

func decodeOK(*store.Result) resp.Value { return resp.OK }

// sqlAddOrReplace makes the string where there is no live key.
const sqlAddOrReplace = sqlAddString + overwrite + `excluded.expires_at WHERE dies_at <= ?3`

func setnx(c *Call) Plan {
	key, value := c.Args[1], c.Args[2]
	if isLong(value) {
		return write(always(resp.One), c.addString(key, value, expiry{}, &resp.Zero)...)
	}
	return write(changed(0), store.Stmt{SQL: sqlAddOrReplace, Args: append(c.newString(key, value), store.Value{})})
}

// setex is SETEX and PSETEX.
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
