package inspect

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestStreamGroups acknowledges, claims and deletes entries of a stream's groups, and undoes and redoes
// each change, in a small stream and in one whose journal does not store the whole key.
func TestStreamGroups(t *testing.T) {
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
	s.press("U", "enter", "]")
	s.shows("ops", "GROUP", "a add", "D delete")
	s.press("enter")
	s.shows("1-1", "2-1", "ann", "A ack", "C claim")
	before := pending()
	s.press("enter")
	s.shows("kind", "e1")
	s.press("esc")
	for _, change := range []struct {
		keys         []string
		says, leaves string
	}{
		{[]string{"A"}, "Acknowledged 1-1", "2-1 ann 1, "},
		{[]string{"C", "b", "o", "b", "enter"}, "Claimed 1-1 for bob", "1-1 bob 1, 2-1 ann 1, "},
		{[]string{"D", "y"}, "Deleted the entry 1-1", "2-1 ann 1, "},
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
	s.press("s", "c", "enter", "A")
	s.shows("by consumer", "▌ 2-1", "Acknowledged 1-1")
	s.press("u")
	s.shows("by consumer", "▌ 1-1", "2-1")
	s.press("esc", "]")
	s.shows("CONSUMER", "ann")
	s.press("enter")
	s.shows("1-1", "2-1", "A ack")
	s.press("esc", "a")
	s.typing("eve")
	s.press("enter")
	s.shows("Added the consumer eve", "eve")
	s.press("u", "g", "D")
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
	s.press("u", "D")
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
