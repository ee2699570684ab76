package cmd_test

import (
	"path/filepath"
	"testing"

	"github.com/meowdis/meowdis/internal/test/foreignfile"
)

// TestInspectForeignFiles browses the files of other programs, which are only read.
func TestInspectForeignFiles(t *testing.T) {
	t.Parallel()
	for _, kind := range foreignfile.Kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "f.db")
			if err := foreignfile.Make(kind, path); err != nil {
				t.Fatal(err)
			}
			s := openScreen(t, 100, 30)
			s.inspects(path)
			s.shows("read-only")
			values := map[string]string{"text": "string · ", "hash": "hash · 3 fields", "list": "list · 4 elements", "set": "set · 3 members"}
			switch kind {
			case "redlite":
				values["stream"], values["geo"], values["json"] = "stream · 3 entries", "zset · 2 members", "json"
				fallthrough
			case "redka", "documented":
				values["zset"] = "zset · 4 members"
			}
			for key, value := range values {
				s.opens(key)
				s.shows(value)
				s.check(s.Press("Escape"))
			}
			s.check(s.Press("i"))
			s.shows("type")
			s.check(s.Press("Escape", "O"))
			s.shows("Overview of database 0")
			s.check(s.Press("Escape", "w"))
			s.shows("Another program's file is read-only.")
			s.check(s.Press("q"))
		})
	}
}
