package translator

import (
	"math"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// sqlRelease removes pending entries from their consumers. They can be claimed whatever the idle time, before all other
// entries, in the order of their release: their delivery times count up from long before 1970, and are shown as 0.
const sqlRelease = `INSERT INTO stream_pending(key_id, group_name, id, consumer, delivered_at, deliveries)
	SELECT k.id, ?4, unhex(j.value ->> 0), NULL,
		ifnull((SELECT max(delivered_at) FROM stream_pending WHERE key_id = ` + liveID + ` AND group_name = ?4 AND delivered_at < 0), ` + releasedFirst + `) + 1 + j.key,
		CAST(j.value ->> 1 AS INTEGER)
	FROM json_each(?5) j, keys k WHERE k.db = ?1 AND k.key = ?2 AND (k.dies_at IS NULL OR k.dies_at > ?3) ORDER BY j.key
	ON CONFLICT(key_id, group_name, id) DO UPDATE SET consumer = NULL, delivered_at = excluded.delivered_at, deliveries = excluded.deliveries`

const releasedFirst = `-4503599627370496`

// release holds the arguments of XNACK.
type release struct {
	silent, fatal bool
	ids           []streamID
	retries       int64 // -1 if not given
	force         bool
}

// parseRelease parses the arguments of XNACK from the mode on.
func (c *Call) parseRelease() (rel release, bad string) {
	rel = release{silent: c.is(3, "SILENT"), fatal: c.is(3, "FATAL"), retries: -1}
	if !rel.silent && !rel.fatal && !c.is(3, "FAIL") {
		return rel, "ERR mode must be SILENT, FAIL, or FATAL"
	}
	var words [][]byte
	for i := 4; i < len(c.Args); i++ {
		more := i+1 < len(c.Args)
		switch {
		case c.is(i, "IDS") && more:
			n, ok := parseInt(c.Args[i+1])
			switch {
			case !ok || n < 1 || n > math.MaxInt32:
				return rel, "ERR numids must be a positive integer"
			case n > int64(len(c.Args)-i-2):
				return rel, "ERR number of IDs doesn't match numids"
			}
			words = c.Args[i+2 : i+2+int(n)]
			i += 1 + int(n)
		case c.is(i, "FORCE"):
			rel.force = true
		case c.is(i, "RETRYCOUNT") && more:
			i++
			var ok bool
			if rel.retries, ok = parseInt(c.Args[i]); !ok {
				return rel, errNotInteger
			}
			if rel.retries < 0 {
				return rel, "ERR Invalid RETRYCOUNT value, must be >= 0"
			}
		default:
			return rel, commands.OneLine("ERR Unrecognized XNACK option '" + commands.Clip(c.Args[i], len(c.Args[i])) + "'")
		}
	}
	if words == nil {
		return rel, "ERR syntax error, expected IDS keyword"
	}
	var ok bool
	if rel.ids, ok = parseStreamIDs(words); !ok {
		return rel, errStreamID
	}
	return rel, ""
}

// count returns the new delivery count.
func (rel release) count(deliveries int64) int64 {
	switch {
	case rel.retries >= 0:
		return rel.retries
	case rel.fatal:
		return maxDeliveries
	case rel.silent:
		return max(0, deliveries-1)
	}
	return deliveries
}

// xnack returns pending entries to the group. A repeated ID is released again.
func xnack(c *Call) Plan {
	rel, bad := c.parseRelease()
	key, group := c.Args[1], store.Bytes(c.Args[2])
	return c.withPending(bad, c.stmt(sqlClaimOf, key, group, streamIDs(rel.ids)), func(_ streamGroup, rows []store.Row, _ *store.Work) Plan {
		var list []byte
		released := int64(0)
		counts := map[streamID]int64{}
		for _, row := range rows {
			id, pending, exists := streamIDOf(row[0]), !row[1].IsNull(), !row[3].IsNull()
			if !pending && !(rel.force && exists) {
				continue
			}
			deliveries, again := counts[id]
			if !again {
				deliveries = row[2].Int()
			}
			counts[id] = rel.count(deliveries)
			released++
			list = appendClaim(list, id, counts[id])
		}
		if released == 0 {
			return answer(resp.Zero)
		}
		return write(always(resp.MakeInt(released)), c.stmt(sqlRelease, key, group, store.TextBytes(append(list, ']'))), c.touch(key))
	})
}
