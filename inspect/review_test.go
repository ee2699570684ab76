package inspect

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// theirs runs commands of another client, one per line.
func (f *file) theirs(lines string) {
	f.t.Helper()
	mine := f.session
	f.session = f.another()
	defer func() { f.session = mine }()
	for line := range strings.Lines(lines) {
		f.do(strings.TrimSpace(line))
	}
}

// overwritten lists undos of data that another client changed since. Each asks, and changes nothing if
// the answer is no.
var overwritten = []struct {
	what, data string
	keys       []string
	theirs     string
	asks       string
	undone     string // a command to run after a yes
	then       string // its reply
}{
	{"a field that was edited, and one that was added", "HSET h a 1", []string{"enter", "e", "2", "enter"}, "HSET h b theirs",
		"h was changed", "HGETALL h", "a 1"},
	{"a key that was set, and appended to", "SET k old", []string{":", "S", "E", "T", "space", "k", "space", "1", "enter"}, "APPEND k theirs",
		"k was changed", "GET k", "old"},
	{"a key that was set, and deleted", "SET k old", []string{":", "S", "E", "T", "space", "k", "space", "1", "enter"}, "DEL k",
		"k was deleted; it is restored", "GET k", "old"},
	{"a key that was deleted, and made anew", "SET k old", []string{"d", "y"}, "SET k theirs",
		"k was created again", "GET k", "old"},
	{"all keys", "SET k old", []string{":", "F", "L", "U", "S", "H", "A", "L", "L", "enter", "y", "esc"}, "RPUSH k theirs",
		"k was created again", "GET k", "old"},
	{"a key that was added, and extended", "PING", []string{"a", "down", "down", "enter", "l", "enter", "x", "enter", "enter"}, "RPUSH l theirs",
		"l was changed", "EXISTS l", "0"},
	{"a name that was taken again", "SET k old", []string{"r", "2", "enter"}, "SET k theirs",
		"k was created again", "MGET k k2", "old "},
	{"a name that is gone", "SET k old", []string{"r", "2", "enter"}, "DEL k2",
		"k2 was deleted", "MGET k k2", " "},
	{"a time to live", "SET k old", []string{"x", "9", "0", "enter"}, "PERSIST k",
		"k has a different TTL now", "PTTL k", "-1"},
	{"a time to live that was typed", "SET k old PXAT 1800000000000", []string{":", "P", "E", "R", "S", "I", "S", "T", "space", "k", "enter"}, "PEXPIRE k 7000000",
		"k has a different TTL now", "PEXPIRETIME k", "1800000000000"},
	{"a field's time to live", "HSET h a 1", []string{"enter", "x", "9", "0", "enter"}, "HPEXPIRE h 100000 FIELDS 1 a",
		"h has a different TTL now", "HPTTL h FIELDS 1 a", "-1"},
}

func TestUndoAsksBeforeItOverwrites(t *testing.T) {
	race.Skip(t)
	for _, refuses := range []string{"", "WATCH"} {
		for _, c := range overwritten {
			t.Run(refuses+" "+c.what, func(t *testing.T) {
				f := newFile(t)
				f.do(c.data)
				f.through(&meddler{refuses: refuses})
				s := browseOn(t, f, f.fake, 80, 24)
				s.press(append([]string{"w"}, c.keys...)...)
				if len(s.model.edit.Undoable()) != 1 {
					t.Fatalf("%d changes:\n%s", len(s.model.edit.Undoable()), s.screen())
				}
				f.theirs(c.theirs)
				after := dumpAll(t, f, f.clock.now)
				s.press("u")
				s.shows("Undo anyway?", c.asks)
				s.press("n")
				s.shows("Nothing was changed")
				if got := dumpAll(t, f, f.clock.now); got != after || len(s.model.edit.Undoable()) != 1 {
					t.Errorf("%d changes are left, and %s", len(s.model.edit.Undoable()), firstDifference(after, got))
				}
				s.press("u", "y")
				s.shows("Undone")
				v, err := f.session.Do(context.Background(), client.Command(strings.Fields(c.undone)...)...)
				if got := words(v); err != nil || got != c.then {
					t.Errorf("%s: %q %v, want %q", c.undone, got, err, c.then)
				}
			})
		}
	}
}

// TestEveryTypeIsReviewed checks that another client's change is noticed in a key of any type.
func TestEveryTypeIsReviewed(t *testing.T) {
	race.Skip(t)
	for _, c := range [][3]string{
		{"SET k a", "APPEND k b", "SETRANGE k 0 c"}, {"RPUSH k a b", "RPUSH k c", "LSET k 0 d"}, {"SADD k a b", "SADD k c", "SREM k a"},
		{"HSET k f 1", "HSET k g 1", "HSET k f 2"}, {"HSET k f 1", "HSET k g 1", "HPEXPIRE k 90000 FIELDS 1 f"}, {"ZADD k 1 a", "ZADD k 2 b", "ZADD k 3 a"},
		{"XADD k 1-1 a b", "XADD k 2-1 a b", "XADD k 3-1 a b"}, {"XADD k 1-1 a b", "XADD k 2-1 a b", "XGROUP CREATE k g 0"},
		{`JSON.SET k $ {"a":1}`, "JSON.SET k $.b 2", "JSON.SET k $.a 3"}, {"ARSET k 0 a", "ARSET k 1 b", "ARSET k 0 c"},
		{"VADD k VALUES 2 1 0 a", "VADD k VALUES 2 0 1 b", "VADD k VALUES 2 1 1 a"}, {"VADD k VALUES 2 1 0 a", "VADD k VALUES 2 0 1 b", `VSETATTR k a {"x":1}`},
	} {
		f := newFile(t)
		f.do(c[0])
		s := browseOn(t, f, f.fake, 80, 24)
		s.press("w")
		s.runs(c[1])
		s.press("u")
		s.shows("Undone")
		s.runs(c[1])
		f.theirs(c[2])
		s.press("u")
		s.shows("Undo anyway?", "k was changed")
	}
}

