package doctor

import (
	"slices"
	"strings"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// Object is a table, index, trigger or view of a schema.
type Object struct{ Type, Name, SQL string }

// hashIndex is built at the end of a load. If the load was killed, the first process that needs it builds it.
const hashIndex = "keys_by_hash"

// ReadTables lists the schema of a file.
func ReadTables(q Query) ([]Object, error) {
	rows, err := q(`SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY type, name`)
	var all []Object
	for _, r := range rows {
		all = append(all, Object{string(r[0].Bytes()), string(r[1].Bytes()), string(r[2].Bytes())})
	}
	return all, err
}

// tables compares the schema with a new file's. whole reports whether all tables are as expected; otherwise the
// content cannot be examined.
func (e Exam) tables() ([]Finding, bool, error) {
	if e.Tables == nil {
		return nil, true, nil
	}
	have, err := ReadTables(e.Query)
	if err != nil {
		return nil, false, err
	}
	tables := Finding{Check: "tables", Severity: Error, Says: "tables are missing or changed", Advice: "restore a backup"}
	rest := Finding{Check: "schema", Severity: Error, Says: "indexes, triggers or views are missing or changed", Fix: "they are created again"}
	loading := !slices.ContainsFunc(have, func(o Object) bool { return o.Name == hashIndex })
	want, err := e.expected(have)
	if err != nil {
		return nil, false, err
	}
	for _, o := range missing(want, have) {
		f := &rest
		switch {
		case o.Type == "table":
			f = &tables
		case o.Name == hashIndex && loading:
			continue
		}
		f.Count++
		f.example(e, o.Type+" "+o.Name)
	}
	more := Finding{Check: "additions", Severity: Warning, Says: "unknown tables, indexes or triggers",
		Advice: "an unknown trigger runs with every command; DROP the ones you do not need"}
	for _, o := range unknownObjects(slices.Concat(e.Tables, triggers(schema.SearchTriggers), triggers(schema.SearchStringTriggers)), have) {
		more.Count++
		more.example(e, o.Type+" "+o.Name)
	}
	return nonEmpty(tables, rest, more), tables.Count == 0, nil
}

// expected returns the schema of a new file, with the triggers of search if the file has an index.
func (e Exam) expected(have []Object) ([]Object, error) {
	if !slices.ContainsFunc(have, func(o Object) bool { return o.Name == "search_indexes" }) {
		return e.Tables, nil
	}
	rows, err := e.Query(`SELECT max(` + schema.IndexesStrings + `) FROM search_indexes`)
	if err != nil || len(rows) == 0 || rows[0][0].IsNull() {
		return e.Tables, err
	}
	all := slices.Concat(e.Tables, triggers(schema.SearchTriggers))
	if rows[0][0].Int() != 0 {
		all = append(all, triggers(schema.SearchStringTriggers)...)
	}
	return all, nil
}

// triggers returns the triggers that statements create.
func triggers(list []string) (all []Object) {
	for _, sql := range list {
		sql = strings.Replace(sql, " IF NOT EXISTS", "", 1)
		all = append(all, Object{"trigger", strings.Fields(sql)[2], sql})
	}
	return all
}

// missing returns the objects of want that have lacks or defines differently.
func missing(want, have []Object) (all []Object) {
	there := map[string]string{}
	for _, o := range have {
		there[o.Type+" "+o.Name] = withoutLayout(o.SQL)
	}
	for _, o := range want {
		if there[o.Type+" "+o.Name] != withoutLayout(o.SQL) {
			all = append(all, o)
		}
	}
	return all
}

// unknownObjects returns the objects of have that are not in want. Views are ignored, and tables whose name begins
// with _ belong to the storage engine.
func unknownObjects(want, have []Object) (all []Object) {
	known := map[string]bool{}
	for _, o := range want {
		known[o.Type+" "+o.Name] = true
	}
	for _, o := range have {
		engines := strings.HasPrefix(o.Name, "_") && (o.Type == "table" || o.Type == "index")
		if o.Type != "view" && !engines && !known[o.Type+" "+o.Name] {
			all = append(all, o)
		}
	}
	return all
}

// withoutLayout removes the layout from SQL.
func withoutLayout(sql string) string { return strings.Join(strings.Fields(sql), " ") }

// recreate drops changed objects and creates missing ones.
func recreate(q Query, want []Object) error {
	have, err := ReadTables(q)
	if err != nil {
		return err
	}
	for _, o := range missing(want, have) {
		for _, sql := range []string{"DROP " + o.Type + " IF EXISTS " + o.Name, o.SQL} {
			if _, err := q(sql); err != nil {
				return err
			}
		}
	}
	return nil
}

// expired finds expired keys and fields that were not swept yet, and the elements of deleted keys.
func (e Exam) expired() (found []Finding, err error) {
	e.step("expiry")
	rows, err := e.Query(`SELECT (SELECT count(*) FROM keys WHERE dies_at <= ?1), (SELECT count(*) FROM hashes WHERE expires_at <= ?1),
		(SELECT count(*) FROM pending_deletes)`, store.Int(e.Now))
	if err != nil {
		return nil, err
	}
	const fix = "they are deleted, as a running meowdis does in the background"
	if n := rows[0][0].Int() + rows[0][1].Int(); n > 0 {
		found = append(found, Finding{Check: "expired", Severity: Note, Says: "expired keys and fields still take space", Count: n,
			Examples: []string{formatRow("%s keys, %s fields", rows[0][:2])}[:min(e.Examples, 1)], Fix: fix})
	}
	if n := rows[0][2].Int(); n > 0 {
		found = append(found, Finding{Check: "deleted", Severity: Note, Says: "elements of deleted keys still take space", Count: n, Fix: fix})
	}
	return found, nil
}

// Smaller amounts of space are not reported, in bytes.
const (
	smallFree = 1 << 20
	smallLog  = 64 << 20
)

// room finds space that can be reclaimed.
func (e Exam) room() (found []Finding, err error) {
	var numbers [3]int64
	for i, name := range []string{"page_size", "page_count", "freelist_count"} {
		rows, err := e.Query("PRAGMA " + name)
		if err != nil {
			return nil, err
		}
		numbers[i] = rows[0][0].Int()
	}
	size, pages, free := numbers[0], numbers[1], numbers[2]
	if free*size > smallFree && free > pages/4 {
		found = append(found, Finding{Check: "free", Severity: Note, Says: "bytes in free pages", Count: free * size, Advice: "meowdis vacuum reclaims them"})
	}
	if e.LogBytes > smallLog {
		found = append(found, Finding{Check: "log", Severity: Note, Says: "bytes in the WAL", Count: e.LogBytes,
			Advice: "a process has been reading for a long time, or crashed; meowdis vacuum empties the WAL"})
	}
	return found, nil
}
