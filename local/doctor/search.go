package doctor

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// search compares the indexes of search with their keys.
func (e Exam) search() ([]Finding, error) {
	e.step("search")
	f := Finding{Check: "search", Severity: Error, Says: "indexes of search do not match their keys", Fix: "they are built again"}
	plan := translator.CheckIndexes(e.Now, func(name []byte, how string) {
		f.Count++
		f.example(e, string(resp.AppendQuoted(nil, name, true))+": "+how)
	})
	for plan.Then != nil {
		r := store.Result{}
		for _, stmt := range plan.Batch.Stmts {
			rows, err := e.Query(stmt.SQL, stmt.Args...)
			if err != nil {
				return nil, err
			}
			r.Rows = append(r.Rows, rows)
		}
		plan = plan.Then(&r)
	}
	return nonEmpty(f), nil
}

// rebuildSearch makes every index of search empty, and begins its first scan again.
var rebuildSearch = []string{
	`DELETE FROM search_documents`, `DELETE FROM search_deleted`, `DELETE FROM search_postings`, `DELETE FROM search_segments`, `DELETE FROM search_pages`, `DELETE FROM search_numbers`,
	`DELETE FROM search_pending`, `DELETE FROM search_dropped`,
	`UPDATE search_indexes SET version = random() & 2251799813685247, last_doc = 0, documents = 0, length = 0, deleted = 0, scanned = 0,
		failures = 0, last_error = NULL, last_error_key = NULL, clean_term = NULL, clean_block = NULL, clean_segment = NULL,
		slot = (SELECT count(*) FROM search_indexes x WHERE x.id <= search_indexes.id)`,
}

// repairSearch builds the indexes again if one does not match its keys.
func (e Exam) repairSearch() error {
	found, err := e.search()
	if err != nil || len(found) == 0 {
		return err
	}
	return e.runAll(rebuildSearch)
}

func (e Exam) runAll(statements []string) error {
	for _, sql := range statements {
		if _, err := e.Query(sql); err != nil {
			return err
		}
	}
	return nil
}
