package profile

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSet changes one key at a time and keeps the rest of the file, comments included.
func TestSet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meowdis", "config.toml")
	set := func(table, key, value, want string) {
		t.Helper()
		if err := Set(path, table, key, value); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Fatalf("after %s.%s:\n%s\nwant\n%s", table, key, got, want)
		}
	}
	set("repl", "pager", "off", "[repl]\npager = \"off\"\n")
	own := "# mine\n[repl]\n# no pager\npager = \"off\" # never\n\n[profiles.prod] # live\nurl = \"https://example.com\""
	if err := os.WriteFile(path, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	rest := "\n[profiles.prod] # live\nurl = \"https://example.com\"\n"
	set("repl", "prompt", "a \"b\" \\ > ", "# mine\n[repl]\n# no pager\npager = \"off\" # never\nprompt = \"a \\\"b\\\" \\\\ > \"\n"+rest)
	set("repl", "prompt", "", "# mine\n[repl]\n# no pager\npager = \"off\" # never\n"+rest)
	set("repl", "pager", "on", "# mine\n[repl]\n# no pager\npager = \"on\"\n"+rest)
	set("repl.favourites", "top", "ZREVRANGE a 0 1", "# mine\n[repl]\n# no pager\npager = \"on\"\n"+rest+"\n[repl.favourites]\ntop = \"ZREVRANGE a 0 1\"\n")
	f, err := Load(path)
	if err != nil || f.REPL == nil || f.REPL.Favourites["top"] != "ZREVRANGE a 0 1" || f.REPL.Settings()["pager"] != "on" || f.Profiles["prod"].URL == "" {
		t.Errorf("read back: %+v, %v", f.REPL, err)
	}
	if err := Set(path, "repl", "nope", "x"); err == nil {
		t.Error("an unknown setting is stored")
	}
}
