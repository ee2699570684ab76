package inspect

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestStreamGroups acknowledges, claims and deletes entries of a stream's groups, and undoes and redoes
// each change, in a small stream and in one whose journal does not store the whole key.
func TestStreamGroups(t *testing.T) {
	race.Skip(t)
	t.Run("in a file", func(t *testing.T) {
		f := newFile(t)
		playsGroups(t, f, f.fake, 3, func(words ...string) resp.Value {
			v, err := f.session.Do(context.Background(), client.Command(words...)...)
			if err != nil {
				t.Fatal(err)
			}
			return v
		})
	})
	for _, entries := range []int{3, 10_050} {
		t.Run(fmt.Sprint(entries, " on a server"), func(t *testing.T) {
			conn := oracle.Start(t).Dial(t)
			f := newFake()
			f.options = func(o *Options) {
				o.Unlock = func(context.Context) (keyspace.Client, error) { return real{conn: conn}, nil }
			}
			playsGroups(t, real{conn: conn}, f, entries, func(words ...string) resp.Value { return conn.Do(client.Command(words...)...) })
		})
	}
}

func playsGroups(t *testing.T, c keyspace.Client, f *fake, entries int, call func(words ...string) resp.Value) {
	do := func(line string) resp.Value {
		t.Helper()
		v := call(strings.Fields(line)...)
		if v.IsError() {
			t.Fatal(line, string(v.Str))
		}
		return v
	}
	for i := range entries {
		do(fmt.Sprintf("XADD s %d-1 kind e%d", i+1, i+1))
	}
	do("XGROUP CREATE s ops 0")
	do("XREADGROUP GROUP ops ann COUNT 2 STREAMS s >")
	pending := func() (said string) {
		for _, e := range do("XPENDING s ops - + 10").Elems {
			said += client.Text(e.Elems[0]) + " " + client.Text(e.Elems[1]) + " " + client.Text(e.Elems[3]) + ", "
		}
		return said
	}
	s := browseOn(t, c, f, 80, 24)
	s.press("w", "enter", "]")
	s.shows("ops", "GROUP", "a add", "d delete")
	s.press("enter")
	s.shows("1-1", "2-1", "ann", "e edit", "d delete")
	before := pending()
	s.press("enter")
	s.shows("kind", "e1")
	s.press("esc")
	for _, change := range []struct {
		keys         []string
		says, leaves string
	}{
		{[]string{"@acknowledge"}, "Acknowledged 1-1", "2-1 ann 1, "},
		{[]string{"@claim", "b", "o", "b", "enter"}, "Claimed 1-1 for bob", "1-1 bob 1, 2-1 ann 1, "},
		{[]string{"d", "down", "enter", "y"}, "Deleted the entry 1-1", "2-1 ann 1, "},
	} {
		s.press("g")
		s.press(change.keys...)
		s.shows(change.says)
		if got := pending(); got != change.leaves {
			t.Errorf("%s: %q is pending", change.says, got)
		}
		s.press("u")
		s.shows("Undone")
		s.redoes()
		if got := pending(); got != change.leaves {
			t.Errorf("%s, redone: %q is pending", change.says, got)
		}
		s.press("u")
		if got := pending(); got != before {
			t.Errorf("%s, undone: %q is pending\n%s", change.says, got, s.screen())
		}
		s.shows("▌ 1-1", "2-1")
	}
	s.press("s", "c", "enter", "d", "enter")
	s.shows("by consumer", "▌ 2-1", "Acknowledged 1-1")
	s.press("u")
	s.shows("by consumer", "▌ 1-1", "2-1")
	s.press("esc", "]")
	s.shows("CONSUMER", "ann")
	s.press("enter")
	s.shows("1-1", "2-1", "d delete")
	s.press("esc", "a")
	s.typing("eve")
	s.press("enter")
	s.shows("Added the consumer eve", "eve")
	s.press("u", "g", "d")
	s.shows("Delete the consumer ann?", "2 entries")
	s.press("y")
	s.shows("Deleted the consumer ann")
	s.press("u")
	if got := pending(); got != before {
		t.Errorf("%q is pending", got)
	}
	s.press("esc", "e", "ctrl+u")
	s.typing("1-1")
	s.press("enter")
	s.shows("Set the group ops to 1-1", "1-1")
	s.press("u", "d")
	s.shows("Delete the group ops?", "2 entries")
	s.press("y")
	s.shows("There are no groups")
	s.press("a")
	s.typing("audit")
	s.press("enter", "enter")
	s.shows("Added the group audit", "audit")
	s.press("u", "u")
	if got := pending(); got != before {
		t.Errorf("%q is pending", got)
	}

	// The live view shows entries of other clients until the user moves up.
	s.press("]", "F")
	s.shows("live", fmt.Sprintf("e%d", entries))
	for i := range 40 {
		do(fmt.Sprintf("XADD s %d-1 kind new%d", 20_000+i, i))
	}
	s.wait(3e9)
	s.shows("new39", "live")
	do("XADD s 30000-1 kind last")
	s.wait(2e9)
	s.shows("kind=last", "live")
	s.press("k")
	do("XADD s 30001-1 kind unseen")
	s.wait(2e9)
	s.hides("live")
	s.press("F")
	s.wait(2e9)
	s.shows("unseen")
	s.press("esc")
	s.shows("Stopped")
	if entries > 1000 {
		s.shows("s ▸ the last")
		s.press("esc")
		s.hides("the last")
	}
}

// TestEndOfALongStream goes to the end of a stream with one command.
func TestEndOfALongStream(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for i := range 1500 {
		f.do(fmt.Sprintf("XADD s %d-1 n v%d", i+1, i))
	}
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("enter")
	s.shows("v0")
	before := len(s.model.Conn.Log.Entries())
	s.press("G")
	s.shows("v1499", "v1490", "the last")
	s.hides("· live")
	for _, e := range s.model.Conn.Log.Entries()[before:] {
		if name := string(e.Call[0]); name == "XRANGE" {
			t.Errorf("sent %q", e.Call)
		}
	}
	s.press("esc")
	s.shows("v0")
}
