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

// Severity says what a finding means to the commands that run on the file.
type Severity string

const (
	Error   Severity = "error"   // commands answer wrongly, or cannot see what is there
	Warning Severity = "warning" // nothing is wrong with the data yet
	Note    Severity = "note"    // it costs room or time, and nothing else
)

// Finding is what a check has found.
type Finding struct {
	Check    string   `json:"check"`
	Severity Severity `json:"severity"`
	Says     string   `json:"says"`
	Count    int64    `json:"count"`
	Examples []string `json:"examples,omitempty"`
	// Fix is what a repair does about it, empty when it can do nothing, and
	// Advice what a person can do then.
	Fix    string `json:"fix,omitempty"`
	Advice string `json:"advice,omitempty"`
}

// IsWrong reports whether one of the findings is more than a note.
func IsWrong(findings []Finding) bool {
	for _, f := range findings {
		if f.Severity != Note {
			return true
		}
	}
	return false
}

// Exam is a file under examination.
type Exam struct {
	Query Query
	Now   int64 // Unix ms
	// Version is the schema version of the file.
	Version int
	// Tables is what the schema of a new file has (ReadTables). Nil leaves them
	// unexamined.
	Tables []Object
	// LogBytes is the size of the log beside the file.
	LogBytes int64
	// Examples is how many examples a finding has at most.
	Examples int
	// Step, if not nil, is called with what is checked next.
	Step func(what string)
}

// Ours examines a file of ours. An error means that the file could not be read,
// though SQLite's own check found nothing wrong.
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
		// The pages are damaged, and that is said already.
		return found, nil
	}
	return found, err
}

// Content examines what the tables hold, in a file of the present schema
// version. It asks for nothing that is peculiar to SQLite's files but, where Tables
// are given, for the schema.
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
	for _, examine := range []func(Exam) ([]Finding, error){Exam.names, Exam.expired} {
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
			Advice: "meowdis migrate brings it up to date; what it holds is examined after that"}
	case version > schema.Version:
		return &Finding{Check: "version", Severity: Error, Says: says, Count: 1, Advice: "use a newer meowdis"}
	}
	return nil
}

var damagedPages = Finding{
	Check: "pages", Severity: Error, Says: "SQLite finds the file damaged",
	Advice: "go back to a backup, or copy the readable rows to a new file: meowdis doctor FILE --recover NEW",
}

// Damaged is the finding of a file that is too damaged to be read, as err says.
func Damaged(err error) Finding {
	f := damagedPages
	f.Count, f.Examples = 1, []string{err.Error()}
	return f
}

// integrity is SQLite's own check. broken reports whether pages are damaged, and
// not indexes alone, which can be made anew.
func (e Exam) integrity() ([]Finding, bool, error) {
	rows, err := e.Query("PRAGMA integrity_check(100)")
	if err != nil {
		return nil, false, err
	}
	pages := damagedPages
	indexes := Finding{Check: "indexes", Severity: Error, Says: "indexes do not fit their tables", Fix: "the indexes are made anew"}
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
	return found(pages, indexes), pages.Count > 0, nil
}

// isAboutIndex recognises what integrity_check says of an index whose own pages
// are sound.
func isAboutIndex(text string) bool {
	return strings.Contains(text, "missing from index") || strings.Contains(text, "entries in index") || strings.Contains(text, "non-unique entry in index")
}

// show fills the verbs %s of format with a row: names in quotes, everything else
// as it is.
func show(format string, row store.Row) string {
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
