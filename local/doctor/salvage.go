package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/translator"
)

// Salvage copies the rows of a damaged file to a new one. It reads the pages without SQLite. A page of rows
// depends only on the pages of its long values. The table of a row follows from the pages above it, if they are
// intact, or else from the shape of the row, the hash of its name and the type of its key.
//
// Freed pages may hold rows of deleted keys. They are skipped if the free list is intact, or if all pages of
// the table are known.
type Salvage struct {
	// File is the damaged file, and Log its WAL, or nil.
	File     io.ReaderAt
	FileSize int64
	Log      io.ReaderAt
	// Exam examines the new file, which has our tables and no rows. Its Query runs in the transaction that
	// fills the file.
	Exam Exam

	pages   *pages
	tables  []*salvageTable
	owner   map[uint32]string // the table or index of a page with a known root
	known   map[string]bool   // tables and indexes whose pages are all in owner
	free    map[uint32]bool   // freed pages
	roots   map[string]uint32
	indexes map[string]string // the table of an index
	types   map[string]string // the key type of an element table
	names   []lostName
	report  Salvaged
}

// Salvaged reports the outcome.
type Salvaged struct {
	Keys     int64     `json:"keys"`               // in the new file
	Expected int64     `json:"expected,omitempty"` // unexpired keys of the damaged file, if known
	Pages    int64     `json:"pages"`              // of the damaged file
	Damaged  int64     `json:"damaged_pages"`      // known pages of rows that cannot be read completely
	Lost     []Finding `json:"lost"`
}

// salvageTable describes a table that receives rows.
type salvageTable struct {
	name    string
	columns []salvageColumn
	least   int // columns that a row must have
	rowless bool
	owned   bool // rows belong to the key in their first column
	insert  string
}

type salvageColumn struct {
	name, kind string
	null, row  bool // row marks the row ID
}

// lostName holds the index entry of a key without a row.
type lostName struct {
	db, id int64
	key    []byte
}

const (
	namesIndex = "sqlite_autoindex_keys_1"
	scoreIndex = "zsets_by_score"
)

// Run copies all readable rows, repairs the new file, and reports the losses.
func (s *Salvage) Run() (Salvaged, error) {
	s.pages = openPages(s.File, s.FileSize, s.Log)
	s.report.Pages = int64(s.pages.count)
	for _, step := range []func() error{s.describe, s.survey, s.copyKeys, s.copyRows, s.nameKeys, s.mend} {
		if err := step(); err != nil {
			return s.report, err
		}
	}
	return s.report, nil
}

// describe reads the tables of the new file.
func (s *Salvage) describe() error {
	s.types = map[string]string{}
	for _, t := range keytype.Types {
		for _, table := range t.Tables {
			s.types[table.Name] = t.Name
		}
	}
	tables, err := s.Exam.Query(`SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
		AND name NOT LIKE 'sqlite_%' AND name NOT IN ('meowdis', 'guard', 'dbs') ORDER BY name`)
	if err != nil {
		return err
	}
	for _, row := range tables {
		t := &salvageTable{name: string(row[0].Bytes()), rowless: row[1].Int() == 1}
		columns, err := s.Exam.Query(`SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?1) WHERE hidden = 0
			ORDER BY CASE WHEN ?2 THEN iif(pk > 0, pk, 1000) ELSE 0 END, cid`, row[0], row[1])
		if err != nil {
			return err
		}
		var names, marks []string
		for i, c := range columns {
			kind, pk := string(c[1].Bytes()), c[3].Int() > 0
			t.columns = append(t.columns, salvageColumn{
				name: string(c[0].Bytes()), kind: kind, null: c[2].Int() == 0 && !pk, row: pk && !t.rowless && kind == "INTEGER",
			})
			names = append(names, string(c[0].Bytes()))
			marks = append(marks, fmt.Sprintf("?%d", i+1))
		}
		if t.least = len(t.columns); t.name == "keys" {
			t.least -= 3 // rows from before the migrations that added columns
		}
		_, t.owned = s.types[t.name]
		t.insert = `INSERT OR IGNORE INTO ` + t.name + `(` + strings.Join(names, ", ") + `) VALUES(` + strings.Join(marks, ", ") + `)`
		s.tables = append(s.tables, t)
	}
	return nil
}

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
		return c.kind == "INTEGER" || c.kind == "REAL"
	case store.Real:
		return c.kind == "REAL"
	case store.Text:
		return c.kind == "TEXT"
	default:
		return c.kind == "BLOB"
	}
}

