package translator

import (
	"bytes"
	"math"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// The conditions of EXPIRE are combined in ?5 of sqlDue.
const (
	ifNone    = 1 << iota // NX: the key has no expiry
	ifSome                // XX: the key has an expiry
	ifGreater             // GT: the new expiry is later; false for a key without an expiry
	ifLess                // LT: the new expiry is sooner
)

// sqlDue selects the live key if it meets the conditions.
const (
	sqlDue = ` WHERE ` + live + `
		AND (?5 & 1 = 0 OR expires_at IS NULL)
		AND (?5 & 2 = 0 OR expires_at IS NOT NULL)
		AND (?5 & 4 = 0 OR expires_at < CAST(?4 AS INTEGER))
		AND (?5 & 8 = 0 OR expires_at IS NULL OR expires_at > CAST(?4 AS INTEGER))`
	sqlExpire    = `UPDATE keys SET expires_at = ?4, version = version + 1, updated_at = ?3` + sqlDue
	sqlExpireNow = `DELETE FROM keys` + sqlDue
)

// expire translates EXPIRE, PEXPIRE, EXPIREAT and PEXPIREAT.
func expire(seconds, absolute bool) func(*Call) Plan {
	return func(c *Call) Plan {
		conditions, bad, ok := c.parseConditions()
		if !ok {
			return bad
		}
		n, ok := parseInt(c.Args[2])
		if !ok {
			return fail(errNotInteger)
		}
		at, ok := c.expireAt(n, seconds, absolute)
		if !ok {
			return invalidExpire(c)
		}
		sql := sqlExpire
		if at <= c.Env.Now {
			sql = sqlExpireNow
		}
		return write(changed(0), c.stmt(sql, c.Args[1], store.Digits(at), store.Int(conditions)))
	}
}

// expireAt converts n seconds or ms, from now or since the epoch, to an absolute time in ms. The time may have passed.
// It returns false on overflow.
func (c *Call) expireAt(n int64, seconds, absolute bool) (int64, bool) {
	if seconds {
		if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
			return 0, false
		}
		n *= 1000
	}
	if !absolute {
		if n > math.MaxInt64-c.Env.Now {
			return 0, false
		}
		n += c.Env.Now
	}
	return n, true
}

// parseConditions parses NX, XX, GT and LT from argument 3 on; ok is false if the plan bad replies with an error.
func (c *Call) parseConditions() (conditions int64, bad Plan, ok bool) {
	for i := 3; i < len(c.Args); i++ {
		switch {
		case c.is(i, "NX"):
			conditions |= ifNone
		case c.is(i, "XX"):
			conditions |= ifSome
		case c.is(i, "GT"):
			conditions |= ifGreater
		case c.is(i, "LT"):
			conditions |= ifLess
		default:
			option, _, _ := bytes.Cut(c.Args[i], []byte{0})
			return 0, fail(commands.OneLine("ERR Unsupported option " + string(option))), false
		}
	}
	switch {
	case conditions&ifNone != 0 && conditions != ifNone:
		return 0, fail("ERR NX and XX, GT or LT options at the same time are not compatible"), false
	case conditions&ifGreater != 0 && conditions&ifLess != 0:
		return 0, fail("ERR GT and LT options at the same time are not compatible"), false
	}
	return conditions, Plan{}, true
}

const sqlExpiresAt = `SELECT CAST(expires_at AS TEXT) FROM keys WHERE ` + live

// ttl translates TTL, PTTL, EXPIRETIME and PEXPIRETIME. Seconds are rounded.
func ttl(seconds, absolute bool) func(*Call) Plan {
	return func(c *Call) Plan {
		return read(func(r *store.Result) resp.Value {
			switch {
			case len(r.Rows[0]) == 0:
				return resp.MakeInt(-2)
			case r.Rows[0][0][0].IsNull():
				return resp.MakeInt(-1)
			}
			n := r.Rows[0][0][0].Int()
			if !absolute {
				n -= c.Env.Now
			}
			if seconds {
				n = n/1000 + (n%1000+500)/1000
			}
			return resp.MakeInt(n)
		}, c.stmt(sqlExpiresAt, c.Args[1]))
	}
}

const sqlPersist = `UPDATE keys SET expires_at = NULL, version = version + 1, updated_at = ?3
	WHERE ` + live + ` AND expires_at IS NOT NULL RETURNING 1`

func persist(c *Call) Plan {
	return write(countRows, c.stmt(sqlPersist, c.Args[1]))
}
