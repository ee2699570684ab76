package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/translator"
)

// lostName holds the index entry of a key without a row.
type lostName struct {
	db, id int64
	key    []byte
}

const (
	namesIndex = "sqlite_autoindex_keys_1"
	scoreIndex = "zsets_by_score"
)

// takes returns the row of a record, and whether the table may contain it.
func (t *salvageTable) takes(rowless bool, c *cell) ([]store.Value, bool) {
	if t.rowless != rowless || len(c.values) < t.least || len(c.values) > len(t.columns) {
		return nil, false
	}
	row := slices.Clone(c.values)
	for i, column := range t.columns {
		if i >= len(row) {
			row = append(row, store.Value{})
			if !column.null {
				row[i] = store.Int(0)
			}
			continue
		}
		if column.row {
			if !row[i].IsNull() {
				return nil, false
			}
			row[i] = store.Int(c.row)
		} else if !column.takes(row[i]) {
			return nil, false
		}
	}
	id := func(i int) bool { return len(row[i].Bytes()) == 16 }
	switch t.name {
	case "keys":
		db := row[1].Int()
		known := slices.ContainsFunc(keytype.Types, func(k *keytype.Type) bool { return k.Name == string(row[4].Bytes()) })
		return row, known && db >= 0 && db < 16 && row[0].Int() > 0 && translator.HashOf(row[2].Bytes()) == row[3].Int()
	case "hashes", "sets", "zsets":
		return row, translator.HashOf(row[2].Bytes()) == row[1].Int()
	case "stream_entries":
		return row, id(1)
	case "streams":
		return row, id(1) && id(2)
	case "stream_pending":
		return row, id(2)
	}
	return row, true
}

func (c *salvageColumn) takes(v store.Value) bool {
	switch v.Kind() {
	case store.Null:
		return c.null
	case store.Integer:
		return c.kind == "INTEGER" || c.kind == "REAL" || c.kind == ""
	case store.Real:
		return c.kind == "REAL" || c.kind == ""
	case store.Text:
		return c.kind == "TEXT"
	default:
		return c.kind == "BLOB"
	}
}

