package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// foreign is what is known of the tables of another program that keeps Redis's
// data in SQLite.
type foreign struct {
	name string
	// The table of keys, with its columns for the expiry and the type.
	keys, expiry, typ string
	seconds           bool // the expiry is in seconds, not in ms
	// on joins the table of keys, k, with one of elements, e.
	on string
	// marks are columns that the tables must have, and lacks one that the
	// table of keys must not have.
	marks    map[string][]string
	lacks    string
	elements []foreignTable
}

// foreignTable holds the elements of the keys whose type is one of types.
type foreignTable struct{ name, types string }

var foreigners = []foreign{
	{
		name: "Redka", keys: "rkey", expiry: "etime", typ: "type", on: "k.id = e.kid",
		marks:    map[string][]string{"rkey": {"id", "key", "type", "etime"}},
		elements: []foreignTable{{"rstring", "1"}, {"rlist", "2"}, {"rset", "3"}, {"rhash", "4"}, {"rzset", "5"}},
	},
	{
		name: "Redlite", keys: "keys", expiry: "expire_at", typ: "type", on: "k.id = e.key_id",
		marks: map[string][]string{"keys": {"id", "key", "type", "expire_at"}},
		elements: []foreignTable{
			{"strings", "1"}, {"hashes", "2"}, {"lists", "3"}, {"sets", "4"}, {"zsets", "5"},
			{"streams", "6"}, {"json_docs", "7"},
		},
	},
	{
		name: "Redlite, as its documentation has it", keys: "keys", expiry: "expires_at", typ: "type", on: "k.db = e.db AND k.key = e.key",
		marks: map[string][]string{"keys": {"db", "key", "type", "expires_at"}, "lists": {"position"}}, lacks: "id",
		elements: textTypes("strings", "hashes", "lists", "sets", "zsets"),
	},
	{
		name: "the meowdis of 2026", keys: "keys", expiry: "expires_at", typ: "type", seconds: true, on: "k.key = e.key",
		marks: map[string][]string{"keys": {"key", "type", "expires_at"}, "lists": {"index"}}, lacks: "db",
		elements: textTypes("strings", "hashes", "lists", "sets"),
	},
}

func textTypes(tables ...string) (all []foreignTable) {
	types := map[string]string{"strings": "'string'", "hashes": "'hash'", "lists": "'list'", "sets": "'set'", "zsets": "'zset'"}
	for _, t := range tables {
		all = append(all, foreignTable{t, types[t]})
	}
	return all
}

// Foreign examines a file whose tables are not ours. It cannot be mended.
func (e Exam) Foreign() ([]Finding, error) {
	all, _, err := e.integrity()
	if err != nil {
		return nil, err
	}
	columns, err := readColumns(e.Query)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(foreigners, func(f foreign) bool { return f.made(columns) })
	if i < 0 {
		return append(all, Finding{Check: "kind", Severity: Error, Says: "the tables are of no kind that is known", Count: 1,
			Advice: "this is a SQLite file of another program"}), nil
	}
	f := foreigners[i]
	all = append(all, Finding{Check: "kind", Severity: Note, Says: "the file was made by " + f.name, Count: 1,
		Advice: "other programs' files are looked at and never changed"})
	for _, c := range f.checks(columns) {
		e.step(c.Name)
		more, err := c.run(e)
		if err != nil {
			return all, err
		}
		all = append(all, more...)
	}
	more, err := e.references()
	return append(all, more...), err
}

// readColumns are the columns of each table.
func readColumns(q Query) (map[string][]string, error) {
	rows, err := q(`SELECT s.name, c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c WHERE s.type = 'table'`)
	columns := map[string][]string{}
	for _, r := range rows {
		table := string(r[0].Bytes())
		columns[table] = append(columns[table], string(r[1].Bytes()))
	}
	return columns, err
}

func (f foreign) made(columns map[string][]string) bool {
	for table, marks := range f.marks {
		for _, mark := range marks {
			if !slices.Contains(columns[table], mark) {
				return false
			}
		}
	}
	return f.lacks == "" || !slices.Contains(columns[f.keys], f.lacks)
}

// checks are those of the tables that the file has.
func (f foreign) checks(columns map[string][]string) []Check {
	clock := "unixepoch('subsec') * 1000"
	if f.seconds {
		clock = "unixepoch()"
	}
	expired := Check{Name: "expired", Severity: Note, Says: "keys have expired and still take room", Shows: "%s", Broken: []string{
		fmt.Sprintf(`SELECT key FROM %s WHERE %s <= %s`, f.keys, f.expiry, clock)}}
	orphans := Check{Name: "orphans", Severity: Error, Says: "elements have no key", Shows: "in %s: %s"}
	mismatches := Check{Name: "mismatches", Severity: Error, Says: "elements hang on a key of another type", Shows: "in %s, of key %s, of type %s"}
	hollow := Check{Name: "hollow", Severity: Error, Says: "keys have no elements, or no value", Shows: "%s, of type %s"}
	var held, types []string
	for _, t := range f.elements {
		if columns[t.name] == nil {
			continue
		}
		id := f.on[strings.LastIndex(f.on, "e."):]
		orphans.Broken = append(orphans.Broken, fmt.Sprintf(
			`SELECT '%s', %s FROM %s e WHERE NOT EXISTS (SELECT 1 FROM %s k WHERE %s)`, t.name, id, t.name, f.keys, f.on))
		mismatches.Broken = append(mismatches.Broken, fmt.Sprintf(
			`SELECT DISTINCT '%s', k.key, k.%s FROM %s e JOIN %s k ON %s WHERE k.%s <> %s`, t.name, f.typ, t.name, f.keys, f.on, f.typ, t.types))
		held = append(held, fmt.Sprintf(`k.%s = %s AND EXISTS (SELECT 1 FROM %s e WHERE %s)`, f.typ, t.types, t.name, f.on))
		types = append(types, t.types)
	}
	if len(held) > 0 {
		// A stream may be empty, and types without a table here are not judged.
		hollow.Broken = []string{fmt.Sprintf(`SELECT k.key, k.%s FROM %s k WHERE k.%s IN (%s) AND k.%s <> 6 AND NOT (%s)`,
			f.typ, f.keys, f.typ, strings.Join(types, ", "), f.typ, strings.Join(held, " OR "))}
	}
	return []Check{expired, orphans, mismatches, hollow}
}

// references looks for rows that refer to a row that is not there.
func (e Exam) references() ([]Finding, error) {
	c := Check{Name: "references", Severity: Error, Says: "rows refer to rows that are not there", Shows: "in %s: %s",
		Broken: []string{`SELECT "table", parent FROM pragma_foreign_key_check`}}
	return c.run(e)
}
