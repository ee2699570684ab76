package translator

import (
	"math"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var hashGetexTranslations = translations{
	{"HGETDEL", hgetdel},
	{"HGETEX", hgetex},
	{"HSETEX", hsetex},
}

// removeFields returns the statements that delete fields of an open hash. Every second statement, from the first on and
// except for the last, deletes.
func (c *Call) removeFields(key []byte, fields [][]byte) []store.Stmt {
	return append(each(c.stmtsForNames(key, fields, sqlRemoveFields), c.countRemoved(key)), c.dropIfEmptied(key, len(fields)))
}

// hgetdel replies with the value of a field that is named twice only once.
func hgetdel(c *Call) Plan {
	fields, msg := c.trailingFields(2, fewFields)
	if msg != "" {
		return c.failHash(msg)
	}
	key := c.Args[1]
	values := c.stmtsForNames(key, fields, sqlFields)
	stmts := append(c.openFields(key), values...)
	return write(valuesOf(hashOpening, len(values), fields, true), append(stmts, c.removeFields(key, fields)...)...)
}

// valuesOf decodes the rows of n statements from i on, the values of fields. If the call deletes the fields (gone),
// only the first occurrence of a field has a value.
func valuesOf(i, n int, fields [][]byte, gone bool) func(*store.Result) resp.Value {
	return func(r *store.Result) resp.Value {
		v := bulks(nameRows(r, i, n))
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

// hgetex reads the fields and changes their expiry. A time that has passed deletes them.
func hgetex(c *Call) Plan {
	var at int64
	given, persist, first := c.isTTL(2), c.is(2, "PERSIST"), 2
	switch {
	case given:
		var msg string
		if at, msg = c.fieldTTL(2); msg != "" {
			return c.failHash(msg)
		}
		if first += 2; len(c.Args) == first+1 {
			return answer(commands.WrongArity(c.Command))
		}
	case persist:
		first++
	}
	fields, msg := c.trailingFields(first, fewFields)
	if msg != "" {
		return c.failHash(msg)
	}
	key, past := c.Args[1], given && at <= c.Env.Now
	values := c.stmtsForNames(key, fields, sqlFields)
	stmts := append(c.openFields(key), values...)
	switch {
	case past:
		stmts = append(stmts, c.removeFields(key, fields)...)
	case given:
		stmts = append(stmts, each(c.stmtsForNames(key, fields, sqlSetExpiries, store.Digits(at)), c.touchIfChanged(key))...)
	case persist:
		stmts = append(stmts, each(c.stmtsForNames(key, fields, sqlPersistFields), c.touchIfChanged(key))...)
	default:
		return c.readEach(hashType, fields, sqlFields, resp.Nil, bulks)
	}
	return write(valuesOf(hashOpening, len(values), fields, past), stmts...)
}

// fieldTTL parses the option at argument i, such as EX, with its number, as an absolute time; msg is the error.
func (c *Call) fieldTTL(i int) (at int64, msg string) {
	return c.fieldExpiry(i+1, c.is(i, "EX") || c.is(i, "EXAT"), len(c.Args[i]) == len("EXAT"))
}

// FNX and FXX refuse with 0.
const (
	foundFields = ` FROM json_each(?4) j CROSS JOIN hashes h
		ON h.key_id = ` + liveID + ` AND h.hash = ` + itemHash + ` AND h.field = ` + itemName + ` AND ` + liveField
	foundField = ` FROM hashes h WHERE h.key_id = ` + liveID + ` AND h.hash = ?4 AND h.field = ?5 AND ` + liveField
)

var (
	sqlGuardFieldsAbsent  = nameSQL{newListSQL(1, `INSERT INTO guard SELECT NULL`+foundFields), `INSERT INTO guard SELECT NULL` + foundField}
	sqlGuardFieldsPresent = nameSQL{
		newListSQL(1, `INSERT INTO guard SELECT NULL WHERE (SELECT count(*)`+foundFields+`) < json_array_length(?4)`),
		`INSERT INTO guard SELECT NULL WHERE NOT EXISTS (SELECT 1` + foundField + `)`,
	}
)

// Unlike HSET, these set or keep the expiry.
var (
	sqlSetFieldsUntil = newListSQL(2, `INSERT INTO hashes(key_id, hash, field, value, seq, expires_at)
		SELECT `+liveID+`, `+itemHash+`, `+itemName+`, `+itemValue+`, 0, ?7 FROM json_each(?4) j WHERE true
		ON CONFLICT DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`)
	sqlSetFieldsKeep = newListSQL(2, `INSERT INTO hashes(key_id, hash, field, value, seq)
		SELECT `+liveID+`, `+itemHash+`, `+itemName+`, `+itemValue+`, 0 FROM json_each(?4) j WHERE true
		ON CONFLICT DO UPDATE SET value = excluded.value`)
)

const (
	sqlReplaceFieldUntil = `UPDATE hashes SET value = ?6, expires_at = ?7 WHERE key_id = ` + liveID + ` AND hash = ?4 AND field = ?5`
	sqlNewFieldUntil     = `UPDATE hashes SET expires_at = ?6 WHERE key_id = ` + liveID + ` AND hash = ?4 AND field = ?5 AND expires_at IS NULL`
)

// setexOptions holds the options of HSETEX.
type setexOptions struct {
	fnx, fxx, keep, given bool
	at                    int64
	fields                [][]byte // with their values
}

// parse parses the options, and the fields at the end; msg is the error.
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
			if msg = o.parseTTL(c, i); msg != "" {
				return msg
			}
			i++
		default:
			return commands.OneLine("ERR unknown argument: " + commands.Clip(c.Args[i], len(c.Args[i])))
		}
	}
	return "ERR missing FIELDS argument"
}

