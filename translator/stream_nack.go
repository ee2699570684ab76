package translator

import (
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// sqlRelease makes pending entries nobody's. A delivery at 0 was long ago: they
// can be claimed whatever the idle time, before all others.
const sqlRelease = `INSERT INTO stream_pending(key_id, group_name, id, consumer, delivered_at, deliveries)
	SELECT k.id, ?4, unhex(j.value ->> 0), NULL, 0, CAST(j.value ->> 1 AS INTEGER)
	FROM json_each(?5) j, keys k WHERE k.db = ?1 AND k.key = ?2 AND (k.dies_at IS NULL OR k.dies_at > ?3)
	ON CONFLICT(key_id, group_name, id) DO UPDATE SET consumer = NULL, delivered_at = 0, deliveries = excluded.deliveries`

// xnack gives pending entries back to the group. The mode says what becomes of
// the count of their deliveries.
func xnack(c *Call) Plan {
	silent, fatal := c.is(3, "SILENT"), c.is(3, "FATAL")
	if !silent && !fatal && !c.is(3, "FAIL") {
		return fail(errSyntax)
	}
	l, bad := c.parseIDList(4, true)
	if bad != "" {
		return fail(bad)
	}
	key, group := c.Args[1], store.Bytes(c.Args[2])
	return c.withPending("", c.stmt(sqlClaimOf, key, group, streamIDs(l.ids)), func(_ streamGroup, rows []store.Row) Plan {
		var list []byte
		released := int64(0)
		done := map[streamID]bool{}
		for _, row := range rows {
			id, pending, exists := streamIDOf(row[0]), !row[1].IsNull(), !row[3].IsNull()
			if done[id] || !pending && !(l.force && exists) {
				continue
			}
			deliveries := row[2].Int()
			switch {
			case l.retries >= 0:
				deliveries = l.retries
			case fatal:
				deliveries = mostDeliveries
			case silent:
				deliveries = max(0, deliveries-1)
			}
			done[id] = true
			released++
			list = appendClaim(list, id, deliveries)
		}
		if released == 0 {
			return answer(resp.Zero)
		}
		return write(always(resp.MakeInt(released)), c.stmt(sqlRelease, key, group, store.TextBytes(append(list, ']'))), c.touched(key))
	})
}
