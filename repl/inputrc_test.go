package repl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestInputrc checks key bindings of an init file.
func TestInputrc(t *testing.T) {
	for _, c := range []struct{ rc, keys, want string }{
		{`"\C-t": "user:1"`, "GET \x14", "GET user:1"},
		{`Control-t: kill-whole-line`, "GET x\x14PING", "PING"},
		{`"\e[15~": beginning-of-line`, "GET x\x1b[15~A", "AGET x"},
		{`"\M-x": backward-word`, "GET x\x1bxA", "GET Ax"},
		{`Meta-Rubout: beginning-of-line`, "GET x\x1b\x7fA", "AGET x"},
		{`"\C-x\C-z": kill-whole-line`, "GET x\x18\x1aA", "A"},
		{`"\x14\101": "a\\\x41\101\'"`, "\x14A'", `a\AA''`},
		{`TAB: self-insert-not-known`, "GET x", "GET x"},
		{"$if mode=vi\n\"\\C-t\": \"vi\"\n$else\n\"\\C-t\": \"emacs\"\n$endif", "\x14", "emacs"},
		{"set editing-mode vi\n$if mode=vi\n\"\\C-t\": \"vi\"\n$else\n\"\\C-t\": \"emacs\"\n$endif", "\x14", "vi"},
		{"$if meowdis\n\"\\C-t\": \"here\"\n$endif\n$if Bash\n\"\\C-t\": \"bash\"\n$endif", "\x14", "here"},
		{"$if Redis\n\"\\C-t\": \"here\"\n$endif", "\x14", "here"},
		{"$if term=xterm\n\"\\C-t\": \"xterm\"\n$endif", "\x14", "xterm"},
		{"$if term=linux\n$if meowdis\n$else\n\"\\C-t\": \"no\"\n$endif\n\"\\C-t\": \"no\"\n$endif", "x", "x"},
		{"set editing-mode vi", "abc\x1bx", "ab"},
		{"set editing-mode vi\n\"jk\": vi-movement-mode", "abcjkx", "ab"},
		{"set editing-mode vi\n\"jk\": vi-movement-mode", "jacjkx", "ja"},
		{"set keymap vi-command\n\"H\": beginning-of-line\nset keymap vi-insert\n\"\\C-e\": end-of-line\nset editing-mode vi", "abc\x1bHx", "bc"},
		{"set keymap vi-command\n\"x\": \"dd\"\nset editing-mode vi", "abc\x1bx", ""},
		{"set keymap vi-command\n\"x\": kill-line\nset editing-mode vi", "abc\x1b0fx\x1b0", "abc"}, // not within a command
		{`"\ez": vi-editing-mode`, "abc\x1bz\x1bx", "ab"},
		{`"\C-t": vi-insertion-mode`, "\x14x", "x"}, // means nothing here
		{`"\C-t": "\C-t\C-t"`, "\x14x", "x"},        // one that plays itself without an end
		{`"\C-t": ""`, "\x14x", "x"},
		{"\"\\C-t\nset\nset nothing at all\n$if\n$endif\n$endif\n$include\n\"\\C-\": x\n: y\nx:\n\"a\" b\n\"\\C-t\": \"on\"", "\x14", "on"},
	} {
		o := Options{Getenv: func(name string) string { return map[string]string{"TERM": "xterm-256color"}[name] }}
		got := edited(t, o, c.rc, c.keys+"\r")
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("with %q, %q: got %q, want %q", c.rc, c.keys, got, c.want)
		}
	}
}

// TestInputrcFiles checks included, missing and unreadable files.
func TestInputrcFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	getenv := func(name string) string { return map[string]string{"HOME": dir}[name] }
	write("more", "\"\\C-t\": \"more\"\n$include ~/first\n")
	rc := readInputrc(write("first", "$include ~/more\n$include ~/nothing\nset keyseq-timeout 10\nC-q: glob-expand-word\n"), getenv)
	if b, n := rc.binding(emacsKeys, []byte("\x14x")); n != 1 || b.key != "more" {
		t.Errorf("of an included file: %v, %d", b, n)
	}
	if rc.timeout != 10*time.Millisecond || !slices.Equal(rc.unknown, []string{"glob-expand-word"}) || !strings.Contains(rc.summary(), "file: 1. Not known here: glob-expand-word.") {
		t.Errorf("timeout %v, unknown %v, %q", rc.timeout, rc.unknown, rc.summary())
	}
	for _, file := range []string{"", filepath.Join(dir, "nothing"), dir, write("binary", "\x00\xff\"\\C-"), write("long", strings.Repeat("a: \"b\"\n", 1<<20))} {
		if rc := readInputrc(file, getenv); rc.vi || len(rc.bindings[emacsKeys]) > maxBindings {
			t.Errorf("%s: %+v", file, rc)
		}
	}
}

// TestInputrcWaits binds a sequence of two letters: the first one is text if the second does
// not arrive in time.
func TestInputrcWaits(t *testing.T) {
	rc := inputrc{timeout: time.Second}
	rc.parse("set editing-mode vi\n\"jk\": vi-movement-mode\n")
	from := strings.NewReader("jjkj")
	var waited []time.Duration
	in := &input{from: from, rc: rc, keymap: viInsertKeys, ready: func(wait time.Duration) bool {
		waited = append(waited, wait)
		return from.Len() > 0
	}}
	var got strings.Builder
	key := make([]byte, 16)
	for range 3 {
		n, err := in.Read(key)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(key[:n])
	}
	if want := "j" + string(keyEscape) + "j"; got.String() != want || !slices.Contains(waited, time.Second) {
		t.Errorf("got %q, want %q; waited %v", got.String(), want, waited)
	}
}
