package inspect

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/transfer"
)

// dumpAll returns every key of a client with its value and expiry, in order.
func dumpAll(t *testing.T, c keyspace.Client, now int64) string {
	t.Helper()
	conn := client.NewConn(c, systemClock)
	var lines []string
	for db := range client.MostDatabases {
		v, err := conn.One(context.Background(), db, client.Command("KEYS", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range v.Elems {
			lines = append(lines, dumpKey(t, conn, db, client.Text(e), now))
		}
	}
	if _, err := conn.Do(context.Background(), 0); err != nil { // other clients use the session too
		t.Fatal(err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func dumpKey(t *testing.T, conn *client.Conn, db int, key string, now int64) string {
	t.Helper()
	var line strings.Builder
	fmt.Fprintf(&line, "%d %q", db, key)
	for p, err := range transfer.FromKeys(context.Background(), conn.In(db), []byte(key)) {
		if err != nil || p.Err != nil {
			t.Fatal(err, p.Err)
		}
		fmt.Fprintf(&line, " %d", p.Key.ExpiresAt)
		for call := range p.Calls(nil) {
			for _, w := range call {
				if len(w) > 1000 {
					fmt.Fprintf(&line, " %x", sha256.Sum256(w))
				} else {
					fmt.Fprintf(&line, " %x", w)
				}
			}
		}
	}
	return line.String() + "\n"
}

// osc52Of returns the escape sequence that copies text.
func osc52Of(text string) string {
	return "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\x07"
}

// TestEveryChangeIsUndone changes a file in every way and undoes every change.
func TestEveryChangeIsUndone(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	before := dumpAll(t, f, f.clock.now)
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	steps := [][]string{
		{"j", "d", "y"}, // a folder
		{"a", "enter", "n", "e", "w", "enter", "v", "enter", "enter"},
		{"r", "x", "enter"},
		{"x", "5", "m", "enter"},
		{"@persist"},
		{"o", "b", "o", "a", "r", "d", "enter", "j", "d", "y"},
		{"e", "5", "enter"},
		{"esc", "o", "t", "a", "g", "s", "enter", "e", "x", "enter"},
		{"a", "o", "n", "e", "enter"},
		{"esc", "o", "e", "v", "e", "n", "t", "s", "enter", "d", "y"},
		{"esc", "o", "d", "o", "c", "enter", "e", "ctrl+u", "1", "enter"},
		{"esc", "o", "s", "l", "o", "t", "s", "enter", "j", "e", "x", "enter"},
		{"d", "y"},
		{"a", "n", "e", "w", "enter"},
		{":", "H", "D", "E", "L", "space", "c", "a", "r", "t", "space", "p", "e", "a", "r", "enter"},
		{":", "S", "E", "T", "space", "d", "o", "c", "space", "1", "enter"},
	}
	for _, keys := range steps {
		n := len(s.model.edit.Undoable())
		s.press(keys...)
		if s.model.Failure != "" || len(s.model.edit.Undoable()) != n+1 {
			t.Fatalf("%q: %d changes are kept, not one more than %d:\n%s", keys, len(s.model.edit.Undoable()), n, s.screen())
		}
		if s.model.Dialog != nil {
			s.press("esc")
		}
	}
	if dumpAll(t, f, f.clock.now) == before {
		t.Fatal("nothing was changed")
	}
	for range steps {
		s.press("u")
		s.hides("✗")
	}
	s.press("u")
	s.shows("Nothing to undo")
	if got := dumpAll(t, f, f.clock.now); got != before {
		t.Errorf("what was undone is not what was there:\n%s\nwant\n%s", got, before)
	}
}

// TestRealRedisIsChanged checks that undo also works on a real server.
func TestRealRedisIsChanged(t *testing.T) {
	conn := oracle.Start(t).Dial(t)
	for i := range 30 {
		conn.Do(client.Command("RPUSH", fmt.Sprintf("queue:%d", i), "a", "b\x00\xff")...)
	}
	conn.Do(client.Command("SET", "s", "v", "PXAT", "33000000000000")...)
	conn.Do(client.Command("XADD", "x", "1-1", "a", "b")...)
	conn.Do(client.Command("XGROUP", "CREATE", "x", "g", "0")...)
	f := newFake()
	f.options = func(o *Options) {
		o.Unlock = func(context.Context) (keyspace.Client, error) { return real{conn: conn}, nil }
	}
	before := dumpAll(t, real{conn: conn}, 0)
	s := browseOn(t, real{conn: conn}, f, 80, 24)
	s.press("w", "d")
	s.shows("Delete queue:*, 30 keys?")
	s.press("y")
	s.shows("Deleted queue:*, 30 keys", "2 keys")
	s.press("space", "space", "d", "y")
	s.shows("0 keys")
	s.press("u", "u")
	s.shows("32 keys")
	if got := dumpAll(t, real{conn: conn}, 0); got != before {
		t.Errorf("got %s\nwant %s", got, before)
	}
	s.choose("queue:0")
	s.press("r", "ctrl+u", "s", "enter")
	s.shows("Overwrite s?", "The key already exists")
	s.press("y")
	s.shows("Renamed to s", "31 keys")
	s.press("u")
	s.shows("32 keys")
	if got := dumpAll(t, real{conn: conn}, 0); got != before {
		t.Errorf("got %s\nwant %s", got, before)
	}
}

func TestConfirmationLevels(t *testing.T) {
	race.Skip(t)
	for level, keys := range map[edit.Confirm][]string{
		ConfirmNone: {"d"}, edit.ConfirmYes: {"d", "y"}, edit.ConfirmName: {"d", "p", "r", "o", "d", "enter"},
	} {
		f := newFile(t)
		f.do("SET k v")
		start := f.fake.options
		f.fake.options = func(o *Options) {
			start(o)
			o.Confirm, o.Name = level, "prod"
		}
		s := browseOn(t, f, f.fake, 80, 24)
		s.press("d")
		s.shows("1 key", "Press w to unlock")
		s.press("w")
		if level == ConfirmName {
			s.press("d", "y", "enter")
			s.shows("That is not prod", "1 key")
			s.press("esc")
		}
		s.press(keys...)
		s.shows("0 keys", "Deleted k. Press u")
	}
}

func TestReadOnlyTargetsStayLocked(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	f.fake.options = func(o *Options) { o.Index = f.index }
	before := dumpAll(t, f, f.clock.now)
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	s.shows("This target is read-only.", "read-only ·")
	for _, keys := range []string{"d", "a", "e", "E", "r", "x", "@persist", "u"} {
		s.press(keys)
		if s.model.Dialog != nil {
			t.Errorf("%s asks:\n%s", keys, s.screen())
			s.press("esc")
		}
	}
	s.press(":")
	s.typing("FLUSHALL")
	s.press("enter")
	if s.model.Dialog != nil {
		s.press("y")
	}
	if dumpAll(t, f, f.clock.now) != before {
		t.Error("something was changed")
	}
}

func TestEditorsAreUsed(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("SET k line")
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w", "enter", "E")
	s.shows("No editor found")
	d := s.drafts()
	s.leaves(d, "line\nmore\n")
	s.shows("Changed k", "more", "9 bytes")
	if _, err := os.Stat(d.path); !errors.Is(err, os.ErrNotExist) {
		t.Error("the file with the value stays behind")
	}
	d = s.drafts()
	s.send(edit.Edited{Path: d.path, Err: errors.New("the editor crashed")})
	s.shows("✗", "the editor crashed")
	if _, err := os.Stat(d.path); !errors.Is(err, os.ErrNotExist) {
		t.Error("the file with the value stays behind")
	}
}

func TestCopyAndExport(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	var out bytes.Buffer
	start := f.fake.options
	f.fake.options = func(o *Options) {
		start(o)
		o.Out = &out
		o.Exec = "meowdis exec --db 'app.db'"
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("y", "end", "enter")
	s.shows("Copied the shell command")
	if want := osc52Of("meowdis exec --db 'app.db' ZRANGE 'board' 0 -1 WITHSCORES"); out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	out.Reset()
	f.do("COPY tags other DB 3")
	s.press("0", "3", "enter", "y", "end", "enter")
	if want := osc52Of("meowdis exec --db 'app.db' -n 3 SMEMBERS 'other'"); out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	s.press("0", "0", "enter")
	path := filepath.Join(t.TempDir(), "out.redis")
	s.press("j", "space", ">", "ctrl+u")
	s.typing(path)
	s.press("enter")
	s.shows("Wrote 33 keys")
	script, err := os.ReadFile(path)
	if err != nil || bytes.Count(script, []byte("\n")) != 33 || !bytes.Contains(script, []byte("RPUSH cache:list:0 a b c")) {
		t.Errorf("%v %.200s", err, script)
	}
	s.press(">", "ctrl+u")
	s.typing(path)
	s.press("enter")
	s.shows("✗", "exists")
}

func TestMouse(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	s := browseOn(t, f, f.fake, 120, 24)
	at := func(x, y int, b tea.MouseButton) {
		s.send(tea.MouseMsg{X: x, Y: y, Button: b, Action: tea.MouseActionPress})
		s.wait(2 * ui.SettleTime)
	}
	at(5, 4, tea.MouseButtonLeft) // cache:
	s.shows("▌ ▾ cache:", "▸ list:")
	at(5, 3, tea.MouseButtonLeft)
	s.shows("▌   board", "zset · 3 members")
	at(80, 5, tea.MouseButtonLeft)
	s.shows("▌ 1      2  bob")
	at(5, 10, tea.MouseButtonWheelDown)
	s.shows("▏   ▸ page:")
	at(5, 1, tea.MouseButtonLeft)
	at(5, 23, tea.MouseButtonLeft)
	at(119, 22, tea.MouseButtonLeft)
}

// TestNamesThatAreNoText renames and edits bytes that cannot be typed.
func TestNamesThatAreNoText(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	ctx := context.Background()
	if _, err := f.session.Do(ctx, []byte("HSET"), []byte("k\x00\xff"), []byte("f"), []byte("a\xfeb")); err != nil {
		t.Fatal(err)
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w", "r")
	s.shows(`"k\x00\xff"▏`)
	s.press("enter")
	s.hides("Renamed")
	s.press("r", "backspace", "enter")
	s.shows("✗", "double quotes")
	s.press("R", "backspace", "!", `"`, "enter")
	s.shows("Renamed to", `"k\x00\xff!"`)
	s.press("enter", "e", "backspace", "c", `"`, "enter")
	s.shows("Changed f", `"a\xfebc"`)
	v, err := f.session.Do(ctx, []byte("HGET"), []byte("k\x00\xff!"), []byte("f"))
	if err != nil || string(v.Str) != "a\xfebc" {
		t.Errorf("got %q %v", v.Str, err)
	}
	s.send(tea.KeyMsg{Type: tea.KeyEsc})
	s.press("o")
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(`"k\x00\xff!"`), Paste: true})
	s.press("enter")
	s.shows("hash · 1 field")
}

// A field keeps the time to live that it has when it is written, which may differ from the one on the
// screen.
func TestFieldKeepsItsLife(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("HSET cart apple 3")
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w", "enter")
	s.shows("apple", "3")
	f.do("HPEXPIREAT cart 4000000000000 FIELDS 1 apple") // without the browser's knowledge
	for _, change := range [][]string{{"e", "1", "enter"}, {"u"}} {
		s.press(change...)
		ends, err := f.session.Do(context.Background(), client.Command("HPEXPIRETIME", "cart", "FIELDS", "1", "apple")...)
		if err != nil || len(ends.Elems) != 1 || client.Number(ends.Elems[0]) != 4000000000000 {
			t.Errorf("after %q it ends at %v, %v", change, ends, err)
		}
	}
	s.shows("apple", "3")
}
