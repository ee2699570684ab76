package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
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

// describe reads the tables of the new file. It skips tables of search that are built again, so that no row of another table
// is taken for one of theirs.
func (s *Salvage) describe() error {
	s.types = map[string]string{}
	for _, t := range keytype.Types {
		for _, table := range t.Tables {
			s.types[table.Name] = t.Name
		}
	}
	tables, err := s.Exam.Query(`SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
		AND name NOT LIKE 'sqlite_%' AND name NOT IN ('meowdis', 'guard', 'dbs', 'search_documents', 'search_deleted', 'search_postings',
		'search_segments', 'search_pages', 'search_numbers', 'search_pending', 'search_dropped') ORDER BY name`)
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
	if err := s.Exam.runAll(rebuildSearch); err != nil {
		return err
	}
	found, err := s.Exam.Content()
	if err != nil {
		return err
	}
	lost := Finding{Check: "parts", Severity: Error, Says: "parts of long strings are missing and were replaced by zeros"}
	for _, row := range parts {
		lost.Count++
		lost.example(s.Exam, formatRow("db %s: %s", row))
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
	for _, step := range []func() error{s.Exam.Repair, s.dropPartial, s.endSeries, s.Exam.sweep} {
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

// endSeries lets time series end with the last sample that is left.
func (s *Salvage) endSeries() error {
	_, err := s.Exam.Query(`UPDATE series SET (last_at, last_value) = (SELECT ifnull(max(at), 0), value FROM samples WHERE key_id = series.key_id)
		WHERE last_at IS NOT ifnull((SELECT max(at) FROM samples WHERE key_id = series.key_id), 0)`)
	return err
}

// seriesWithoutProperties finds time series whose row of series is lost.
const seriesWithoutProperties = `SELECT db, key FROM keys k WHERE type = 'TSDB-TYPE' AND NOT EXISTS (SELECT 1 FROM series WHERE key_id = k.id)`

// dropPartial deletes incomplete vector sets and documents, and time series without properties: commands would fail on them.
func (s *Salvage) dropPartial() error {
	partial := []string{seriesWithoutProperties}
	for _, c := range Checks() {
		if c.Name == "vectors" || c.Name == "documents" {
			partial = append(partial, c.Broken[0])
		}
	}
	for _, sql := range partial {
		broken, err := s.Exam.Query(sql)
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
