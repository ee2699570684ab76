package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/transfer"
)

// TestExportFile writes keys in the format that the file's name ends like, counts those
// that have a form there, and replaces nothing.
func TestExportFile(t *testing.T) {
	const keys = `{"key":"cat","type":"string","value":"tom"}` + "\n" + `{"key":"doc","type":"ReJSON-RL","value":{"a":1}}` + "\n"
	for name, c := range map[string]struct {
		begins string
		keys   int64
		lost   int
	}{
		"x.redis": {"SET cat tom", 2, 0}, "x.jsonl": {`{`, 2, 0}, "x.rdb": {"REDIS", 1, 1}, "x.resp": {"*3\r\n$3\r\nSET", 2, 0}, "x": {"", 2, 0},
	} {
		path, lost := filepath.Join(t.TempDir(), name), 0
		n, err := exportFile(t.Context(), path, transfer.FromJSONLines(strings.NewReader(keys)), func(*transfer.Key, error) { lost++ })
		text, _ := os.ReadFile(path)
		if err != nil || n != c.keys || lost != c.lost || !strings.HasPrefix(string(text), c.begins) || len(text) == 0 {
			t.Errorf("%s: %d keys, %d lost, %v: %.40q", name, n, lost, err, text)
		}
		if _, err = exportFile(t.Context(), path, transfer.FromJSONLines(strings.NewReader(keys)), nil); err == nil || !strings.Contains(err.Error(), "exists already") {
			t.Errorf("%s is replaced: %v", name, err)
		}
	}
}
