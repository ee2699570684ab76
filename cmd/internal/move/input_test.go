package move

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/cmd/internal/exit"
)

// TestRecognise finds out what files are by their beginnings and names.
func TestRecognise(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a.rdb", "REDIS0011\xfa", "rdb"},
		{"a.aof", "REDIS0011\xfa", "aof"},
		{"a", "*2\r\n$4\r\nINCR\r\n", "aof"},
		{"a", "#TS:1\r\n*2\r\n", "aof"},
		{"a.txt", "# cats\n\nSET cat:1 Tom\n", "commands"},
		{"a", " {\"key\":\"a\"}\n", "jsonl"},
		{"a.db", "SQLite format 3\x00", "sqlite"},
	} {
		path := filepath.Join(t.TempDir(), test.name)
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := OpenInput(path, "", nil)
		if err != nil {
			t.Fatalf("%s: %q: %v", test.name, test.text, err)
		}
		if text, err := io.ReadAll(in.Text); in.Format != test.want || err != nil || string(text) != test.text {
			t.Errorf("%s: %q is %s, of which %q is left, %v", test.name, test.text, in.Format, text, err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"", "prose", "SET \"a\n"} {
		if in, err := OpenInput("-", "", strings.NewReader(text)); err == nil {
			t.Errorf("%q is recognised as %s", text, in.Format)
		}
	}
	var usage exit.UsageError
	if _, err := OpenInput("-", "x", nil); !errors.As(err, &usage) {
		t.Error(err)
	}
}

// TestFormatToWrite goes by the name of the format, else by that of the file.
func TestFormatToWrite(t *testing.T) {
	for _, test := range []struct{ format, path, want string }{
		{"", "a", "archive"}, {"", "a.jsonl", "jsonl"}, {"", "a.ndjson", "jsonl"}, {"", "a.redis", "commands"}, {"", "a.resp", "resp"}, {"", "a.csv", "csv"}, {"", "a.JSON", "json"}, {"", "a.archive", "archive"}, {"", "a.zip", "archive"}, {"jsonl", "a.resp", "jsonl"},
	} {
		if f, err := FormatToWrite(test.format, test.path); err != nil || f.name != test.want {
			t.Errorf("%q %s: %s, %v", test.format, test.path, f.name, err)
		}
	}
	if _, err := FormatToWrite("rdb", "a"); err == nil {
		t.Error("a dump file is not written by dump")
	}
}
