package repl

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestKeys(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"aé猫", "aé猫"},
		{"\x1b[A\x1bOB", "\x10\x0e"},
		{"\x1b[H\x1b[4~x", "\x01\x05x"},
		{"\x1b[1;5D\x1bf", "\x1bb\x1bf"},
		{"\x1b[3~", string(keyDelete)},
		{"\x1b[Z", string(keyBackTab)},
		{"\x1b[99;5u\x1b[?1;2cx", string(keyNone) + string(keyNone) + "x"},
		{"\x1bq", string(keyNone)},
		{"\x1b\x1b[A", string(keyEscape) + "\x10"},
		{"\x1b\x03", string(keyEscape) + "\x03"},
		{"\x18\x05", "\r"},
		{"\x18a", string(keyNone)},
		{"a\x1b[200~x\r\ny\tz\x1b\r\x1b[201~b", "a" + string(keyPaste) + "b"},
		{string(keyPaste) + "\xff", "\ufffd\ufffd"},
	} {
		if got, err := io.ReadAll(&input{from: strings.NewReader(c.typed)}); err != nil || string(got) != c.want {
			t.Errorf("%q: got %q, want %q, %v", c.typed, got, c.want, err)
		}
	}
	// Over a slow line the rest of a key comes after its Escape.
	for typed, want := range map[string]string{
		"\x1b[A\x1bOB":                       "\x10\x0e",
		"\x1b[4~[x":                          "\x05[x",
		"a\x1b[200~x\r\ny\x1b[201~b\x18\x05": "a" + string(keyPaste) + "b\r",
	} {
		got, err := io.ReadAll(&input{from: iotest.OneByteReader(strings.NewReader(typed))})
		if text := strings.ReplaceAll(string(got), string(keyEscape), ""); err != nil || text != want {
			t.Errorf("%q bytewise: got %q, want %q, %v", typed, text, want, err)
		}
	}
	in := &input{from: strings.NewReader("\x1b[200~GET \x1b[2Ja\r\n\tb\r\n\x1b[201~\x18\x05")}
	if _, err := io.ReadAll(in); err != nil || in.paste() != "GET [2Ja\n b" {
		t.Errorf("pasted %q, %v", in.paste(), err)
	}
	if !in.wantsEdit() || in.wantsEdit() {
		t.Error("Ctrl-X Ctrl-E is asked for once")
	}
}

// What is typed ahead of an Enter stays with the terminal, for its next reader.
func TestKeysTakeNoMore(t *testing.T) {
	from := strings.NewReader("\x1b[A\x1bOB\x1b\rquit\rls\n")
	in := &input{from: from, ready: func(time.Duration) bool { return from.Len() > 0 }}
	var got strings.Builder
	for key := make([]byte, 16); !strings.HasSuffix(got.String(), "quit\r"); {
		n, err := in.Read(key)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(key[:n])
	}
	rest, _ := io.ReadAll(from)
	if want := "\x10\x0e" + string(keyEscape) + "\rquit\r"; got.String() != want || string(rest) != "ls\n" {
		t.Errorf("got %q, and %q stays", got.String(), rest)
	}
}
