package doctor

import (
	"fmt"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// Query runs a statement and returns its rows.
type Query func(sql string, args ...store.Value) ([]store.Row, error)

// Severity ranks a finding by its effect on commands.
type Severity string

const (
	Error   Severity = "error"   // commands return wrong replies or miss data
	Warning Severity = "warning" // the data is still correct
	Note    Severity = "note"    // it only costs space or time
)

// Finding holds the result of a check.
type Finding struct {
	Check    string   `json:"check"`
	Severity Severity `json:"severity"`
	Says     string   `json:"says"`
	Count    int64    `json:"count"`
	Examples []string `json:"examples,omitempty"`
	// Fix describes the repair. If it is empty, Advice describes a remedy for the user.
	Fix    string `json:"fix,omitempty"`
	Advice string `json:"advice,omitempty"`
}

// IsWrong reports whether a finding is worse than a note.
func IsWrong(findings []Finding) bool {
	for _, f := range findings {
		if f.Severity != Note {
			return true
		}
	}
	return false
}

// Exam is an examination of a file.
type Exam struct {
	Query Query
	Now   int64 // Unix ms
	// Version is the schema version of the file.
	Version int
	// Tables is the schema of a new file (ReadTables). If it is nil, the schema is not checked.
	Tables []Object
	// LogBytes is the size of the file's WAL.
	LogBytes int64
	// Examples limits the examples of a finding.
	Examples int
	// Step, if not nil, is called with the name of the next check.
	Step func(what string)
}

// Ours examines a meowdis file. An error means that the file could not be read although SQLite's own check
// found no damage.
func (e Exam) Ours() ([]Finding, error) {
	e.step("pages and indexes")
	found, broken, err := e.integrity()
	if err != nil {
		return nil, err
	}
	if f := versionFinding(e.Version); f != nil {
		return append(found, *f), nil
	}
	more, err := e.Content()
	found = append(found, more...)
	if err == nil {
		more, err = e.room()
		found = append(found, more...)
	}
	if err != nil && broken {
		// Damaged pages are reported already.
		return found, nil
	}
	return found, err
}

// Content examines the tables of a file with the current schema version. Except for the schema, which it checks
// if Tables is set, it uses no features of SQLite files.
func (e Exam) Content() (found []Finding, err error) {
	e.step("tables")
	found, whole, err := e.tables()
	if err != nil || !whole {
		return found, err
	}
	for _, c := range Checks() {
		e.step(c.Name)
		f, err := c.run(e)
		if err != nil {
			return found, err
		}
		found = append(found, f...)
	}
	for _, examine := range []func(Exam) ([]Finding, error){Exam.names, Exam.expired, Exam.search} {
		f, err := examine(e)
		if err != nil {
			return found, err
		}
		found = append(found, f...)
	}
	return found, nil
}

func (e Exam) step(what string) {
	if e.Step != nil {
		e.Step(what)
	}
}

func versionFinding(version int) *Finding {
	says := fmt.Sprintf("the file has schema version %d, and this meowdis writes %d", version, schema.Version)
	switch {
	case version == 0:
		return &Finding{Check: "version", Severity: Note, Says: "the file is empty: it has no tables", Count: 1}
	case version < schema.Version:
		return &Finding{Check: "version", Severity: Warning, Says: says, Count: 1,
			Advice: "run meowdis migrate, and then meowdis doctor again"}
	case version > schema.Version:
		return &Finding{Check: "version", Severity: Error, Says: says, Count: 1, Advice: "use a newer meowdis"}
	}
	return nil
}

var damagedPages = Finding{
	Check: "pages", Severity: Error, Says: "SQLite reports damage",
	Advice: "restore a backup, or copy the readable rows to a new file: meowdis doctor FILE --recover NEW",
}

// Damaged returns the finding for a file that is too damaged to read, with err as the example.
func Damaged(err error) Finding {
	f := damagedPages
	f.Count, f.Examples = 1, []string{err.Error()}
	return f
}

// integrity runs SQLite's own check. broken reports whether pages are damaged, not only indexes, which can be
// rebuilt.
func (e Exam) integrity() ([]Finding, bool, error) {
	rows, err := e.Query("PRAGMA integrity_check(100)")
	if err != nil {
		return nil, false, err
	}
	pages := damagedPages
	indexes := Finding{Check: "indexes", Severity: Error, Says: "indexes do not match their tables", Fix: "the indexes are rebuilt"}
	for _, row := range rows {
		f, text := &pages, string(row[0].Bytes())
		switch {
		case text == "ok":
			continue
		case isAboutIndex(text):
			f = &indexes
		}
		f.Count++
		f.example(e, strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
	}
	return nonEmpty(pages, indexes), pages.Count > 0, nil
}

// isAboutIndex recognises integrity_check's messages about an index whose own pages are intact.
func isAboutIndex(text string) bool {
	return strings.Contains(text, "missing from index") || strings.Contains(text, "entries in index") || strings.Contains(text, "non-unique entry in index")
}

// formatRow fills the verbs %s of format with a row. Blobs are quoted.
func formatRow(format string, row store.Row) string {
	cells := make([]any, len(row))
	for i, v := range row {
		switch v.Kind() {
		case store.Blob:
			const most = 100
			if b := v.Bytes(); len(b) > most {
				cells[i] = string(resp.AppendQuoted(nil, b[:most], true)) + "…"
			} else {
				cells[i] = string(resp.AppendQuoted(nil, b, true))
			}
		case store.Text:
			cells[i] = string(v.Bytes())
		default:
			cells[i] = v.String()
		}
	}
	return fmt.Sprintf(format, cells...)
}
