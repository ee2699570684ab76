package translator

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/store"
)

// sqlKeysizes counts the keys of each database and type by the greatest power of two up to their elements or bytes, 0
// for an empty string.
const sqlKeysizes = `WITH RECURSIVE powers(n) AS (SELECT 1 UNION ALL SELECT n * 2 FROM powers WHERE n < 1 << 40)
	SELECT db, type, coalesce((SELECT max(n) FROM powers WHERE n <= count), 0) AS size, count(*) FROM keys
	WHERE db >= 0 AND (dies_at IS NULL OR dies_at > ?1) AND type IN ('string', 'list', 'set', 'zset', 'hash')
	GROUP BY db, type, size ORDER BY db, type, size`

// sizedTypes lists the types in the section Keysizes, in order.
var sizedTypes = []struct{ typ, line string }{
	{"string", "strings_sizes"}, {"list", "lists_items"}, {"set", "sets_items"}, {"zset", "zsets_items"}, {"hash", "hashes_items"},
}

func keysizesLines(_ *Call, r *store.Result) (lines []string) {
	rows := r.Rows[0]
	for len(rows) > 0 {
		db := rows[0][0].Int()
		bars := map[string][]string{}
		for ; len(rows) > 0 && rows[0][0].Int() == db; rows = rows[1:] {
			typ := string(rows[0][1].Bytes())
			bars[typ] = append(bars[typ], powerName(rows[0][2].Int())+"="+strconv.FormatInt(rows[0][3].Int(), 10))
		}
		for _, t := range sizedTypes {
			if len(bars[t.typ]) > 0 {
				lines = append(lines, "db"+strconv.FormatInt(db, 10)+"_distrib_"+t.line+":"+strings.Join(bars[t.typ], ","))
			}
		}
	}
	return lines
}

// powerName formats a power of two: 512, 1K, 2M.
func powerName(n int64) string {
	unit := 0
	for ; n >= 1024 && unit < 4; unit++ {
		n /= 1024
	}
	return strconv.FormatInt(n, 10) + []string{"", "K", "M", "G", "T"}[unit]
}
