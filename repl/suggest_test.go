package repl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSuggest(t *testing.T) {
	h := &history{entries: []string{"GET user:1", "SET k \"a\nb\"", "AUTH hunter2", "get Cat", "GET user:2", "GETEX"}}
	h.rewind("")
	for typed, want := range map[string]string{
		"GET u": "ser:2", "get u": "ser:2", "GET U": "", "GET user:1": "", "get ": "user:2", "ge": "TEX", "GET C": "at",
		"": "", " ": "", "SET k": " \"a\nb\"", "SET k \"a\n": "b\"", "AU": "", "AUTH h": "", "NOPE": "",
	} {
		if got := h.suggest(typed); got != want {
			t.Errorf("after %q: %q, want %q", typed, got, want)
		}
	}
	h.older("")
	if got := h.suggest("GET u"); got != "" {
		t.Errorf("while the history is walked: %q", got)
	}
	for text, want := range map[string]string{" EX 60": " EX", "er:1": "er:1", "er:1 NX": "er:1", "\nGET b": "\nGET"} {
		if got := firstWord(text); got != want {
			t.Errorf("the first word of %q: %q", text, got)
		}
	}
}

// TestSuggestionKeys takes suggestions with each of the keys, and walks through what begins
// with the text. The file has an entry with a password that another program put there.
func TestSuggestionKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(file, []byte("ECHO one two\nPING x\nAUTH hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Target: Target{Session: newSession(t)}, History: file, Colour: true}
	out, _ := typedInto(t, o, "echo o\x1b[C 1\r"+ // Right
		"PI\x05\r"+ // End
		"EC\x06 3\r"+ // Ctrl-F, of "echo one two 1" now
		"ECHO \x1b[1;3C\x1bf!\r"+ // Alt-Right, Alt-F
		"ECHO one t\x1b[D\x06x\r"+ // not at the end: Right is a step
		"PI\x10\r"+ // Up: begins with PI
		"AUTH hu\x06\r")
	mustShow(t, out, "wrong number of arguments for 'echo'", `"x"`, "wrong number of arguments", "wrong number of arguments", "wrong number of arguments", `"x"`)
	if strings.Contains(out, "hunter2") {
		t.Errorf("a password was suggested:\n%s", out)
	}
	text, err := os.ReadFile(file)
	want := "ECHO one two\nPING x\nAUTH hunter2\necho one two 1\nPING x\nECho one two 1 3\nECHO one two!\nECHO one tx\nPING x\n"
	if err != nil || string(text) != want {
		t.Errorf("typed was\n%s\nwant\n%s", text, want)
	}
	o.NoSuggestions = true
	out, _ = typedInto(t, o, "ECHO o\x06\r")
	mustShow(t, out, `"o"`)
}
