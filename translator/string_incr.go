package translator

import (
	"math"
	"math/big"

	"github.com/meowdis/meowdis/longdouble"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// An increment is one batch, so that it needs no retry on any store. The value
// must be an integer written the way an integer is printed; a sum beyond 64 bits
// becomes a REAL, which the upsert turns into NULL and so refuses.
const (
	asInteger   = `CAST(CAST(value AS TEXT) AS INTEGER)`
	noInteger   = `CAST(` + asInteger + ` AS TEXT) <> CAST(value AS TEXT)`
	plusDelta   = asInteger + ` + CAST(?3 AS INTEGER)`
	incremented = `iif(typeof(` + plusDelta + `) = 'integer', CAST(CAST(` + plusDelta + ` AS TEXT) AS BLOB), NULL)`

	sqlGuardInteger = `INSERT INTO guard SELECT NULL FROM keys k JOIN strings s ON s.key_id = k.id WHERE ` + live + ` AND ` + noInteger
	sqlIncr         = `INSERT INTO strings(key_id, value) SELECT id, CAST(?3 AS BLOB) FROM keys WHERE db = ?1 AND key = ?2
		ON CONFLICT(key_id) DO UPDATE SET value = ` + incremented + ` RETURNING value`
)

func (c *Call) incrBy(key []byte, delta int64) Plan {
	integer := c.stmt(sqlGuardInteger, key)
	integer.Refused = &notInteger
	add := store.Stmt{SQL: sqlIncr, Args: []store.Value{store.Int(int64(c.Env.DB)), store.Bytes(key), store.Digits(delta)}}
	add.Refused = &overflow
	return write(func(r *store.Result) resp.Value { return resp.MakeInt(firstInt(r, 3)) },
		c.purge(key), integer, c.upsertKey(key, stringType), add)
}

func incr(delta int64) func(*Call) Plan {
	return func(c *Call) Plan { return c.incrBy(c.Args[1], delta) }
}

// incrby is INCRBY and DECRBY.
func incrby(sign int64) func(*Call) Plan {
	return func(c *Call) Plan {
		n, ok := parseInt(c.Args[2])
		switch {
		case !ok:
			return fail(errNotInteger)
		case sign < 0 && n == math.MinInt64:
			return fail("ERR decrement would overflow")
		}
		return c.incrBy(c.Args[1], sign*n)
	}
}

// incrbyfloat reads, computes and writes: SQL has no long double. The TTL stays.
func incrbyfloat(c *Call) Plan {
	key := c.Args[1]
	delta, valid := longdouble.Parse(c.Args[2])
	return readThen(func(r *store.Result) Plan {
		value, bad := storedLongDouble(r)
		switch {
		case bad.IsError():
			return answer(bad)
		case !valid:
			return fail(errNotFloat)
		}
		sum, ok := longdouble.Add(value, delta)
		if !ok {
			return fail(errIncrementInfinite)
		}
		text := longdouble.Format(sum)
		return write(always(resp.MakeBulk(text)), c.setString(nil, key, text, expiry{keep: true})...)
	}, c.stmt(sqlGet, key))
}

// storedLongDouble is the number at the key that sqlGet has read, 0 for a missing
// key, or the error reply for anything else.
func storedLongDouble(r *store.Result) (value *big.Float, bad resp.Value) {
	old := decodeString(r)
	if old.IsError() {
		return nil, old
	}
	if old.IsNull() {
		return new(big.Float), bad
	}
	value, ok := longdouble.Parse(old.Str)
	if !ok {
		return nil, resp.MakeError(errNotFloat)
	}
	return value, bad
}
