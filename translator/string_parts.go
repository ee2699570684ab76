package translator

import (
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// maxString limits the length of a string, as Redis does by default.
const maxString = 512 << 20

// A long string is stored in parts (see the schema), so that it is read and written in parts. keyParts joins them to
// the row k of keys: a string has the columns stringColumns, and a row for each part.
const (
	stringColumns = `k.value, k.count, p.part, p.value`
	keyParts      = ` LEFT JOIN string_parts p ON p.key_id = iif(k.count > 0, k.id, NULL)`
)

// sizeColumn returns the Size of a statement that reads a string with its parts, 0 for any other statement.
func sizeColumn(sql string) int {
	switch sql {
	case sqlGet, dumped[dumpString]:
		return 2
	case sqlGetRange:
		return 7
	}
	return 0
}

// stringOf returns the string in rows of stringColumns.
func stringOf(rows []store.Row, w *store.Work) resp.Value {
	size := rows[0][1].Int()
	switch {
	case rows[0][0].IsNull():
		return wrongType
	case size > 0:
		return resp.MakeBulk(joined(rows, 2, 0, min(size, maxString), w))
	}
	return resp.MakeBulk(rows[0][0].Bytes())
}

// One step joins bytesPerStep bytes of a string.
const bytesPerStep = 16

// joined returns the bytes from first to end of a string in parts. Column i of rows is the number of the part, and the
// next column its bytes.
func joined(rows []store.Row, i int, first, end int64, w *store.Work) []byte {
	w.Step(int(max(0, end-first)) / bytesPerStep)
	value := make([]byte, max(0, end-first))
	for _, row := range rows {
		part, bytes := row[i].Int(), row[i+1].Bytes()
		if part < 0 || part > maxString/schema.StringPart {
			continue // the file is damaged
		}
		at := part*schema.StringPart - first
		if at < 0 {
			bytes = bytes[min(-at, int64(len(bytes))):]
		}
		if at = max(0, at); at < int64(len(value)) {
			copy(value[at:], bytes)
		}
	}
	return value
}

// atEnd stands for the offset of an append.
const atEnd = int64(-1)

// A splice is given by the bytes, or their number, and the offset; a negative offset counts from the new end.
// sqlReadKeySize reads the present size. sqlStretch moves a string into parts if it is or becomes a long one, and
// refuses one beyond maxString. sqlEditShort and sqlAppendShort change a string that is not in parts. sqlEditParts
// changes one in parts; its array ?5 has an element for each part that it may touch. sqlMakeLong and sqlAddPart write a
// new one. substr of an empty blob is NULL.
const (
	sqlReadKeySize = keyColumns + `, ` + sizeNow + ` FROM keys k` + whereKey

	sqlStretch = `UPDATE keys SET type = type, count = iif(` + stretched + ` <= 536870912, ` + stretched + `, NULL)
		WHERE db = ?1 AND key = ?2 AND ` + stretched + ` > ` + schema.WholeBytes
	stretched    = `max(` + sizeNow + `, iif(?4 < 0, ` + sizeNow + `, ?4) + ?3)`
	sizeNow      = `iif(count > 0, count, length(value))`
	sqlEditShort = `UPDATE keys SET value = CAST(
			coalesce(substr(value, 1, ?5), '') || zeroblob(max(0, ?5 - length(value))) || ?4 ||
			coalesce(substr(value, ?5 + length(?4) + 1), '') AS BLOB)` + editedShort
	sqlAppendShort = `UPDATE keys SET value = CAST(value || ?4 AS BLOB)` + editedShort
	editedShort    = `, version = version + 1, updated_at = ?3 WHERE db = ?1 AND key = ?2 AND count = 0`
	sqlEditedLong  = sqlTouch + ` AND count > 0`
	sqlEditParts   = `INSERT INTO string_parts(key_id, part, value)
		SELECT owner, n.part, CAST(
			coalesce(substr(p.value, 1, at), '') || zeroblob(max(0, at - ifnull(length(p.value), 0))) || bytes ||
			coalesce(substr(p.value, at + length(bytes) + 1), '') AS BLOB)
		FROM (SELECT owner, part, max(0, start - part * ` + schema.PartBytes + `) AS at,
				substr(?3, max(0, part * ` + schema.PartBytes + ` - start) + 1, ` + schema.PartBytes + ` - max(0, start - part * ` + schema.PartBytes + `)) AS bytes
			FROM (SELECT owner, start, start / ` + schema.PartBytes + ` + j.key AS part
				FROM (SELECT id AS owner, CAST(iif(?4 < 0, count + ?4, ?4) AS INTEGER) AS start FROM keys WHERE db = ?1 AND key = ?2 AND count > 0)
				CROSS JOIN json_each(?5) j)
			WHERE part * ` + schema.PartBytes + ` < start + length(?3)) n
		LEFT JOIN string_parts p ON p.key_id = n.owner AND p.part = n.part WHERE true
		ON CONFLICT(key_id, part) DO UPDATE SET value = excluded.value`
	sqlMakeLong = `UPDATE keys SET type = type, count = ?3 WHERE db = ?1 AND key = ?2`
	sqlAddPart  = `INSERT INTO string_parts(key_id, part, value) SELECT id, ?3, ?4 FROM keys WHERE db = ?1 AND key = ?2`
)

var stringTooLong = resp.MakeError(errStringTooLong)

// splice returns the statements that write bytes at offset into the string at key, which may be missing. bytes may be
// empty only for an append. Statement 0 reads the key.
func (c *Call) splice(key []byte, offset int64, bytes []byte) []store.Stmt {
	keyRead, purge, ensure := c.stmt(sqlReadKeySize, key), c.purge(key), c.ensureString(key)
	purge.SkipIf, ensure.SkipIf = isNotExpired, isString
	staysShort := func(before store.Result) bool { return splicedSize(before.Rows, offset, bytes) <= schema.WholeString }
	stretch := store.Stmt{
		SQL: sqlStretch, Args: append(c.key(key)[:2], store.Int(int64(len(bytes))), store.Int(offset)),
		Refused: &stringTooLong, SkipIf: staysShort,
	}
	short := c.stmt(sqlAppendShort, key, store.Bytes(bytes))
	if offset != atEnd {
		short = c.stmt(sqlEditShort, key, store.Bytes(bytes), store.Int(offset))
	}
	stmts := append(make([]store.Stmt, 0, 8), keyRead, purge, ensure, stretch, short)
	for _, edit := range append(c.editParts(key, offset, bytes), c.stmt(sqlEditedLong, key)) {
		edit.SkipIf = staysShort
		stmts = append(stmts, edit)
	}
	return stmts
}

func isString(before store.Result) bool { return isType(liveRow(before.Rows), stringType) }

// splicedSize returns the length of the string after a splice, from the row of statement 0.
func splicedSize(rows [][]store.Row, offset int64, bytes []byte) int64 {
	size, n := int64(0), int64(len(bytes))
	if row := liveRow(rows); isType(row, stringType) {
		size = row[rowExtra].Int()
	}
	if offset == atEnd {
		return size + n
	}
	return max(size, offset+n)
}

// planSplice plans a splice that replies with the new length.
func (c *Call) planSplice(key []byte, offset int64, bytes []byte) Plan {
	return write(func(r *store.Result) resp.Value { return resp.MakeInt(splicedSize(r.Rows, offset, bytes)) },
		c.splice(key, offset, bytes)...)
}

// longestArgument limits the bytes of an argument: some engines accept no more than 2 MB.
const longestArgument = 1 << 20

// editParts returns the statements that write bytes into a string in parts.
func (c *Call) editParts(key []byte, offset int64, bytes []byte) (stmts []store.Stmt) {
	if offset == atEnd {
		offset = -int64(len(bytes))
	}
	for piece := range slices.Chunk(bytes, longestArgument) {
		touched := "[" + strings.Repeat("0,", len(piece)/schema.StringPart+1) + "0]" // or one less
		stmts = append(stmts, store.Stmt{SQL: sqlEditParts, Args: append(c.key(key)[:2], store.Bytes(piece), store.Int(offset), store.String(touched))})
		offset += int64(len(piece))
	}
	return stmts
}

// isLong reports whether a value is stored in parts.
func isLong(value []byte) bool { return len(value) > schema.WholeString }

// makeLong returns the statements that replace the empty string at key, which must exist, with a long one.
func (c *Call) makeLong(key, value []byte) []store.Stmt {
	named := c.key(key)[:2:2]
	stmts := []store.Stmt{{SQL: sqlMakeLong, Args: append(named, store.Int(int64(len(value))))}}
	for part := range slices.Chunk(value, schema.StringPart) {
		stmts = append(stmts, store.Stmt{SQL: sqlAddPart, Args: append(named, store.Int(int64(len(stmts)-1)), store.Bytes(part))})
	}
	return stmts
}