// survey finds the roots of tables and indexes, the pages under them, and the free pages.
func (s *Salvage) survey() error {
	s.owner, s.known, s.free = map[uint32]string{}, map[string]bool{}, map[uint32]bool{}
	s.roots, s.indexes = map[string]uint32{}, map[string]string{}
	s.freePages()
	s.Exam.step("pages of the damaged file")
	for number := uint32(1); number <= s.pages.count; number++ {
		kind, cells, _, _ := s.pages.node(number)
		if kind != leafTable || s.free[number] {
			continue
		}
		for _, c := range cells {
			v := c.values
			if len(v) != 5 || v[0].Kind() != store.Text || v[1].Kind() != store.Text || v[2].Kind() != store.Text || v[3].Kind() != store.Integer {
				continue
			}
			name, root := string(v[1].Bytes()), v[3].Int()
			if typ := string(v[0].Bytes()); (typ == "table" || typ == "index") && root > 1 && root <= int64(s.pages.count) {
				s.roots[name], s.indexes[name] = uint32(root), string(v[2].Bytes())
				s.owner[number] = "sqlite_schema"
			}
		}
	}
	for name, root := range s.roots {
		s.known[name] = s.walk(name, root, 0)
	}
	return nil
}

// freePages reads the free list as far as it is intact.
func (s *Salvage) freePages() {
	first := s.pages.page(1)
	if first == nil || string(first[:len(fileMagic)]) != fileMagic {
		return
	}
	number := func(b []byte) uint32 { return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]) }
	for trunk := number(first[32:]); trunk > 1 && trunk <= s.pages.count && !s.free[trunk]; {
		s.free[trunk] = true
		b := s.pages.page(trunk)
		if b == nil {
			return
		}
		n := int(number(b[4:]))
		if n > s.pages.usable/4-2 {
			return
		}
		for i := range n {
			s.free[number(b[8+4*i:])] = true
		}
		trunk = number(b)
	}
}

// deepest limits the levels of a b-tree; an intact one has far fewer.
const deepest = 20

// walk records the pages under one page of a table or index, and reports whether all of them can be read.
func (s *Salvage) walk(name string, number uint32, depth int) bool {
	if _, seen := s.owner[number]; seen || depth > deepest || number < 1 || number > s.pages.count || s.free[number] {
		return false
	}
	kind, cells, last, broken := s.pages.node(number)
	if kind == 0 {
		s.report.Damaged++
		s.owner[number] = name
		return false
	}
	s.owner[number] = name
	whole := broken == 0
	if broken > 0 {
		s.report.Damaged++
	}
	if kind == leafIndex || kind == leafTable {
		return whole
	}
	for _, c := range cells {
		whole = s.walk(name, c.child, depth+1) && whole
	}
	return s.walk(name, last, depth+1) && whole
}

