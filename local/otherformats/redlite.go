package otherformats

import (
	"strings"
	"sync"

	"github.com/meowdis/meowdis/store/keytype"
)

func isRedlite(f File) bool { return f.has("keys", "id", "db", "key", "type", "expire_at") }

// redliteType names the type of a key. For a geo key, the file already has the name.
const redliteType = `CASE k.type WHEN 1 THEN 'string' WHEN 2 THEN 'hash' WHEN 3 THEN 'list' WHEN 4 THEN 'set'
	WHEN 5 THEN 'zset' WHEN 6 THEN 'stream' WHEN 7 THEN '` + keytype.JSON + `' ELSE k.type END`

// redlite reads the files that Redlite writes: keys have IDs and times are in ms. Older files lack some tables
// and columns.
func redlite(f File) []Table {
	updated := f.column("keys", "updated_at", "k.updated_at", "0")
	return complete(append(redliteStreams(f),
		table("keys", "main.keys k", "k.id",
			id("k.id"), integer("db", "k.db"), keyName("k.key"), hash("k.key", "main.keys", "k.id"), computed("type", redliteType),
			integer("version", f.column("keys", "version", "k.version", updated)), lazy("count", countRedlite(f)),
			integer("expires_at", "k.expire_at"), integer("dies_at", "k.expire_at"),
			stringValue(f, redliteType, "'string'", "strings", "e.key_id = k.id"),
			integer("created_at", f.column("keys", "created_at", "k.created_at", "0")), integer("updated_at", updated)),
		sizes("k.db"),
		f.table("hashes", "hashes", "main.hashes e", "e.rowid",
			owner("e.key_id", 100), hash("e.field", "main.hashes", "e.rowid"), text("field", "e.field"), text("value", "e.value"), plain("seq", "e.rowid")),
		f.table("sets", "sets", "main.sets e", "e.rowid",
			owner("e.key_id", 100), hash("e.member", "main.sets", "e.rowid"), text("member", "e.member"), plain("seq", "e.rowid")),
		redliteZSets(f),
		f.table("lists", "lists", "main.lists e", "e.rowid", owner("e.key_id", 100), plain("pos", "e.pos"), text("value", "e.value")),
		f.table("documents", "json_docs", "main.json_docs e", "e.rowid", owner("e.key_id", 1), text("value", "e.value")),
	)...)
}

// countRedlite counts the elements of the key k. Sorted sets and geo keys have the same type name, and a key
// has rows in only one of their tables.
func countRedlite(f File) string {
	var count strings.Builder
	count.WriteString("CASE k.type")
	for _, t := range []struct{ typ, source string }{
		{"2", "hashes"}, {"3", "lists"}, {"4", "sets"}, {"5", "zsets"}, {"6", "streams"}, {"'zset'", "geo_data"},
	} {
		if f.has(t.source) {
			count.WriteString(" WHEN " + t.typ + " THEN (SELECT count(*) FROM main." + t.source + " e WHERE e.key_id = k.id)")
		}
	}
	return count.String() + " ELSE 0 END"
}

// redliteZSets reads sorted sets and geo keys. Redlite stores positions in degrees, so their scores are
// computed.
func redliteZSets(f File) Table {
	if !f.has("geo_data") {
		return f.table("zsets", "zsets", "main.zsets e", "e.rowid",
			owner("e.key_id", 100), hash("e.member", "main.zsets", "e.rowid"), text("member", "e.member"), number("score", "e.score"))
	}
	return table("zsets", `(SELECT rowid * 2 AS row, key_id, member, score FROM main.zsets
		UNION ALL SELECT rowid * 2 + 1, key_id, member, `+geohash()+` FROM main.geo_data) e`, "e.row",
		owner("e.key_id", 100), hash("e.member", "main.zsets", "e.row"), text("member", "e.member"), number("score", "e.score"))
}

// geohash computes the score of a position: 26 bits of the latitude at the even places and 26 bits of the
// longitude at the odd places.
var geohash = sync.OnceValue(func() string {
	return "(" + spread("CAST((latitude + 85.05112878) / 170.10225756 * 67108864 AS INTEGER)") +
		" | (" + spread("CAST((longitude + 180) / 360 * 67108864 AS INTEGER)") + " << 1))"
})

// spread moves the bits of a 32-bit number to the even places.
func spread(number string) string {
	x := "SELECT " + number + " AS x"
	for _, step := range []string{
		"(x | (x << 16)) & 0x0000ffff0000ffff", "(x | (x << 8)) & 0x00ff00ff00ff00ff", "(x | (x << 4)) & 0x0f0f0f0f0f0f0f0f",
		"(x | (x << 2)) & 0x3333333333333333", "(x | (x << 1)) & 0x5555555555555555",
	} {
		x = "SELECT " + step + " AS x FROM (" + x + ")"
	}
	return "(" + x + ")"
}
