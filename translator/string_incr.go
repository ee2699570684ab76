package translator

import (
	"math"
	"math/big"

	"github.com/meowdis/meowdis/redis/longdouble"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// An increment is one batch, so that it needs no retry on any store. The value must be an integer as it is printed, and
// a sum beyond 64 bits is a REAL. sqlIncr does not change a key with another value or type, or with a REAL sum, and
// sqlIncrError reads which of these applied. sqlIncrNew creates a missing or expired key.
const (
	asInteger   = `CAST(CAST(value AS TEXT) AS INTEGER)`
	noInteger   = `CAST(` + asInteger + ` AS TEXT) <> CAST(value AS TEXT)`
	plusDelta   = asInteger + ` + CAST(?6 AS INTEGER)`
	incremented = `CAST(CAST(` + plusDelta + ` AS TEXT) AS BLOB)`

	sqlGuardInteger = `INSERT INTO guard SELECT NULL FROM keys WHERE ` + live + ` AND ` + noInteger

	sqlIncr = `UPDATE keys SET value = ` + incremented + `, version = version + 1, updated_at = ?3
		WHERE ` + live + ` AND type = 'string' AND NOT ` + noInteger + ` AND typeof(` + plusDelta + `) = 'integer'`
	sqlIncrNew   = insertString + `VALUES(?1, ?2, ?5, 'string', ?4, NULL, ?3, ?3, CAST(?6 AS BLOB))` + onConflictOverwrite + `NULL WHERE dies_at <= ?3`
	sqlSum       = `SELECT value FROM keys WHERE db = ?1 AND key = ?2`
	sqlIncrError = `SELECT type = 'string', ` + noInteger + ` FROM keys WHERE db = ?1 AND key = ?2`
)

// hasIncremented reports whether one of the two statements that increment has changed the key.
func hasIncremented(before store.Result) bool { return before.Changes[0]+before.Changes[1] > 0 }

func (c *Call) incrBy(key []byte, delta int64) Plan {
	args := c.key(key, c.newVersion(), hashValue(key), store.Digits(delta))
	return write(func(r *store.Result) resp.Value {
		if hasIncremented(*r) {
			return resp.MakeInt(firstInt(r, 2))
		}
		switch why := r.Rows[3][0]; {
		case why[0].Int() == 0:
			return wrongType
		case why[1].Int() != 0:
			return notInteger
		}
		return overflow
	}, store.Stmt{SQL: sqlIncr, Args: args}, store.Stmt{SQL: sqlIncrNew, Args: args, SkipIf: somethingChanged},
		c.forReply(store.Stmt{SQL: sqlSum, Args: args[:2]}), store.Stmt{SQL: sqlIncrError, Args: args[:2], SkipIf: hasIncremented})
}

func incr(delta int64) func(*Call) Plan {
	return func(c *Call) Plan { return c.incrBy(c.Args[1], delta) }
}

// incrby translates INCRBY and DECRBY.
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

// incrbyfloat computes in Go, since SQL has no long double. The key keeps its TTL.
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

// storedLongDouble returns the number in the rows of sqlGet, 0 for a missing key, or the error reply for another value.
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
