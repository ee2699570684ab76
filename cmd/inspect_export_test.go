package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/transfer"
)

// TestExportRefusesEndings refuses a name whose ending is of no format, names the known endings, and writes
// nothing.
func TestExportRefusesEndings(t *testing.T) {
	for _, name := range []string{"x", "x.xlsx", "x.sqlite", ".csv.gz"} {
		path := filepath.Join(t.TempDir(), name)
		_, err := exportFile(t.Context(), path, transfer.FromJSONLines(strings.NewReader("")), nil)
		if err == nil {
			t.Errorf("%s is written", name)
			continue
		}
		for _, ending := range append(move.Endings(), ".rdb") {
			if !strings.Contains(err.Error(), ending) {
				t.Errorf("%s: %v does not name %s", name, err, ending)
			}
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s exists", name)
		}
	}
}

// TestExportRefusesNames names what is wrong with a name that no file can have.
func TestExportRefusesNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cats.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"": "nothing was written: give the name of a file", dir: "is a directory: give the name of a file in it",
		dir + "/": "is a directory", dir + "/cats.json": "is a directory", dir + "/none/cats.json": "does not exist: create it",
	} {
		_, err := exportFile(t.Context(), name, transfer.FromJSONLines(strings.NewReader("")), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

// TestExportFile writes keys in the format that the file's name ends like, counts those
// that have a form there, and replaces nothing.
func TestExportFile(t *testing.T) {
	const keys = `{"key":"cat","type":"string","value":"tom"}` + "\n" + `{"key":"doc","type":"ReJSON-RL","value":{"a":1}}` + "\n"
	for name, c := range map[string]struct {
		begins string
		keys   int64
		lost   int
	}{
		"x.redis": {"SET cat tom", 2, 0}, "x.jsonl": {`{`, 2, 0}, "x.rdb": {"REDIS", 2, 0}, "x.resp": {"*3\r\n$3\r\nSET", 2, 0}, "x.archive": {"", 2, 0},
		"x.csv": {"db,key,type,expires,field,value\n0,\"cat\",string,,,\"tom\"\n", 2, 0}, "x.JSON": {"[\n{", 2, 0}, "x.ndjson": {"{", 2, 0}, "x.txt": {"SET cat tom", 2, 0},
	} {
		path, lost := filepath.Join(t.TempDir(), name), 0
		n, err := exportFile(t.Context(), path, transfer.FromJSONLines(strings.NewReader(keys)), func(*transfer.Key, error) { lost++ })
		text, _ := os.ReadFile(path)
		if err != nil || n != c.keys || lost != c.lost || !strings.HasPrefix(string(text), c.begins) || len(text) == 0 {
			t.Errorf("%s: %d keys, %d lost, %v: %.40q", name, n, lost, err, text)
		}
		if _, err = exportFile(t.Context(), path, transfer.FromJSONLines(strings.NewReader(keys)), nil); err == nil || !strings.Contains(err.Error(), "already exists") {
			t.Errorf("%s is replaced: %v", name, err)
		}
	}
}
