package repl

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/meowdis/meowdis/internal/test/capture"
)

// edited types keys, with an init file, and returns the texts.
func edited(t *testing.T, o Options, rc, keys string) []string {
	t.Helper()
	var screen capture.Buffer
	o.In, o.Out = strings.NewReader(keys), &screen
	if o.Inputrc == "" {
		o.Inputrc = filepath.Join(t.TempDir(), "inputrc")
		if err := os.WriteFile(o.Inputrc, []byte(rc), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e, err := newEditor(context.Background(), &o, &asker{target: o.Target})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var texts []string
	for {
		text, err := e.read("db> ", "")
		if err != nil {
			return texts
		}
		e.history.add(text)
		texts = append(texts, text)
	}
}

// TestVi edits lines as vi does.
func TestVi(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"GET k", "GET k"},
		{"GET user:1\x1bx", "GET user:"},
		{"GET user:1\x1b2hx", "GET use:1"},
		{"GET abc\x1b0x", "ET abc"},
		{"one two three\x1bbdw", "one two "},
		{"one two three\x1b0dw", "two three"},
		{"one two three\x1b02dw", "three"},
		{"one two three\x1b0d2w", "three"},
		{"one two three\x1b0wcwTWO\x1b", "one TWO three"},
		{"one two three\x1b0wcwTWO\x1bw.", "one TWO TWO"},
		{"one two three\x1b0wD", "one "},
		{"one two three\x1b0wCx", "one x"},
		{"one two\x1bddiGET", "GET"},
		{"one two\x1bccGET", "GET"},
		{"one two\x1bSGET", "GET"},
		{"one two\x1b0ylP", "oone two"},
		{"one two\x1b0yw$p", "one twoone "},
		{"one two\x1b0dw$p", "twoone "},
		{"ab\x1bxp", "ab"},
		{"ab\x1b0xp", "ba"},
		{"abc\x1b03p", "abc"},
		{"abc\x1b0x3p", "baaac"},
		{"user:1:name\x1b0dt:", ":1:name"},
		{"user:1:name\x1b0dt:xdt:", ":name"}, // x takes the colon, then 1 goes
		{"user:1:name\x1b0df:", "1:name"},
		{"user:1:name\x1bdF:", "user:1e"},
		{"user:1:name\x1bdT:", "user:1:e"},
		{"user:1:name\x1b0f:;rX", "user:1Xname"},
		{"user:1:name\x1b0t:;rX", "user:X:name"},
		{"user:1:name\x1b$F:,", "user:1:name"},
		{"a{b[c]}d\x1b0f{d%", "ad"},
		{"SET k \"old\"\x1bci\"new", "SET k \"new\""},
		{"SET k \"old\"\x1bda\"", "SET k "},
		{"f(a, b)\x1b0fadi(", "f()"},
		{"f((a) b)\x1b0f)di)", "f(() b)"},
		{"one two three\x1bbbciwTWO", "one TWO three"},
		{"one two three\x1bbbdaw", "one three"},
		{"abc\x1b~", "abC"},
		{"abc\x1b0~~", "ABc"},
		{"abc\x1b03~", "ABC"},
		{"abc\x1bra", "aba"},
		{"abc\x1b02rx", "xxc"},
		{"abc\x1b04rx", "abc"},
		{"abc\x1bix\x1b", "abxc"},
		{"abc\x1bax\x1b", "abcx"},
		{"abc\x1bIx", "xabc"},
		{"abc\x1b0Ax", "abcx"},
		{"abc\x1b3ax\x1b", "abcxxx"},
		{"abc\x1b0Rxy\x1b", "xyc"},
		{"abc\x1bsx", "abx"},
		{"abc\x1b02sx", "xc"},
		{"abcd\x1bX", "abd"},
		{"abcd\x1b02|x", "acd"},
		{"one two\x1bxxu", "one tw"},
		{"one two\x1bxxuu", "one two"},
		{"one two\x1bxxU", ""},
		{"one two\x1bu", ""},
		{"one\x1ba two\x1bu", "one"},
		{"one two\x1bx..", "one "},
		{"one two\x1bx0w2.", "one "},
		{"a\x1bax\x1b.", "axx"},
		{"a\x1b2ax\x1b.", "axxxx"},
		{"a\x1b2ax\x1b3.", "axxxxx"},
		{"abc\x1b0Rx\x1bl.", "xxc"},
		{"abc\x1bdz", "abc"},
		{"abc\x1bZZ", "abc"},
		{"猫e\u0301🐈\x1bx", "猫e\u0301"},
		{"猫e\u0301🐈\x1bhx", "猫🐈"},
		{"abc\x1b[D\x1b[Dx", "axbc"},                 // arrows while typing
		{"abc\x1b\x1b[D\x1b[3~", "ac"},               // and while letters are commands
		{"abc\x1b\x1b[200~x y\x1b[201~", "abcx y"},   // pasted text is text
		{"one\x17two\x15three", "three"},             // Ctrl-W, Ctrl-U
		{"one two three\x1b0d\x1bx", "ne two three"}, // Escape leaves a command
	} {
		got := edited(t, Options{Vi: true}, "", c.keys+"\r")
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%q: got %q, want %q", c.keys, got, c.want)
		}
	}
}

