package inspect

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/internal/test/race"
)

// drafted is a file passed to the editor, and its content.
type drafted struct{ path, shown string }

// drafts opens the editor on the current value and returns the draft.
func (s *session) drafts() drafted {
	s.t.Helper()
	var path string
	s.model.edit.Editor = func(p string) *exec.Cmd {
		path = p
		return exec.Command("true")
	}
	s.press("E")
	read, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatalf("nothing to edit: %v\n%s", err, s.screen())
	}
	return drafted{path, string(read)}
}

// leaves ends the editor with a text.
func (s *session) leaves(d drafted, text string) {
	s.t.Helper()
	if err := os.WriteFile(d.path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.send(edit.Edited{Path: d.path})
}

func (f *file) get(key string) string {
	f.t.Helper()
	v, err := f.session.Do(context.Background(), []byte("GET"), []byte(key))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(v.Str)
}

func TestEditingBytes(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	if _, err := f.session.Do(context.Background(), []byte("SET"), []byte("k"), all); err != nil {
		t.Fatal(err)
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w", "enter")
	d := s.drafts()
	if !strings.Contains(d.shown, "\n40 41 42 43") || !strings.Contains(d.shown, "# @ABCDEFG") {
		t.Errorf("the draft is %s", d.shown)
	}
	s.leaves(d, d.shown+"\n\n")
	s.shows("Nothing was changed")
	d = s.drafts()
	s.leaves(d, strings.Replace(d.shown, "40 41", "2a", 1)+"\n")
	s.shows("Changed k")
	if got, want := f.get("k"), string(bytes.Replace(all, []byte("@A"), []byte("*"), 1)); got != want {
		t.Errorf("got %q", got)
	}
	d = s.drafts()
	s.leaves(d, "4")
	s.shows("line 1 is not", "Your text is in", d.path)
	s.press("esc")
	if err := os.Remove(d.path); err != nil {
		t.Error("the text was thrown away")
	}
}

func TestEditingLargeText(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("SET k x PXAT 1800000000000")
	f.do("SET k " + strings.Repeat("0123456789abcde,", 100_000) + " KEEPTTL")
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w", "enter")
	d := s.drafts()
	if len(d.shown) != 1_600_000 {
		t.Fatalf("the editor gets %d bytes", len(d.shown))
	}
	// Editors end the last line with a newline.
	s.leaves(d, d.shown+"\n")
	s.shows("Nothing was changed")
	d = s.drafts()
	s.leaves(d, d.shown[16:]+"\n")
	s.shows("Changed k", "1,599,984 bytes", "expires in")
	if got := f.get("k"); got != d.shown[16:] {
		t.Errorf("there are %d bytes", len(got))
	}

	// A concurrent write is not overwritten without asking.
	d = s.drafts()
	f.do("SET k theirs")
	s.leaves(d, "mine")
	s.shows("Overwrite it?", "Another client changed or deleted it.")
	s.press("n")
	s.shows("Your text is in", d.path)
	s.press("esc")
	if got := f.get("k"); got != "theirs" {
		t.Errorf("got %q", got)
	}
	s.send(edit.Edited{Path: d.path})
	s.press("y")
	s.shows("Changed k")
	if got := f.get("k"); got != "mine" {
		t.Errorf("got %q", got)
	}
	s.press("u")
	if got := f.get("k"); got != "theirs" {
		t.Errorf("got %q", got)
	}
}

// TestWhatWasTypedStays checks that a refused draft keeps its text.
func TestWhatWasTypedStays(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("JSON.SET doc $ 1")
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w", "enter", "e", "{", "enter")
	s.shows("✗", "Edit doc", "1{▏")
	s.press("backspace", "2", "enter")
	s.shows("Changed doc")
	d := s.drafts()
	s.leaves(d, "{")
	s.shows("EOF", "Your text is in", d.path)
	s.press("esc")
	if err := os.Remove(d.path); err != nil {
		t.Error("the text was thrown away")
	}
	s.press("esc", "a", "enter")
	s.typing("doc")
	s.press("enter", "enter", "enter")
	s.shows("✗ the key already exists", "SET doc")
}

// TestEditingOneLine edits one-line JSON laid out in several lines. It is stored in one line again,
// unless the user chooses the other layout.
func TestEditingOneLine(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	set := func(words ...string) {
		if _, err := f.session.Do(context.Background(), client.Command(words...)...); err != nil {
			t.Fatal(err)
		}
	}
	set("SET", "k", `{"b": 1, "a": [1, 2]}`)
	set("HSET", "h", "f", `{"long":"`+strings.Repeat("x", 80)+`","n":1}`)
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	s.choose("k")
	s.press("enter")
	d := s.drafts()
	if want := "{\n  \"b\": 1,\n  \"a\": [\n    1,\n    2\n  ]\n}"; d.shown != want || !strings.HasSuffix(d.path, ".json") {
		t.Errorf("the draft is %q in %s", d.shown, d.path)
	}
	s.leaves(d, d.shown+"\n")
	s.shows("Nothing was changed")
	for _, c := range []struct{ left, asks, key, stored string }{
		{"{\n  \"b\": 1,\n  \"a\": [\n    1,\n    3\n  ]\n}\n", "", "", `{"b": 1, "a": [1, 3]}`},
		{`{"b":2}` + "\n", "", "", `{"b":2}`},                                    // the user put it in one line
		{"{\n\t\"b\": 3\n}\n", "The layout changed", "enter", `{"b":3}`},         // the stored layout
		{"{\n\t\"b\": 4\n}\n", "The layout changed", "down", "{\n\t\"b\": 4\n}"}, // the edited layout
	} {
		d := s.drafts()
		s.leaves(d, c.left)
		if c.asks != "" {
			s.shows(c.asks)
			if c.key == "down" {
				s.press("down")
			}
			s.press("enter")
		}
		s.shows("Changed k")
		if got := f.get("k"); got != c.stored {
			t.Errorf("stored is %q, want %q", got, c.stored)
		}
	}
	// A value stored in several lines is edited unchanged.
	if d := s.drafts(); d.shown != "{\n\t\"b\": 4\n}" {
		t.Errorf("the draft is %q", d.shown)
	}
	s.press("u", "u")
	d = s.drafts()
	s.leaves(d, "{\n  \"b\": ,\n}")
	s.shows("this is no JSON", "edit again")
	s.press("esc")
	s.shows("Nothing was changed", "Your text is in", d.path)
	s.press("esc")
	s.leaves(d, "{\n  \"b\": ,\n}")
	s.press("enter") // a second time
	s.leaves(d, "{\n  \"b\": 5\n}")
	s.shows("Changed k")
	if got := f.get("k"); got != `{"b":5}` {
		t.Errorf("stored is %q", got)
	}
	// With the text form on the screen, the editor gets the text.
	s.press("f")
	if d := s.drafts(); d.shown != `{"b":5}` {
		t.Errorf("the draft is %q", d.shown)
	}
	// A long line in a hash is laid out too, also with e.
	s.press("esc")
	s.choose("h")
	s.press("enter")
	d = s.drafts()
	s.leaves(d, strings.Replace(d.shown, `"n": 1`, `"n": 2`, 1))
	s.shows("Changed f of h")
	v, err := f.session.Do(context.Background(), client.Command("HGET", "h", "f")...)
	if err != nil || !strings.HasSuffix(string(v.Str), `","n":2}`) {
		t.Errorf("stored is %q, %v", v.Str, err)
	}
}

// TestEditingLayers edits the decoded content of gzip and MessagePack, and the stored bytes if the
// stored form is on the screen.
func TestEditingLayers(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	zipped := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
		return b.String()
	}
	set := func(words ...string) {
		if _, err := f.session.Do(context.Background(), client.Command(words...)...); err != nil {
			t.Fatal(err)
		}
	}
	set("SET", "zip", zipped(`{"theme":"dark"}`))
	set("HSET", "packs", "one", "\x82\xa1a\x01\xa1b\xd3\x00\x00\x00\x00\x00\x00\x00\x02")
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	s.choose("zip")
	s.press("enter")
	before := f.get("zip")
	d := s.drafts()
	if d.shown != "{\n  \"theme\": \"dark\"\n}" || !strings.HasSuffix(d.path, ".json") {
		t.Errorf("the draft is %q in %s", d.shown, d.path)
	}
	s.leaves(d, d.shown+"\n")
	s.shows("Nothing was changed")
	if f.get("zip") != before {
		t.Error("an unchanged value was written anew")
	}
	d = s.drafts()
	s.leaves(d, strings.Replace(d.shown, "dark", "dim", 1)+"\n")
	s.shows("Changed zip", "gzip", `"theme": "dim"`)
	if got := f.get("zip"); !strings.HasPrefix(got, "\x1f\x8b\x08") || len(got) > 60 {
		t.Errorf("stored is %q", got)
	}
	d = s.drafts()
	s.leaves(d, "{broken")
	s.shows("this is no JSON", "Your text is in")
	s.press("esc")
	os.Remove(d.path)
	s.press("u")
	if f.get("zip") != before {
		t.Error("undo brought back something else")
	}
	s.press("f", "f")
	if d = s.drafts(); !strings.Contains(d.shown, "1f 8b 08") {
		t.Errorf("bytes that are looked at are edited as %q", d.shown)
	}
	s.leaves(d, d.shown)

	s.press("esc")
	s.choose("packs")
	s.press("enter")
	d = s.drafts()
	s.leaves(d, strings.Replace(d.shown, `"a": 1`, `"a": 3`, 1))
	s.shows("Changed one of packs")
	v, err := f.session.Do(context.Background(), client.Command("HGET", "packs", "one")...)
	if want := "\x82\xa1a\x03\xa1b\xd3\x00\x00\x00\x00\x00\x00\x00\x02"; err != nil || string(v.Str) != want {
		t.Errorf("stored is %q %v", v.Str, err)
	}
}