// copyKeys copies the rows of keys.
func (s *Salvage) copyKeys() error {
	i := slices.IndexFunc(s.tables, func(t *salvageTable) bool { return t.name == "keys" })
	keys := s.tables[i]
	return s.eachPage("keys", func(owner string, kind byte, cells []cell) error {
		if kind != leafTable || owner != "" && owner != "keys" || owner == "" && s.known["keys"] {
			if owner == "dbs" {
				s.expect(cells)
			}
			return nil
		}
		for _, c := range cells {
			if row, ok := keys.takes(false, &c); ok {
				if _, err := s.Exam.Query(keys.insert, row...); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// expect adds up the key counts of all databases in the damaged file.
func (s *Salvage) expect(cells []cell) {
	for _, c := range cells {
		if len(c.values) == 2 && c.row >= 0 {
			s.report.Expected += max(0, c.values[1].Int())
		}
	}
}

// copyRows copies the rows of all other tables.
func (s *Salvage) copyRows() error {
	return s.eachPage("elements", func(owner string, kind byte, cells []cell) error {
		rowless := kind != leafTable
		switch {
		case owner == "keys" || owner == "dbs" || owner == "meowdis" || owner == "sqlite_schema":
			return nil
		case owner == scoreIndex, owner == "" && rowless && !s.known["zsets"]:
			if err := s.copyScores(cells); err != nil || owner == scoreIndex {
				return err
			}
		}
		if rowless && (owner == "" || owner == namesIndex) {
			if err := s.noteNames(owner, cells); err != nil || owner == namesIndex {
				return err
			}
		}
		if owner != "" && s.indexes[owner] != owner {
			return nil // another index
		}
		return s.copyPage(owner, rowless, cells)
	})
}

// copyPage copies the rows of a page. If several tables may contain a row, the type of its key decides, or else
// the table of most other rows on the page.
func (s *Salvage) copyPage(owner string, rowless bool, cells []cell) error {
	votes := map[*salvageTable]int{}
	var undecided []int
	put := func(t *salvageTable, c *cell) error {
		row, _ := t.takes(rowless, c)
		_, err := s.Exam.Query(t.insert, row...)
		return err
	}
	for i := range cells {
		t, err := s.tableOf(owner, rowless, &cells[i])
		switch {
		case err != nil:
			return err
		case t == nil:
			undecided = append(undecided, i)
			continue
		}
		votes[t]++
		if err := put(t, &cells[i]); err != nil {
			return err
		}
	}
	if owner != "" {
		return nil
	}
	for _, i := range undecided {
		var best *salvageTable
		for _, t := range s.candidates(rowless, &cells[i]) {
			if votes[t] > 0 && (best == nil || votes[t] > votes[best]) {
				best = t
			}
		}
		if best != nil {
			if err := put(best, &cells[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// candidates returns the tables that may contain a row of a page without a known root.
func (s *Salvage) candidates(rowless bool, c *cell) (all []*salvageTable) {
	for _, t := range s.tables {
		if _, ok := t.takes(rowless, c); ok && t.name != "keys" && !s.known[t.name] {
			all = append(all, t)
		}
	}
	return all
}

// tableOf returns the table of a row, or nil if it is unknown.
func (s *Salvage) tableOf(owner string, rowless bool, c *cell) (*salvageTable, error) {
	if owner != "" {
		i := slices.IndexFunc(s.tables, func(t *salvageTable) bool { return t.name == owner })
		if i < 0 {
			return nil, nil
		}
		if _, ok := s.tables[i].takes(rowless, c); !ok {
			return nil, nil
		}
		return s.tables[i], nil
	}
	all := s.candidates(rowless, c)
	if len(all) == 0 {
		return nil, nil
	}
	var unowned *salvageTable // its rows may look like elements of a key
	if i := slices.IndexFunc(all, func(t *salvageTable) bool { return !t.owned }); i >= 0 {
		unowned = all[i]
	}
	id := c.values[0]
	if !rowless {
		id = store.Int(c.row)
	}
	rows, err := s.Exam.Query(`SELECT type FROM keys WHERE id = ?1`, id)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if len(all) == 1 && rowless {
			return all[0], nil
		}
		return unowned, nil
	}
	for _, t := range all {
		if s.types[t.name] == string(rows[0][0].Bytes()) {
			return t, nil
		}
	}
	return unowned, nil
}

// copyScores copies members of sorted sets from the score index, which has all columns of the table.
func (s *Salvage) copyScores(cells []cell) error {
	for _, c := range cells {
		v := c.values
		if len(v) != 4 || v[0].Kind() != store.Integer || v[2].Kind() != store.Blob || v[3].Kind() != store.Integer ||
			v[1].Kind() != store.Integer && v[1].Kind() != store.Real || translator.HashOf(v[2].Bytes()) != v[3].Int() {
			continue
		}
		if _, err := s.Exam.Query(`INSERT OR IGNORE INTO zsets(key_id, hash, member, score) VALUES(?1, ?2, ?3, ?4)`, v[0], v[3], v[2], v[1]); err != nil {
			return err
		}
	}
	return nil
}

// noteNames records the names of keys without a row. A page without a known root counts only if it has the name
// of a key with a row.
func (s *Salvage) noteNames(owner string, cells []cell) error {
	var lost []lostName
	sure := owner == namesIndex
	for _, c := range cells {
		v := c.values
		if len(v) != 3 || v[0].Kind() != store.Integer || v[1].Kind() != store.Blob || v[2].Kind() != store.Integer || v[0].Int() < 0 || v[0].Int() > 15 {
			continue
		}
		rows, err := s.Exam.Query(`SELECT id = ?3 FROM keys WHERE db = ?1 AND key = ?2 UNION ALL SELECT 0 FROM keys WHERE id = ?3 AND (db, key) <> (?1, ?2)`, v...)
		switch {
		case err != nil:
			return err
		case len(rows) == 0:
			lost = append(lost, lostName{v[0].Int(), v[2].Int(), v[1].Bytes()})
		case rows[0][0].Int() == 1:
			sure = true
		}
	}
	if sure {
		s.names = append(s.names, lost...)
	}
	return nil
}

// nameKeys creates keys for elements whose key has lost its row, under the same name. A string is lost with its
// row.
func (s *Salvage) nameKeys() error {
	found := Finding{Check: "rows", Severity: Error, Says: "the rows of keys are lost; their elements are kept under the same names, without expiry"}
	lost := Finding{Check: "keys", Severity: Error, Says: "keys are lost; their names are known"}
	for _, n := range s.names {
		t, err := s.typeHolding(n.id)
		if err != nil {
			return err
		}
		f := &lost
		if t != nil {
			if err := s.createKey(n, t); err != nil {
				return err
			}
			f = &found
		}
		f.Count++
		f.example(s.Exam, formatRow("db %s: %s", store.Row{store.Int(n.db), store.Bytes(n.key)}))
	}
	for _, f := range []Finding{lost, found} {
		if f.Count > 0 {
			s.report.Lost = append(s.report.Lost, f)
		}
	}
	return nil
}

// typeHolding returns the first type whose tables have elements of the key id; nil if none has.
func (s *Salvage) typeHolding(id int64) (*keytype.Type, error) {
	for _, t := range keytype.Types {
		if !slices.ContainsFunc(t.Tables, func(table keytype.Table) bool { return table.Holds() }) || t.InKey {
			continue
		}
		held, err := s.Exam.Query(`SELECT 1 WHERE ` + heldBy(t, id))
		if err != nil {
			return nil, err
		}
		if len(held) > 0 {
			return t, nil
		}
	}
	return nil, nil
}

// createKey inserts the row of a key whose elements are kept.
func (s *Salvage) createKey(n lostName, t *keytype.Type) error {
	if _, err := s.Exam.Query(`INSERT OR IGNORE INTO keys(id, db, key, hash, type, version, created_at, updated_at)
		VALUES(?1, ?2, ?3, ?4, ?5, random() & 2251799813685247, ?6, ?6)`,
		store.Int(n.id), store.Int(n.db), store.Bytes(n.key), store.Int(translator.HashOf(n.key)), store.String(t.Name), store.Int(s.Exam.Now)); err != nil {
		return err
	}
	_, err := s.Exam.Query(`UPDATE keys AS k SET count = `+elements()+` WHERE id = ?1`, store.Int(n.id))
	return err
}

// heldBy returns an SQL condition: key id has elements of type t.
func heldBy(t *keytype.Type, id int64) string {
	var any []string
	for _, table := range t.Tables {
		if table.Holds() {
			any = append(any, fmt.Sprintf("EXISTS (SELECT 1 FROM %s WHERE key_id = %d)", table.Name, id))
		}
	}
	return strings.Join(any, " OR ")
}