// TestViHistory browses the history with vi's keys, and takes suggestions.
func TestViHistory(t *testing.T) {
	keys := strings.Join([]string{
		"SET a 1", "GET a", "SET b 2",
		"\x1bkkk",         // SET a 1
		"\x1bk\x1bkj",     // of all: SET a 1 is the newest
		"GE\x1bk",         // what begins with it
		"\x1b/b 2\r\x1bx", // Enter ends the search
		"GET\x1b_",        // the last argument
		"SET a\x1bl",      // what is suggested
		"SET a\x1b[C",     // the same while typing
		"\x1bG",           // the oldest
		"\x1b/SET\rn",     // and on
	}, "\r") + "\r"
	want := []string{"SET a 1", "GET a", "SET b 2", "SET a 1", "SET a 1", "GET a", "SET b ", "GET b", "SET a 1", "SET a 1", "SET b 2", "SET a 1"}
	got := edited(t, Options{Vi: true, Colour: true}, "", keys)
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestEdits checks keys of both modes that change the text.
func TestEdits(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"GET a b\x1f", ""}, // typed in one go
		{"GET a b\x17c\x1f\x1f", "GET a b"},
		{"GET a b\x17\x17\x18\x15", "GET a "},
		{"GET a b\x17\x17\x1br", ""},
		{"get key\x01\x1bu", "GET key"},
		{"abc\x01\x04x", "xbc"}, // Ctrl-D in a text
		{"a\x14b", "ab"},        // one letter has no other
		{"\x14ab\x14c", "bac"},
		{"abc\x01\x14\x06\x14d", "badc"},
		{"e\u0301猫\x14", "猫e\u0301"},
		{"GET KEY\x1bb\x1bl", "GET key"},
		{"get key\x1bb\x1bc", "get Key"},
		{"GET a\rSET b 'x y'\rGET \x1b.", "GET 'x y'"},
		{"GET a\rSET b 'x y'\rGET \x1b.\x1b.", "GET a"},
		{"GET a\rAUTH b c\rGET \x1b.", "GET a"},
		{"GET a\rGET b\rGET c\x1b<", "GET a"},
		{"GET a\rGET b\rGET c\x1b<\x1b>", "GET c"},
	} {
		got := edited(t, Options{}, "", c.keys+"\r")
		if len(got) == 0 || got[len(got)-1] != c.want {
			t.Errorf("%q: got %q, want %q", c.keys, got, c.want)
		}
	}
}

// Whatever is typed, with whichever keys, leaves the cursor in the text.
func FuzzEditing(f *testing.F) {
	f.Add("one two\x1b2bdwcwx\x1b.uuU", "set editing-mode vi", true)
	f.Add("a{b[c]}\x1b0f{d%ci\"\x1bp3P~r", "", true)
	f.Add("GET a\x1f\x1bu\x1b.\x1bc\x1b<\x1b>\x1br", `"\C-t": "\C-t"`, false)
	f.Add("a\x14b\xff", "", false)
	f.Add("ab\x01\x04'\x04\xce", "d", false)
	f.Add("\"a\rb\x1bkddjyyp%R\xff\x1bGn/x\r", "$if mode=vi\n\"jk\": vi-movement-mode\n$else", true)
	f.Fuzz(func(t *testing.T, keys, rc string, vi bool) {
		for _, text := range edited(t, Options{Vi: vi, Colour: true}, rc, strings.ReplaceAll(keys, "\x1a", "")+"\r\x1b\r") {
			if !utf8.ValidString(text) {
				t.Errorf("%q became %q", keys, text)
			}
		}
	})
}
