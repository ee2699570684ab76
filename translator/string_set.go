package translator

import (
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// stringKind is the name of the type in the keys table and in TYPE's reply.
const stringType = "string"

// A SET makes way first: a key of another type, or an expired one, goes with all
// its rows. The string that is left is overwritten in place.
const (
	sqlMakeWay = `DELETE FROM keys WHERE db = ?1 AND key = ?2 AND (type <> 'string' OR expires_at <= ?3)`
	sqlSetKey  = `INSERT INTO keys(db, key, type, version, expires_at, created_at, updated_at)
		VALUES(?1, ?2, 'string', ?4, ?5, ?3, ?3)
		ON CONFLICT(db, key) DO UPDATE SET version = version + 1, updated_at = ?3, expires_at = excluded.expires_at`
	sqlSetKeyKeepTTL = `INSERT INTO keys(db, key, type, version, created_at, updated_at)
		VALUES(?1, ?2, 'string', ?4, ?3, ?3)
		ON CONFLICT(db, key) DO UPDATE SET version = version + 1, updated_at = ?3`
	sqlSetValue = `INSERT INTO strings(key_id, value) SELECT id, ?3 FROM keys WHERE db = ?1 AND key = ?2
		ON CONFLICT(key_id) DO UPDATE SET value = excluded.value`
)

// expiry is the TTL part of a command's options.
type expiry struct {
	given   bool  // EX, PX, EXAT or PXAT
	at      int64 // Unix ms
	keep    bool  // KEEPTTL
	persist bool  // PERSIST
}

// store appends the statements that make key the string value.
func (c *Call) setString(stmts []store.Stmt, key, value []byte, exp expiry) []store.Stmt {
	if exp.given && exp.at <= c.Env.Now {
		return append(stmts, c.drop(key))
	}
	// One allocation holds the arguments of the three statements.
	args := make([]store.Value, 11)
	args[0], args[1], args[2] = store.Int(int64(c.Env.DB)), store.Bytes(key), store.Int(c.Env.Now)
	copy(args[3:], args[:3])
	args[6] = c.newVersion()
	args[8], args[9], args[10] = args[0], args[1], store.Bytes(value)
	setKey := store.Stmt{SQL: sqlSetKey, Args: args[3:8:8]}
	switch {
	case exp.keep:
		setKey = store.Stmt{SQL: sqlSetKeyKeepTTL, Args: args[3:7:7]}
	case exp.given:
		args[7] = store.Digits(exp.at)
	}
	return append(stmts,
		store.Stmt{SQL: sqlMakeWay, Args: args[:3:3]},
		setKey,
		store.Stmt{SQL: sqlSetValue, Args: args[8:]})
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

type setOptions struct {
	nx, xx, get bool
	expiry
}

// parseSet reads the options of SET from argument 3 on; ok is false when the
// plan holds the error to answer.
func (c *Call) parseSet() (o setOptions, bad Plan, ok bool) {
	unit := -1 // position of the TTL option
	for i := 3; i < len(c.Args); i++ {
		last := i == len(c.Args)-1
		switch {
		case c.is(i, "NX") && !o.xx:
			o.nx = true
		case c.is(i, "XX") && !o.nx:
			o.xx = true
		case c.is(i, "GET"):
			o.get = true
		case c.is(i, "KEEPTTL") && unit < 0:
			o.keep = true
		case (c.is(i, "EX") || c.is(i, "PX") || c.is(i, "EXAT") || c.is(i, "PXAT")) && unit < 0 && !o.keep && !last:
			unit = i
			i++
		default:
			return o, fail(errSyntax), false
		}
	}
	if unit < 0 {
		return o, Plan{}, true
	}
	n, valid := parseInt(c.Args[unit+1])
	if !valid {
		return o, fail(errNotInteger), false
	}
	at, valid := c.deadline(n, c.is(unit, "EX") || c.is(unit, "EXAT"), len(c.Args[unit]) == 4)
	if !valid {
		return o, invalidExpire(c), false
	}
	o.given, o.at = true, at
	return o, Plan{}, true
}

func set(c *Call) Plan {
	if len(c.Args) == 3 {
		return write(decodeOK, c.setString(make([]store.Stmt, 0, 3), c.Args[1], c.Args[2], expiry{})...)
	}
	o, bad, ok := c.parseSet()
	if !ok {
		return bad
	}
	key, value := c.Args[1], c.Args[2]
	if o.get {
		return c.setGet(key, value, o)
	}
	var stmts []store.Stmt
	switch {
	case o.nx:
		stmts = append(stmts, c.guardAbsent(key, &resp.Nil))
	case o.xx:
		stmts = append(stmts, c.guardPresent(key, &resp.Nil))
	}
	return write(decodeOK, c.setString(stmts, key, value, o.expiry)...)
}

// setGet answers the old value. NX and XX decide on what was read, since the
// old value is the answer either way.
func (c *Call) setGet(key, value []byte, o setOptions) Plan {
	get := c.stmt(sqlGet, key)
	if !o.nx && !o.xx {
		stmts := []store.Stmt{get, c.guardType(key, stringType)}
		return write(decodeString, c.setString(stmts, key, value, o.expiry)...)
	}
	return readThen(func(r *store.Result) Plan {
		old := decodeString(r)
		if old.IsError() || o.nx != old.IsNull() {
			return answer(old)
		}
		return write(always(old), c.setString(nil, key, value, o.expiry)...)
	}, get)
}

func decodeOK(*store.Result) resp.Value { return resp.OK }

func setnx(c *Call) Plan {
	stmts := []store.Stmt{c.guardAbsent(c.Args[1], &resp.Zero)}
	return write(always(resp.One), c.setString(stmts, c.Args[1], c.Args[2], expiry{})...)
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

func getset(c *Call) Plan { return c.setGet(c.Args[1], c.Args[2], setOptions{}) }
