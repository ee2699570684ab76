package otherformats

import "strings"

// Formats that find elements by the name of their key: the first meowdis's, with one database, text only and
// times in seconds, and Redlite's documented format, with several databases, blobs and times in ms.

// isNamed recognises a file by its lists table, whose position column has the name place.
func isNamed(place string) func(File) bool {
	return func(f File) bool {
		return f.has("keys", "key", "type", "expires_at") && !f.has("keys", "id") && f.has("lists", "key", place)
	}
}

// isOriginal and isDocumented distinguish the two.
func isOriginal(f File) bool   { return isNamed("index")(f) && !f.has("keys", "db") }
func isDocumented(f File) bool { return isNamed("position")(f) && f.has("keys", "db") }

func original(f File) []Table   { return named(f, `e."index"`, "k.expires_at * 1000", "") }
func documented(f File) []Table { return named(f, "e.position", "k.expires_at", " AND e.db = k.db") }

// named reads such a file. place is the position of a list element, expires the expiry of a key, and sameDB the
// condition that an element and its key are in the same database.
func named(f File, place, expires, sameDB string) []Table {
	of := func(source, typ string) string {
		return "main.keys k JOIN main." + source + " e ON e.key = k.key" + sameDB + " AND k.type = '" + typ + "'"
	}
	db, perDB := plain("db", oneDB), ""
	if sameDB != "" {
		db, perDB = integer("db", "k.db"), "k.db"
	}
	return complete(
		table("keys", "main.keys k", "k.rowid",
			id("k.rowid"), db, keyName("k.key"), hash("k.key", "main.keys", "k.rowid"), computed("type", "k.type"),
			integer("version", f.column("keys", "updated_at", "k.updated_at", "0")), lazy("count", countNamed(f, sameDB)),
			integer("expires_at", expires), integer("dies_at", expires),
			stringValue(f, "k.type", "'string'", "strings", "e.key = k.key"+sameDB),
			integer("created_at", f.column("keys", "created_at", "k.created_at", "0")),
			integer("updated_at", f.column("keys", "updated_at", "k.updated_at", "0"))),
		sizes(perDB),
		f.table("hashes", "hashes", of("hashes", "hash"), "e.rowid",
			owner("k.rowid", 100), hash("e.field", "main.hashes", "e.rowid"), text("field", "e.field"), text("value", "e.value"), plain("seq", "e.rowid")),
		f.table("sets", "sets", of("sets", "set"), "e.rowid",
			owner("k.rowid", 100), hash("e.member", "main.sets", "e.rowid"), text("member", "e.member"), plain("seq", "e.rowid")),
		f.table("zsets", "zsets", of("zsets", "zset"), "e.rowid",
			owner("k.rowid", 100), hash("e.member", "main.zsets", "e.rowid"), text("member", "e.member"), number("score", "e.score")),
		f.table("lists", "lists", of("lists", "list"), "e.rowid", owner("k.rowid", 100), plain("pos", place), text("value", "e.value")),
	)
}

// sizes returns the table of database sizes. An empty db means that the file has one database.
func sizes(db string) Table {
	if db == "" {
		return table("dbs", "(SELECT count(*) AS keys FROM main.keys)", "0", plain("db", oneDB), computed("keys", "keys"))
	}
	return table("dbs", "(SELECT "+db+" AS db, count(*) AS keys FROM main.keys k GROUP BY "+db+")", "db", plain("db", "db"), computed("keys", "keys"))
}

// countNamed counts the elements of the key k.
func countNamed(f File, sameDB string) string {
	var count strings.Builder
	count.WriteString("CASE k.type")
	for _, t := range []struct{ typ, source string }{{"hash", "hashes"}, {"list", "lists"}, {"set", "sets"}, {"zset", "zsets"}} {
		if f.has(t.source) {
			count.WriteString(" WHEN '" + t.typ + "' THEN (SELECT count(*) FROM main." + t.source + " e WHERE e.key = k.key" + sameDB + ")")
		}
	}
	return count.String() + " ELSE 0 END"
}
