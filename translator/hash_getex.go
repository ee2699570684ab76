package translator

import (
	"math"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

var hashGetexTranslations = translations{
	"HGETDEL": hgetdel,
	"HGETEX":  hgetex,
	"HSETEX":  hsetex,
}

// removeFields are the statements that delete fields of an open hash.
func (c *Call) removeFields(key []byte, list store.Value) []store.Stmt {
	return []store.Stmt{c.stmt(sqlRemoveFields, key, list), c.shrunk(key), c.dropEmpty(key)}
}

// hgetdel answers the value of a field that is named twice only once.
func hgetdel(c *Call) Plan {
	fields, msg := c.trailingFields(2, fewFields)
	if msg != "" {
		return c.failHash(msg)
	}
	key, list := c.Args[1], hashed(fields, 1)
	stmts := append(c.openFields(key), c.stmt(sqlFields, key, list))
	return write(valuesOf(4, fields, true), append(stmts, c.removeFields(key, list)...)...)
}

// valuesOf answers the rows of statement i, which are the values of fields. When
// they go, a field that is named once more is gone by then.
func valuesOf(i int, fields [][]byte, gone bool) func(*store.Result) resp.Value {
	return func(r *store.Result) resp.Value {
		v := bulks(r.Rows[i])
		seen := map[string]bool{}
		for k := range v.Elems {
			if gone && seen[string(fields[k])] {
				v.Elems[k] = resp.Nil
			}
			seen[string(fields[k])] = true
		}
		return v
	}
}

// hgetex reads, and changes the expiry of the fields; a time that has passed
// deletes them.
func hgetex(c *Call) Plan {
	var at int64
	given, persist, first := c.isTTL(2), c.is(2, "PERSIST"), 2
	switch {
	case given:
		var msg string
		if at, msg = c.fieldTTL(2); msg != "" {
			return c.failHash(msg)
		}
		first += 2
	case persist:
		first++
	}
	fields, msg := c.trailingFields(first, fewFields)
	if msg != "" {
		return c.failHash(msg)
	}
	key, list := c.Args[1], hashed(fields, 1)
	past := given && at <= c.Env.Now
	stmts := append(c.openFields(key), c.stmt(sqlFields, key, list))
	switch {
	case past:
		stmts = append(stmts, c.removeFields(key, list)...)
	case given:
		stmts = append(stmts, c.stmt(sqlSetExpiries, key, list, store.Digits(at)), c.stmt(sqlTouchedOnChange, key))
	case persist:
		stmts = append(stmts, c.stmt(sqlPersistFields, key, list), c.stmt(sqlTouchedOnChange, key))
	default:
		return read(typed(hashType, repeated(resp.Nil, len(fields)), func(r *store.Result) resp.Value { return bulks(r.Rows[1]) }),
			c.typeOf(key), c.stmt(sqlFields, key, list))
	}
	return write(valuesOf(4, fields, past), stmts...)
}

// fieldTTL is the absolute time that the option at argument i means, such as EX, with
// the number after it; msg is the error when it is none.
func (c *Call) fieldTTL(i int) (at int64, msg string) {
	return c.fieldExpiry(i+1, c.is(i, "EX") || c.is(i, "EXAT"), len(c.Args[i]) == len("EXAT"))
}

// FNX and FXX refuse with 0.
const (
	sqlGuardFieldsAbsent  = `INSERT INTO guard SELECT NULL` + foundFields
	sqlGuardFieldsPresent = `INSERT INTO guard SELECT NULL WHERE (SELECT count(*)` + foundFields + `) < json_array_length(?4)`
	foundFields           = ` FROM json_each(?4) j CROSS JOIN hashes h
		ON h.key_id = ` + liveID + ` AND h.hash = ` + itemHash + ` AND h.field = ` + itemName + ` AND ` + liveField
)

// Unlike HSET these set the expiry, or leave it alone.
const (
	sqlSetFieldsUntil = `INSERT INTO hashes(key_id, hash, field, value, seq, expires_at)
		SELECT k.id, ` + itemHash + `, ` + itemName + `, ` + itemValue + `, 0, ?5
		FROM ` + liveKey + ` k CROSS JOIN json_each(?4) j WHERE true
		ON CONFLICT DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`
	sqlSetFieldsKeep = `INSERT INTO hashes(key_id, hash, field, value, seq)
		SELECT k.id, ` + itemHash + `, ` + itemName + `, ` + itemValue + `, 0
		FROM ` + liveKey + ` k CROSS JOIN json_each(?4) j WHERE true
		ON CONFLICT DO UPDATE SET value = excluded.value`
	sqlReplaceFieldUntil = `UPDATE hashes SET value = ?6, expires_at = ?7 WHERE key_id = ` + liveID + ` AND hash = ?4 AND field = ?5`
)

// setexOptions are those of HSETEX.
type setexOptions struct {
	fnx, fxx, keep, given bool
	at                    int64
	fields                [][]byte // with their values
}

// parse reads options, and the fields that end the call; msg is the error for anything
// else.
func (o *setexOptions) parse(c *Call) (msg string) {
	for i := 2; i < len(c.Args); i++ {
		switch {
		case c.is(i, "FIELDS"):
			return o.parseFields(c, i+1)
		case c.is(i, "FNX") || c.is(i, "FXX"):
			if o.fnx || o.fxx {
				return "ERR Only one of FXX or FNX arguments can be specified"
			}
			o.fnx, o.fxx = c.is(i, "FNX"), c.is(i, "FXX")
		case c.isTTL(i) || c.is(i, "KEEPTTL"):
			if o.given || o.keep {
				return "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified"
			}
			if o.keep = !c.isTTL(i); o.keep {
				continue
			}
			if i == len(c.Args)-1 {
				return "ERR missing expire time"
			}
			if o.at, msg = c.fieldTTL(i); msg != "" {
				return msg
			}
			o.given = true
			i++
		default:
			return commands.OneLine("ERR unknown argument: " + commands.Clip(c.Args[i], len(c.Args[i])))
		}
	}
	return "ERR missing FIELDS argument"
}

// parseFields reads "numfields field value …" from argument i on.
func (o *setexOptions) parseFields(c *Call, i int) (msg string) {
	if len(c.Args) < i+3 {
		return string(commands.WrongArity(c.Command).Str)
	}
	n, ok := parseInt(c.Args[i])
	o.fields = c.Args[i+1:]
	switch {
	case !ok || n < 1 || n > math.MaxInt32:
		return "ERR invalid number of fields"
	case 2*n != int64(len(o.fields)):
		return string(commands.WrongArity(c.Command).Str)
	}
	return ""
}

// hsetex sets all fields or, when FNX or FXX refuses, none. Fields that would be
// set to a time that has passed are deleted.
func hsetex(c *Call) Plan {
	var o setexOptions
	if msg := o.parse(c); msg != "" {
		return fail(msg)
	}
	key, fields := c.Args[1], lastOfEach(o.fields)
	names := hashed(everySecond(fields), 1)
	stmts := []store.Stmt{c.guardType(key, hashType)}
	if o.fnx || o.fxx {
		guard := c.stmt(sqlGuardFieldsAbsent, key, names)
		if o.fxx {
			guard.SQL = sqlGuardFieldsPresent
		}
		guard.Refused = &resp.Zero
		stmts = append(stmts, guard)
	}
	if o.given && o.at <= c.Env.Now {
		stmts = append(stmts, c.openFields(key)...)
		return write(always(resp.One), append(stmts, c.removeFields(key, names)...)...)
	}
	how := setting{several: sqlSetFields, one: sqlReplaceField}
	switch {
	case o.keep:
		how = setting{several: sqlSetFieldsKeep, one: sqlSetField}
	case o.given:
		how = setting{sqlSetFieldsUntil, sqlReplaceFieldUntil, []store.Value{store.Digits(o.at)}}
	}
	put, _ := c.putFields(key, fields, how)
	return write(always(resp.One), append(append(stmts, c.openHash(key, sqlUpsertHash)...), put...)...)
}
