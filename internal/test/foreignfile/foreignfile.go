// Package foreignfile makes the SQLite files of other programs for tests, from SQL:
// each of its .sql files has tables of one of them with a few keys of every type.
// Their clock stands at Now.
package foreignfile

import (
	"database/sql"
	"embed"
	"fmt"

	_ "modernc.org/sqlite" // the driver
)

//go:embed *.sql
var scripts embed.FS

// Now is a time in Unix ms: one key of each file has expired by then, and another expires a
// minute later.
const Now = 2000000000000

// Kinds lists the kinds of files.
var Kinds = []string{"original", "documented", "redlite", "redka"}

// Make makes the file of a kind at path, and runs more SQL on it.
func Make(kind, path string, more ...string) (err error) {
	script, err := scripts.ReadFile(kind + ".sql")
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer func() {
		if closed := db.Close(); err == nil {
			err = closed
		}
	}()
	for _, text := range append([]string{string(script)}, more...) {
		if _, err := db.Exec(text); err != nil {
			return fmt.Errorf("making %s: %w", path, err)
		}
	}
	return nil
}
