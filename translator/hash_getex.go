package translator

import (
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
	fields, msg := c.trailingFields()
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

// fieldOptions are those of HGETEX and HSETEX.
type fieldOptions struct {
	fnx, fxx, keep, persist, given bool
	at                             int64
	fields                         [][]byte
}

// parseFieldOptions reads the fields, each with width words, and options around
// them, of which own reads the command's own; msg is the error for anything else.
func (c *Call) parseFieldOptions(width int, keep string, own func(i int, o *fieldOptions) (known bool, msg string)) (o fieldOptions, msg string) {
	for i := 2; i < len(c.Args); i++ {
		known, msg := own(i, &o)
		last := i == len(c.Args)-1
		switch {
		case msg != "":
			return o, msg
		case known:
		case c.is(i, "FIELDS"):
			switch {
			case o.fields != nil:
				return o, errFieldsTwice
			case last:
				return o, string(commands.WrongArity(c.Command).Str)
			}
			if o.fields, msg = c.fieldBlock(i+1, width, "ERR invalid number of fields"); msg != "" {
				return o, msg
			}
			i += 1 + len(o.fields)
		case c.is(i, keep) || c.isTTL(i):
			if o.given || o.keep || o.persist {
				return o, "ERR Only one of EX, PX, EXAT, PXAT or " + keep + " arguments can be specified"
			}
			if !c.isTTL(i) {
				o.keep, o.persist = keep == "KEEPTTL", keep == "PERSIST"
				continue
			}
			if last {
				return o, "ERR missing expire time"
			}
			o.given = true
			o.at, msg = c.fieldExpiry(i+1, c.is(i, "EX") || c.is(i, "EXAT"), len(c.Args[i]) == len("EXAT"))
			if msg != "" {
				return o, msg
			}
			i++
		default:
			return o, c.unknownArgument(i)
		}
	}
	if o.fields == nil {
		return o, errFieldsMissing
	}
	return o, ""
}

// hgetex reads, and changes the expiry of the fields; a time that has passed
// deletes them.
func hgetex(c *Call) Plan {
	o, msg := c.parseFieldOptions(1, "PERSIST", func(int, *fieldOptions) (bool, string) { return false, "" })
	if msg != "" {
		return c.failHash(msg)
	}
	key, list := c.Args[1], hashed(o.fields, 1)
	past := o.given && o.at <= c.Env.Now
	stmts := append(c.openFields(key), c.stmt(sqlFields, key, list))
	switch {
	case past:
		stmts = append(stmts, c.removeFields(key, list)...)
	case o.given:
		stmts = append(stmts, c.stmt(sqlSetExpiries, key, list, store.Digits(o.at)), c.stmt(sqlTouchedOnChange, key))
	case o.persist:
		stmts = append(stmts, c.stmt(sqlPersistFields, key, list), c.stmt(sqlTouchedOnChange, key))
	default:
		return read(typed(hashType, repeated(resp.Nil, len(o.fields)), func(r *store.Result) resp.Value { return bulks(r.Rows[1]) }),
			c.typeOf(key), c.stmt(sqlFields, key, list))
	}
	return write(valuesOf(4, o.fields, past), stmts...)
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
)

// hsetexOption reads an option that only HSETEX has.
func (c *Call) hsetexOption(i int, o *fieldOptions) (known bool, msg string) {
	nx, xx := c.is(i, "FNX"), c.is(i, "FXX")
	switch {
	case !nx && !xx:
		return false, ""
	case o.fnx || o.fxx:
		return false, "ERR Only one of FXX or FNX arguments can be specified"
	}
	o.fnx, o.fxx = nx, xx
	return true, ""
}

// hsetex sets all fields or, when FNX or FXX refuses, none. Fields that would be
// set to a time that has passed are deleted.
func hsetex(c *Call) Plan {
	o, msg := c.parseFieldOptions(2, "KEEPTTL", c.hsetexOption)
	if msg != "" {
		return fail(msg)
	}
	key, fields := c.Args[1], lastOfEach(o.fields)
	list := hashed(fields, 2)
	stmts := []store.Stmt{c.guardType(key, hashType)}
	if o.fnx || o.fxx {
		guard := c.stmt(sqlGuardFieldsAbsent, key, list)
		if o.fxx {
			guard.SQL = sqlGuardFieldsPresent
		}
		guard.Refused = &resp.Zero
		stmts = append(stmts, guard)
	}
	if o.given && o.at <= c.Env.Now {
		stmts = append(stmts, c.openFields(key)...)
		return write(always(resp.One), append(stmts, c.removeFields(key, list)...)...)
	}
	stmts = append(append(stmts, c.openHash(key, sqlUpsertHash)...), c.addFields(key, fields)...)
	set := c.stmt(sqlSetFields, key, list)
	switch {
	case o.keep:
		set.SQL = sqlSetFieldsKeep
	case o.given:
		set = c.stmt(sqlSetFieldsUntil, key, list, store.Digits(o.at))
	}
	return write(always(resp.One), append(stmts, set)...)
}