// parseTTL parses the TTL option at i and the argument after it.
func (o *setexOptions) parseTTL(c *Call, i int) (msg string) {
	if i == len(c.Args)-1 {
		return "ERR missing expire time"
	}
	o.at, msg = c.fieldTTL(i)
	o.given = msg == ""
	return msg
}

// parseFields parses "numfields field value …" from argument i on.
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

// hsetex sets all fields, or none if FNX or FXX refuses. An expiry that has passed deletes the fields.
func hsetex(c *Call) Plan {
	var o setexOptions
	if msg := o.parse(c); msg != "" {
		return fail(msg)
	}
	key, fields := c.Args[1], lastValues(o.fields)
	names := everySecond(fields)
	guards := c.openExisting(c.readKey(key), key, hashType)
	stmts := []store.Stmt{guards[0], guards[2]}
	if o.fnx || o.fxx {
		sql := sqlGuardFieldsAbsent
		if o.fxx {
			sql = sqlGuardFieldsPresent
		}
		for _, guard := range c.stmtsForNames(key, names, sql) {
			guard.Refused = &resp.Zero
			stmts = append(stmts, guard)
		}
	}
	if o.given && o.at <= c.Env.Now {
		stmts = append(stmts, c.openFields(key)[1:]...)
		stmts = append(stmts, c.removeFields(key, names)...)
		return write(always(resp.One), append(stmts, c.touch(key))...) // a change for WATCH, even of missing fields
	}
	how := setting{several: sqlSetFields, one: sqlReplaceField}
	switch {
	case o.keep:
		how = setting{several: sqlSetFieldsKeep, one: sqlSetField}
	case o.given:
		how = setting{sqlSetFieldsUntil, sqlReplaceFieldUntil, sqlNewFieldUntil, []store.Value{store.Digits(o.at)}}
	}
	put, _ := c.putFields(key, fields, how)
	stmts = append(append(stmts, c.openHash(guards[0], key)[1:]...), put...)
	return write(always(resp.One), append(stmts, c.touch(key))...)
}
