package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/local/otherformats"
)

// layout describes where a program stores keys and their elements.
type layout struct {
	// The table of keys, and its expiry column.
	keys, expiry string
	seconds      bool // the expiry is in seconds, not in ms
	// on joins the table of keys, k, with a table of elements, e.
	on       string
	elements []elementTable
}

// elementTable holds the elements of one type of key; typ is that type in SQL.
type elementTable struct{ name, typ string }

var layouts = map[string]layout{
	otherformats.Redka: {
		keys: "rkey", expiry: "etime", on: "k.id = e.kid",
		elements: []elementTable{{"rstring", "1"}, {"rlist", "2"}, {"rset", "3"}, {"rhash", "4"}, {"rzset", "5"}},
	},
	otherformats.Redlite: {
		keys: "keys", expiry: "expire_at", on: "k.id = e.key_id",
		elements: []elementTable{
			{"strings", "1"}, {"hashes", "2"}, {"lists", "3"}, {"sets", "4"}, {"zsets", "5"},
			{"streams", "6"}, {"json_docs", "7"},
		},
	},
	otherformats.Documented: {
		keys: "keys", expiry: "expires_at", on: "k.db = e.db AND k.key = e.key",
		elements: textTypes("strings", "hashes", "lists", "sets", "zsets"),
	},
	otherformats.Original: {
		keys: "keys", expiry: "expires_at", seconds: true, on: "k.key = e.key",
		elements: textTypes("strings", "hashes", "lists", "sets"),
	},
}

func textTypes(tables ...string) (all []elementTable) {
	types := map[string]string{"strings": "'string'", "hashes": "'hash'", "lists": "'list'", "sets": "'set'", "zsets": "'zset'"}
	for _, t := range tables {
		all = append(all, elementTable{t, types[t]})
	}
	return all
}

// Foreign examines a file of another program, given its tables. Such a file cannot be repaired.
func (e Exam) Foreign(tables otherformats.File) ([]Finding, error) {
	all, _, err := e.integrity()
	if err != nil {
		return nil, err
	}
	kind := otherformats.Detect(tables)
	if kind == nil {
		return append(all, Finding{Check: "kind", Severity: Error, Says: "not a meowdis file: " + tableNames(tables), Count: 1,
			Advice: "nothing to examine"}), nil
	}
	all = append(all, Finding{Check: "kind", Severity: Note, Says: "this is " + kind.Name, Count: 1,
		Advice: "doctor only reads it; meowdis import converts it to a meowdis file"})
	for _, c := range append(layouts[kind.ID].checks(tables), references) {
		e.step(c.Name)
		more, err := c.run(e)
		if err != nil {
			return all, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// tableNames lists the first tables of a file.
func tableNames(tables otherformats.File) string {
	const most = 5
	names := slices.Sorted(maps.Keys(tables))
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return "tables " + strings.Join(names, ", ")
}

// checks returns the checks for the tables that the file has.
func (f layout) checks(tables otherformats.File) []Check {
	clock := "unixepoch('subsec') * 1000"
	if f.seconds {
		clock = "unixepoch()"
	}
	expired := Check{Name: "expired", Severity: Note, Says: "expired keys still take space", Shows: "%s", Broken: []string{
		fmt.Sprintf(`SELECT key FROM %s WHERE %s <= %s`, f.keys, f.expiry, clock)}}
	orphans := Check{Name: "orphans", Severity: Error, Says: "elements have no key", Shows: "in %s: %s"}
	mismatches := Check{Name: "mismatches", Severity: Error, Says: "elements belong to a key of another type", Shows: "in %s, of key %s, of type %s"}
	hollow := Check{Name: "hollow", Severity: Error, Says: "keys have no elements, or no value", Shows: "%s, of type %s"}
	id := f.on[strings.LastIndex(f.on, "e."):]
	var held, types []string
	for _, t := range f.elements {
		if tables[t.name] == nil {
			continue
		}
		orphans.Broken = append(orphans.Broken, fmt.Sprintf(
			`SELECT '%s', %s FROM %s e WHERE NOT EXISTS (SELECT 1 FROM %s k WHERE %s)`, t.name, id, t.name, f.keys, f.on))
		mismatches.Broken = append(mismatches.Broken, fmt.Sprintf(
			`SELECT DISTINCT '%s', k.key, k.type FROM %s e JOIN %s k ON %s WHERE k.type <> %s`, t.name, t.name, f.keys, f.on, t.typ))
		held = append(held, fmt.Sprintf(`k.type = %s AND EXISTS (SELECT 1 FROM %s e WHERE %s)`, t.typ, t.name, f.on))
		types = append(types, t.typ)
	}
	if len(held) > 0 {
		// A stream, of type 6, may be empty. Types without a table here are not checked.
		hollow.Broken = []string{fmt.Sprintf(`SELECT k.key, k.type FROM %s k WHERE k.type IN (%s) AND k.type <> 6 AND NOT (%s)`,
			f.keys, strings.Join(types, ", "), strings.Join(held, " OR "))}
	}
	return []Check{expired, orphans, mismatches, hollow}
}

// references finds rows that refer to missing rows.
var references = Check{
	Name: "references", Severity: Error, Says: "rows refer to missing rows", Shows: "in %s: %s",
	Broken: []string{`SELECT "table", parent FROM pragma_foreign_key_check`},
}
