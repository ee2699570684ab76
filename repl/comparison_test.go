package repl

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestComparison checks the table of docs/repl.md: its length, that meowdis is behind in two rows at
// most, and that the tests it names exist.
func TestComparison(t *testing.T) {
	page, err := os.ReadFile("../docs/repl.md")
	if err != nil {
		t.Fatal(err)
	}
	var sources []byte
	for _, pattern := range []string{"*_test.go", "../cmd/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, text...)
		}
	}
	_, table, _ := strings.Cut(string(page), "## Compared with other prompts")
	rows, equal := 0, 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 9 || !strings.ContainsAny(line, "●◐") {
			continue
		}
		rows++
		ours, test := strings.TrimSpace(cells[2]), strings.TrimSpace(cells[7])
		if ours == "●" {
			equal++
			if test == "" || !bytes.Contains(sources, []byte("func "+test+"(")) {
				t.Errorf("%s: the test %q does not exist", cells[1], test)
			}
		}
	}
	if rows != 33 || equal != 31 {
		t.Errorf("%d rows, %d of them equal or better", rows, equal)
	}
}
