package translator

import (
	"math"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// CL.THROTTLE is redis-cell's rate limiter, the generic cell rate algorithm. It stores the theoretical arrival time:
// when the next token would be due if all tokens came evenly, in ns since the epoch, as a string that expires then.
var throttleTranslations = translations{
	{"CL.THROTTLE", throttle},
}

// rate holds a limit in ns: one token comes every interval, and the arrival time may be up to tolerance ahead of now.
type rate struct{ interval, tolerance, limit int64 }

const (
	nanos = 1_000_000_000 // per second

	// maxTolerance keeps the arrival time within 64 bits.
	maxTolerance = int64(1) << 61
)

// throttleState computes the arrival time without the requested tokens (tat) and with them (new); ?4 is their cost in
// ns. The write happens only if new is at most ?5 ns ahead of now.
const (
	throttleState = `(SELECT tat, tat + CAST(?4 AS INTEGER) AS new, now FROM (SELECT now, max(now, ifnull(
			(SELECT ` + asInteger + ` FROM keys WHERE ` + live + `), now)) AS tat
		FROM (SELECT CAST(?3 AS INTEGER) * 1000000 AS now)))`
	throttleTakes = ` WHERE new > tat AND new - now <= CAST(?5 AS INTEGER)`

	sqlThrottleTime = `SELECT CAST(tat AS TEXT) FROM ` + throttleState
	sqlThrottle     = insertString + `SELECT ?1, ?2, ?7, 'string', ?6, (new + 999999) / 1000000, ?3, ?3, CAST(CAST(new AS TEXT) AS BLOB) FROM ` + throttleState + throttleTakes + `
		ON CONFLICT(db, key) DO UPDATE SET version = version + 1, updated_at = ?3, value = excluded.value, expires_at = excluded.expires_at`
)

// throttle plans one batch: the SQL decides whether to write, and the decoder computes the reply from the same value.
func throttle(c *Call) Plan {
	if len(c.Args) > 6 {
		return answer(commands.WrongArity(c.Command))
	}
	n := [4]int64{3: 1} // burst, count, period, quantity
	for i, arg := range c.Args[2:] {
		var ok bool
		if n[i], ok = parseInt(arg); !ok {
			return fail(errNotInteger)
		}
	}
	r, ok := makeRate(n[0], n[1], n[2])
	quantity := n[3]
	if !ok || quantity < 0 || quantity > maxTolerance/r.interval {
		return fail(errOutOfRange)
	}
	key, taken := c.Args[1], quantity*r.interval
	integer := c.stmt(sqlGuardInteger, key)
	integer.Refused = &notInteger
	timeArgs := c.key(key, store.Digits(taken))
	args := c.key(key, store.Digits(taken), store.Digits(r.tolerance))
	return write(func(rows *store.Result) resp.Value {
		return r.reply(rows.Rows[3][0][0].Int()-c.Env.Now*1_000_000, taken)
	},
		c.purge(key), c.guardType(key, stringType), integer,
		store.Stmt{SQL: sqlThrottleTime, Args: timeArgs},
		store.Stmt{SQL: sqlThrottle, Args: append(args, c.newVersion(), hashValue(key))})
}

// makeRate returns the rate of count tokens in period seconds, and burst more at once. It returns false for an invalid
// rate.
func makeRate(burst, count, period int64) (rate, bool) {
	if burst < 0 || burst == math.MaxInt64 || count < 1 || period < 1 || period > math.MaxInt64/nanos {
		return rate{}, false
	}
	r := rate{interval: period * nanos / count, limit: burst + 1}
	if r.interval == 0 || r.limit > maxTolerance/r.interval {
		return rate{}, false
	}
	r.tolerance = r.interval * r.limit
	return r, true
}

// reply returns the reply to taking tokens of taken ns if the arrival time is ahead ns ahead of now. Seconds are
// rounded up, so that no client returns too early.
func (r rate) reply(ahead, taken int64) resp.Value {
	limited, retry := int64(0), int64(-1)
	if ahead > r.tolerance-taken {
		limited = 1
		if taken <= r.tolerance {
			retry = seconds(ahead - (r.tolerance - taken))
		}
	} else {
		ahead += taken
	}
	remaining := max(0, r.tolerance-ahead) / r.interval
	reply := resp.MakeArray()
	for _, n := range []int64{limited, r.limit, remaining, retry, seconds(ahead)} {
		reply.Elems = append(reply.Elems, resp.MakeInt(n))
	}
	return reply
}

// seconds converts ns to seconds, rounded up.
func seconds(ns int64) int64 { return (ns + nanos - 1) / nanos }
