package translator

import (
	"math"
	"math/big"

	"github.com/meowdis/meowdis/redis/longdouble"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// increment holds the arguments of INCREX.
type increment struct {
	by, low, high  []byte // nil for 1, and for the limits of the type
	float, integer bool   // BYFLOAT, BYINT
	saturate, enx  bool
}

// option parses an option of INCREX. Options may not be repeated.
func (n *increment) option(c *Call) func(i int, o *options) (words int) {
	return func(i int, o *options) int {
		o.noRepeat = true
		switch {
		case c.is(i, "SATURATE") && !n.saturate:
			n.saturate = true
			return 1
		case c.is(i, "ENX") && !n.enx && !o.persist:
			n.enx = true
			return 1
		case c.is(i, "PERSIST") && !n.enx && !o.persist:
			return c.getexOption(i, o)
		case i+1 == len(c.Args):
			return 0
		case c.is(i, "BYINT") && n.by == nil:
			n.by, n.integer = c.Args[i+1], true
		case c.is(i, "BYFLOAT") && n.by == nil:
			n.by, n.float = c.Args[i+1], true
		case c.is(i, "LBOUND") && n.low == nil:
			n.low = c.Args[i+1]
		case c.is(i, "UBOUND") && n.high == nil:
			n.high = c.Args[i+1]
		default:
			return 0
		}
		return 2
	}
}

// These are INCREX's changes of the TTL: ?10 of sqlIncrEx.
const (
	ttlKept = iota
	ttlSet
	ttlSetOnce
)

func increx(c *Call) Plan {
	var n increment
	o, ok := c.parseOptions(2, n.option(c))
	if !ok {
		return fail(errSyntax)
	}
	if n.enx && o.unit == 0 {
		return fail("ERR ENX flag requires an expiration")
	}
	exp, bad := c.expiry(o)
	if bad.IsError() {
		return answer(bad)
	}
	ttl := ttlKept
	switch {
	case n.enx:
		ttl = ttlSetOnce
	case exp.given || o.persist:
		ttl = ttlSet
	}
	if n.float {
		return c.increxFloat(n, exp, ttl)
	}
	return c.increxInt(n, exp, ttl)
}

var errBoundsOrder = fail("ERR LBOUND can't be greater than UBOUND")

// increxOutcome computes the present integer and the new one, which is NULL if the value must not change. A sum beyond
// 64 bits is a REAL, beyond the bound on its side.
const (
	increxOutcome = `(SELECT cur, CASE WHEN typeof(sum) = 'integer' AND sum BETWEEN low AND high THEN sum
			WHEN ?7 THEN iif(sum > high, high, low) END AS new
		FROM (SELECT cur, cur + CAST(?4 AS INTEGER) AS sum, CAST(?5 AS INTEGER) AS low, CAST(?6 AS INTEGER) AS high
			FROM (SELECT ifnull((SELECT ` + asInteger + ` FROM keys WHERE ` + live + `), 0) AS cur)))`
	sqlGuardIncrEx = `INSERT INTO guard SELECT NULL FROM ` + increxOutcome + ` WHERE typeof(new - cur) = 'real'`
	sqlIncrExReply = `SELECT CAST(ifnull(new, cur) AS TEXT), CAST(ifnull(new - cur, 0) AS TEXT) FROM ` + increxOutcome
	sqlIncrEx      = insertString + `SELECT ?1, ?2, ?11, 'string', ?8, ?9, ?3, ?3, CAST(CAST(new AS TEXT) AS BLOB) FROM ` + increxOutcome + ` WHERE new IS NOT NULL
		ON CONFLICT(db, key) DO UPDATE SET version = version + 1, updated_at = ?3, value = excluded.value, expires_at =
			CASE ?10 WHEN 0 THEN expires_at WHEN 1 THEN excluded.expires_at ELSE ifnull(expires_at, excluded.expires_at) END`
)

// increxInt plans one batch, like INCRBY. An expiry that has passed expires the key, and the last purge deletes it.
func (c *Call) increxInt(n increment, exp expiry, ttl int) Plan {
	by, low, high := int64(1), int64(math.MinInt64), int64(math.MaxInt64)
	for _, part := range []struct {
		name string
		text []byte
		n    *int64
	}{{"Increment", n.by, &by}, {"LBOUND", n.low, &low}, {"UBOUND", n.high, &high}} {
		if part.text == nil {
			continue
		}
		var ok bool
		if *part.n, ok = parseInt(part.text); !ok {
			return fail("ERR " + part.name + " is not an integer or out of range")
		}
	}
	if low > high {
		return errBoundsOrder
	}
	saturate := store.Int(0)
	if n.saturate {
		saturate = store.Int(1)
	}
	key := c.Args[1]
	args := c.key(key, store.Digits(by), store.Digits(low), store.Digits(high), saturate)
	guard := c.stmt(sqlGuardInteger, key)
	guard.Refused = &notInteger
	set := store.Stmt{SQL: sqlIncrEx, Args: append(args[:7:7], c.newVersion(), exp.column(), store.Int(int64(ttl)), hashValue(key))}
	return write(func(r *store.Result) resp.Value {
		row := r.Rows[4][0]
		return resp.MakeArray(integer(row[0]), integer(row[1]))
	},
		c.purge(key), c.guardType(key, stringType), guard,
		store.Stmt{SQL: sqlGuardIncrEx, Args: args, Refused: &overflow},
		store.Stmt{SQL: sqlIncrExReply, Args: args},
		set, c.purge(key))
}

// increxFloat computes in Go, since SQL has no long double.
func (c *Call) increxFloat(n increment, exp expiry, ttl int) Plan {
	by, ok := longdouble.Parse(n.by)
	low, lowOK := n.bound(n.low, true)
	high, highOK := n.bound(n.high, false)
	switch {
	case !ok:
		return fail("ERR Increment is not a valid float")
	case !lowOK:
		return fail("ERR LBOUND is not a valid float")
	case !highOK:
		return fail("ERR UBOUND is not a valid float")
	case by.IsInf():
		return fail(errIncrementInfinite)
	case low.Cmp(high) > 0:
		return errBoundsOrder
	}
	key := c.Args[1]
	return readThen(func(r *store.Result) Plan {
		value, bad := storedLongDouble(r)
		switch {
		case bad.IsError():
			return answer(bad)
		case value.IsInf():
			return fail(errNotFloat)
		}
		sum := new(big.Float).SetPrec(longdouble.Bits).Add(value, by)
		switch {
		case sum.Cmp(low) >= 0 && sum.Cmp(high) <= 0:
		case !n.saturate:
			return answer(resp.MakeArray(longDouble(value), longDouble(new(big.Float))))
		case sum.Cmp(high) > 0:
			sum = high
		default:
			sum = low
		}
		applied, ok := longdouble.Add(sum, new(big.Float).Neg(value))
		if !ok {
			return fail(errIncrementInfinite)
		}
		expires := len(r.Rows[1]) > 0 && !r.Rows[1][0][0].IsNull()
		if ttl == ttlKept || ttl == ttlSetOnce && expires {
			exp = expiry{keep: true}
		}
		return write(always(resp.MakeArray(longDouble(sum), longDouble(applied))),
			c.setString(nil, key, longdouble.Format(sum), exp)...)
	}, c.stmt(sqlGet, key), c.stmt(sqlExpiresAt, key))
}

// longDouble returns f as a double. Its text keeps the digits that a float64 would lose.
func longDouble(f *big.Float) resp.Value {
	near, _ := f.Float64()
	v := resp.MakeDouble(near)
	if text := longdouble.Format(f); string(text) != resp.FormatDouble(near) {
		v.Str = text
	}
	return v
}

// maxLongDouble is the greatest finite long double.
var maxLongDouble = func() *big.Float {
	ones := new(big.Float).SetPrec(longdouble.Bits).SetUint64(math.MaxUint64)
	return ones.SetMantExp(ones, longdouble.MaxExponent-longdouble.Bits)
}()

// bound parses LBOUND or UBOUND of floats, or returns the limit of the type.
func (n *increment) bound(text []byte, low bool) (*big.Float, bool) {
	switch {
	case text != nil:
		return longdouble.Parse(text)
	case low:
		return new(big.Float).Neg(maxLongDouble), true
	}
	return maxLongDouble, true
}