// eachPage calls fn with the rows of each page. Pages with a known root come first, since other pages may be
// older.
func (s *Salvage) eachPage(what string, fn func(owner string, kind byte, cells []cell) error) error {
	s.Exam.step(what)
	for _, owned := range []bool{true, false} {
		for number := uint32(1); number <= s.pages.count; number++ {
			owner, is := s.owner[number]
			if is != owned || s.free[number] {
				continue
			}
			kind, cells, _, _ := s.pages.node(number)
			if kind == 0 || kind == innerTable {
				continue
			}
			if err := fn(owner, kind, cells); err != nil {
				return err
			}
		}
	}
	return nil
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
		for _, t := range s.tables {
			if t.name == owner {
				if _, ok := t.takes(rowless, c); ok {
					return t, nil
				}
			}
		}
		return nil, nil
	}
	all := s.candidates(rowless, c)
	if len(all) == 0 {
		return nil, nil
	}
	if !all[0].owned {
		return all[0], nil
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
		return nil, nil
	}
	for _, t := range all {
		if s.types[t.name] == string(rows[0][0].Bytes()) {
			return t, nil
		}
	}
	return nil, nil
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
	found := Finding{Check: "rows", Severity: Error, Says: "the rows of keys are lost; their elements are kept under the same names, without a time to live"}
	lost := Finding{Check: "keys", Severity: Error, Says: "keys are lost, and their names are known"}
	for _, n := range s.names {
		f := &lost
		for _, t := range keytype.Types {
			if !slices.ContainsFunc(t.Tables, func(table keytype.Table) bool { return table.Holds() }) || t.InKey {
				continue
			}
			held, err := s.Exam.Query(`SELECT 1 WHERE ` + heldBy(t, n.id))
			if err != nil {
				return err
			}
			if len(held) == 0 {
				continue
			}
			if _, err := s.Exam.Query(`INSERT OR IGNORE INTO keys(id, db, key, hash, type, version, created_at, updated_at)
				VALUES(?1, ?2, ?3, ?4, ?5, random() & 2251799813685247, ?6, ?6)`,
				store.Int(n.id), store.Int(n.db), store.Bytes(n.key), store.Int(translator.HashOf(n.key)), store.String(t.Name), store.Int(s.Exam.Now)); err != nil {
				return err
			}
			if _, err := s.Exam.Query(`UPDATE keys AS k SET count = `+elements()+` WHERE id = ?1`, store.Int(n.id)); err != nil {
				return err
			}
			f = &found
			break
		}
		f.Count++
		f.example(s.Exam, show("db %s: %s", store.Row{store.Int(n.db), store.Bytes(n.key)}))
	}
	for _, f := range []Finding{lost, found} {
		if f.Count > 0 {
			s.report.Lost = append(s.report.Lost, f)
		}
	}
	return nil
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

// missingParts finds strings with missing parts, which read as zeros.
const missingParts = `SELECT db, key FROM keys k WHERE type = 'string' AND count > 0
	AND (count - 1) / 32768 + 1 > (SELECT count(*) FROM string_parts WHERE key_id = k.id)`

// losses lists the checks whose findings in the new file mean lost rows. Other findings concern derived data.
var losses = []string{"consumers", "groups", "orphans", "mismatches", "streams", "hollow", "counts", "vectors", "documents", "functions", "libraries"}

// mend records the losses and makes the new file consistent.
func (s *Salvage) mend() error {
	parts, err := s.Exam.Query(missingParts)
	if err != nil {
		return err
	}
	found, err := s.Exam.Content()
	if err != nil {
		return err
	}
	lost := Finding{Check: "parts", Severity: Error, Says: "parts of long strings are missing, and are zeros now"}
	for _, row := range parts {
		lost.Count++
		lost.example(s.Exam, show("db %s: %s", row))
	}
	if lost.Count > 0 && s.report.Damaged > 0 {
		s.report.Lost = append(s.report.Lost, lost)
	}
	for _, f := range found {
		if slices.Contains(losses, f.Check) {
			if f.Check != "libraries" {
				f.Advice = ""
			}
			s.report.Lost = append(s.report.Lost, f)
		}
	}
	// The sweep in Repair deletes expired keys, which are not lost.
	expired, err := s.Exam.Query(`SELECT count(*) FROM keys WHERE db >= 0 AND dies_at <= ?1`, store.Int(s.Exam.Now))
	if err != nil {
		return err
	}
	s.report.Expected = max(0, s.report.Expected-expired[0][0].Int())
	// Repair creates keys for elements without one.
	for _, step := range []func() error{s.Exam.Repair, s.dropPartial, s.Exam.sweep} {
		if err := step(); err != nil {
			return err
		}
	}
	rows, err := s.Exam.Query(`SELECT count(*) FROM keys WHERE db >= 0`)
	if err == nil {
		s.report.Keys = rows[0][0].Int()
	}
	return err
}

// dropPartial deletes incomplete vector sets and documents: commands would fail on them.
func (s *Salvage) dropPartial() error {
	for _, c := range Checks() {
		if c.Name != "vectors" && c.Name != "documents" {
			continue
		}
		broken, err := s.Exam.Query(c.Broken[0])
		if err != nil {
			return err
		}
		for _, row := range broken {
			if _, err := s.Exam.Query(`DELETE FROM keys WHERE db = ?1 AND key = ?2`, row...); err != nil {
				return err
			}
		}
	}
	return nil
}