// words returns a reply as words.
func words(v resp.Value) string {
	if len(v.Elems) == 0 {
		return client.Text(v)
	}
	all := make([]string, len(v.Elems))
	for i, e := range v.Elems {
		all[i] = words(e)
	}
	return strings.Join(all, " ")
}

// TestUndoOfALifeBringsNoKeyBack undoes a TTL change of a key that another client deleted.
func TestUndoOfALifeBringsNoKeyBack(t *testing.T) {
	race.Skip(t)
	for what, keys := range map[string][]string{
		"X": {"x", "9", "0", "enter"}, "P": {"@persist"},
		"EXPIRE":   {":", "E", "X", "P", "I", "R", "E", "space", "h", "space", "9", "0", "enter"},
		"a field":  {"enter", "x", "9", "0", "enter"},
		"PEXPIRE ": {":", "P", "E", "X", "P", "I", "R", "E", "space", "h", "space", "9", "0", "0", "0", "enter"},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFile(t)
			f.do("HSET h a 1")
			f.do("PEXPIRE h 1000000")
			s := browseOn(t, f, f.fake, 80, 24)
			s.press(append([]string{"w"}, keys...)...)
			f.theirs("DEL h")
			s.press("u")
			s.shows("h no longer exists: its TTL is not changed.", "0 keys")
			if len(s.model.edit.Undoable()) != 0 {
				t.Errorf("%d changes are left", len(s.model.edit.Undoable()))
			}
		})
	}
}

// TestUndoDoesNotAsk checks expired keys and large keys that no other client changed.
func TestUndoDoesNotAsk(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("SET k old")
	f.do("SETRANGE big 3000000 x")
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	before := dumpAll(t, f, f.clock.now)
	s.runs("SET k new PX 5000")
	s.wait(6e9)
	s.press("u")
	s.shows("Undone")
	s.runs("APPEND big y")
	f.theirs("SET other 1\nDEL other")
	s.press("u")
	s.shows("Undone")
	if got := dumpAll(t, f, f.clock.now); got != before {
		t.Error(firstDifference(before, got))
	}
}

// TestUndoAsksWhenNobodyKnows checks that undo asks if the session was killed before it read the result
// of its change.
func TestUndoAsksWhenNobodyKnows(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("SET k old")
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	s.runs("SET k new")
	path := s.journal()
	// The end record of a step has 15 bytes.
	if err := os.Truncate(path, sizeOfFile(t, path)-16); err != nil {
		t.Fatal(err)
	}
	if _, err := s.model.edit.EndJournal(); err != nil {
		t.Fatal(err)
	}
	start := f.fake.options
	f.fake.options = func(o *Options) {
		start(o)
		o.Journal = filepath.Dir(path)
	}
	next := browseOn(t, f, f.fake, 80, 24)
	next.press("enter", "w", "u")
	next.shows("Undo anyway?", "SET k new", "are unknown")
	next.press("y")
	next.shows("Undone: SET k new")
}

// TestUndoIsWatched checks that undo reads again if another client writes between its read and its
// change.
func TestUndoIsWatched(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("SET k old")
	b := &meddler{}
	f.through(b)
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	s.runs("SET k new")
	interfere := true
	b.before = func(calls [][][]byte) {
		if holdsMulti(calls) && interfere {
			interfere = false
			f.theirs("SET k theirs")
		}
	}
	s.press("u")
	s.shows("Undo anyway?", "k was changed")
	s.press("n")
	if v, err := f.session.Do(context.Background(), client.Command("GET", "k")...); err != nil || client.Text(v) != "theirs" {
		t.Errorf("k is %q, %v", client.Text(v), err)
	}
}

// TestSomebodyElseIsFirst checks that another client's write right after a change is not taken for its
// result.
func TestSomebodyElseIsFirst(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	f.do("SET k old")
	b := &meddler{}
	f.through(b)
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w")
	changed := false
	b.before = func(calls [][][]byte) {
		if changed {
			changed = false
			b.before = nil
			f.theirs("SET k theirs")
		}
		changed = holdsMulti(calls)
	}
	s.runs("SET k new")
	s.press("u")
	s.shows("Undo anyway?", "are unknown")
}

// TestRealRedisIsReviewed checks that undo on a real server asks too, and does not ask if a hash was
// only reordered.
func TestRealRedisIsReviewed(t *testing.T) {
	server := oracle.Start(t)
	conn, other := server.Dial(t), server.Dial(t)
	for i := range 512 {
		conn.Do(client.Command("HSET", "h", "f"+client.Decimal(int64(i)), "v")...)
	}
	f := newFake()
	f.options = func(o *Options) {
		o.Unlock = func(context.Context) (keyspace.Client, error) { return real{conn: conn}, nil }
	}
	s := browseOn(t, real{conn: conn}, f, 80, 24)
	s.press("w")
	s.runs("HSET h g 1")
	for range 2000 {
		other.Do(client.Command("HGET", "h", "f1")...) // continues the rehash
	}
	s.press("u")
	s.shows("Undone")
	s.runs("HSET h g 1")
	other.Do(client.Command("HSET", "h", "theirs", "1")...)
	s.press("u")
	s.shows("Undo anyway?", "h was changed")
	s.press("n")
	if v := other.Do(client.Command("HGET", "h", "theirs")...); client.Text(v) != "1" {
		t.Errorf("theirs is %q", client.Text(v))
	}
}
