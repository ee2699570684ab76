package otherformats

func isRedka(f File) bool { return f.has("rkey", "id", "key", "type", "etime") }

const redkaType = `CASE k.type WHEN 1 THEN 'string' WHEN 2 THEN 'list' WHEN 3 THEN 'set' WHEN 4 THEN 'hash' WHEN 5 THEN 'zset' END`

// redka reads Redka's files: keys have IDs, there is one database, times are in ms.
func redka(f File) []Table {
	// Older Redka files have no counts; count the elements.
	count := `CASE k.type WHEN 2 THEN (SELECT count(*) FROM main.rlist WHERE kid = k.id)
		WHEN 3 THEN (SELECT count(*) FROM main.rset WHERE kid = k.id)
		WHEN 4 THEN (SELECT count(*) FROM main.rhash WHERE kid = k.id)
		WHEN 5 THEN (SELECT count(*) FROM main.rzset WHERE kid = k.id) ELSE 0 END`
	count = f.column("rkey", "len", `iif(k.type = 1, 0, ifnull(k.len, `+count+`))`, count)
	changed := f.column("rkey", "mtime", "k.mtime", "0")
	return complete(
		table("keys", "main.rkey k", "k.id",
			id("k.id"), keyName("k.key"), hash("k.key", "main.rkey", "k.id"), computed("type", redkaType),
			integer("version", f.column("rkey", "version", "k.version", "0")), lazy("count", count),
			integer("expires_at", "k.etime"), integer("dies_at", "k.etime"),
			stringValue(f, "k.type", "1", "rstring", "e.kid = k.id"),
			integer("created_at", changed), integer("updated_at", changed)),
		table("dbs", "(SELECT count(*) AS keys FROM main.rkey)", "0", plain("db", oneDB), computed("keys", "keys")),
		f.table("hashes", "rhash", "main.rhash e", "e.rowid",
			owner("e.kid", 100), hash("e.field", "main.rhash", "e.rowid"), text("field", "e.field"), text("value", "e.value"), plain("seq", "e.rowid")),
		f.table("sets", "rset", "main.rset e", "e.rowid",
			owner("e.kid", 100), hash("e.elem", "main.rset", "e.rowid"), text("member", "e.elem"), plain("seq", "e.rowid")),
		f.table("zsets", "rzset", "main.rzset e", "e.rowid",
			owner("e.kid", 100), hash("e.elem", "main.rzset", "e.rowid"), text("member", "e.elem"), number("score", "e.score")),
		f.table("lists", "rlist", "main.rlist e", "e.rowid", owner("e.kid", 100), plain("pos", "e.pos"), text("value", "e.elem")),
	)
}
