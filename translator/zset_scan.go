package translator

import (
	"bytes"
	"cmp"
	"math"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// sqlZSetPage corresponds to sqlSetPage (elements_scan.go), in the order of the scores. Its last column reports whether
// the sorted set is within the limits ?6 and ?7 of Redis's compact encoding.
const sqlZSetPage = `WITH page(id, type, first, last, compact) AS MATERIALIZED (
		SELECT id, type, -1, ` + beyondHashes + `, (SELECT max(length(member)) <= ?7 FROM zsets WHERE key_id = id) FROM keys WHERE ` + live + ` AND count <= ?6
		UNION ALL SELECT id, type, ?4, ifnull(
			(SELECT hash FROM zsets WHERE key_id = id AND hash > ?4 ORDER BY hash LIMIT 1 OFFSET CAST(?5 AS INTEGER)), ` + beyondHashes + `), 0
		FROM keys WHERE ` + live + ` AND count > ?6)
	SELECT p.type, p.last, z.member, z.score, p.compact FROM page p
	LEFT JOIN zsets z ON z.key_id = p.id AND z.hash > p.first AND z.hash <= p.last`

// compareScore orders the rows of a page by score and by member.
func compareScore(a, b store.Row) int {
	return cmp.Or(cmp.Compare(a[3].Float(), b[3].Float()), bytes.Compare(a[2].Bytes(), b[2].Bytes()))
}

// scannedMember returns a member and its score: as usual in Redis's compact encoding, which keeps the text, otherwise
// with 17 digits.
func scannedMember(row []store.Value) []resp.Value {
	member, score := bulk(row[0]), bulk(row[1])
	if row[2].Int() == 0 {
		score = resp.MakeBulk(longDigits(row[1].Float()))
	}
	return []resp.Value{member, score}
}

// longDigits formats f like C's %.17g.
func longDigits(f float64) []byte {
	if math.IsInf(f, 0) {
		return []byte(resp.FormatDouble(f))
	}
	return strconv.AppendFloat(nil, f, 'g', 17, 64)
}
