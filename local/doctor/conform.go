package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/store"
)

// Conform gives a migrated file the schema of a new one, want. Before the first release, migrations changed
// after files had been made with them, so such files have outdated constraints or columns. Rows keep the values
// of columns that still exist. Conform must run in one transaction with foreign keys off: SQLite deletes the
// rows of a table that it drops, and the rows that refer to them.
func Conform(q Query, want []Object) error {
	have, err := ReadTables(q)
	if err != nil {
		return err
	}
	if changed := tablesOf(missing(want, have)); len(changed) > 0 {
		if err := rebuild(q, have, want, changed); err != nil {
			return err
		}
	}
	return recreate(q, want)
}

// rebuild creates tables again and moves their rows. It drops triggers and views first: triggers must not run,
// and SQLite would search both for the name of a table that it renames.
func rebuild(q Query, have, want, changed []Object) error {
	script := []string{"PRAGMA legacy_alter_table = 1"} // do not rename references to the tables
	for _, o := range have {
		ours := slices.ContainsFunc(want, func(w Object) bool { return w.Type == o.Type && w.Name == o.Name })
		if ours && (o.Type == "trigger" || o.Type == "view") {
			script = append(script, "DROP "+o.Type+" "+o.Name)
		}
	}
	if err := runAll(q, script...); err != nil {
		return err
	}
	for _, table := range changed {
		if err := move(q, table); err != nil {
			return err
		}
	}
	return runAll(q, "PRAGMA legacy_alter_table = 0")
}

// move creates a table again and fills it from the old one. A new column that must not be NULL is 0.
func move(q Query, table Object) error {
	const old = "conform_old"
	before, err := columns(q, table.Name)
	if err != nil {
		return err
	}
	if len(before) == 0 {
		return runAll(q, table.SQL)
	}
	if err := runAll(q, "ALTER TABLE "+table.Name+" RENAME TO "+old, table.SQL); err != nil {
		return err
	}
	after, err := columns(q, table.Name)
	if err != nil {
		return err
	}
	var into, from []string
	for _, c := range after {
		there := slices.ContainsFunc(before, func(b column) bool { return b.name == c.name })
		if there || c.required {
			into = append(into, c.name)
			from = append(from, map[bool]string{true: c.name, false: "0"}[there])
		}
	}
	fill := fmt.Sprintf("INSERT INTO %s(%s) SELECT %s FROM %s", table.Name, strings.Join(into, ", "), strings.Join(from, ", "), old)
	if err := runAll(q, fill, "DROP TABLE "+old); err != nil {
		return err
	}
	for _, n := range namedTables {
		if n.table == table.Name {
			return n.fixHashes(q)
		}
	}
	return nil
}

// column describes a stored column of a table; a required one has no default.
type column struct {
	name     string
	required bool
}

func columns(q Query, table string) (all []column, err error) {
	rows, err := q(`SELECT name, "notnull" AND dflt_value IS NULL FROM pragma_table_info(?1)`, store.String(table))
	for _, row := range rows {
		all = append(all, column{string(row[0].Bytes()), row[1].Int() != 0})
	}
	return all, err
}

func runAll(q Query, statements ...string) error {
	for _, sql := range statements {
		if _, err := q(sql); err != nil {
			return err
		}
	}
	return nil
}
