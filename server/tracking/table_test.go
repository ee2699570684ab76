package tracking_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/server/tracking"
)

// ear is a peer that records its messages as text.
type ear struct {
	told []string
	held int
}

func (e *ear) Send(m *tracking.Message, own bool) {
	e.told = append(e.told, fmt.Sprintf("%q own=%v", m.Keys, own))
}

func (e *ear) Redirect(m *tracking.Message, to tracking.Peer, own bool) { to.Send(m, own) }

func (e *ear) Hold() { e.held++ }

// hears fails the test unless the ear got exactly these messages, and clears them.
func (e *ear) hears(t *testing.T, want ...string) {
	t.Helper()
	if !reflect.DeepEqual(e.told, want) {
		t.Errorf("it was told %q, not %q", e.told, want)
	}
	e.told = nil
}

func keys(names ...string) (all [][]byte) {
	for _, name := range names {
		all = append(all, []byte(name))
	}
	return all
}

// room returns a table and the peers of its clients, with the IDs 1, 2, …
func room(t *testing.T, modes ...tracking.Mode) (*tracking.Table, []*ear) {
	ears := make([]*ear, len(modes))
	table := tracking.New(func(id int64) tracking.Peer {
		if id > int64(len(ears)) {
			return nil
		}
		return ears[id-1]
	})
	for i, mode := range modes {
		ears[i] = &ear{}
		if v := table.Enable(int64(i+1), ears[i], mode, nil); v.IsError() {
			t.Fatal(v)
		}
	}
	return table, ears
}

func changed(by int64, names ...string) []tracking.Event {
	return []tracking.Event{{Client: by, Keys: keys(names...)}}
}

// TestFlights notifies a client at once of keys that changed during its read.
func TestFlights(t *testing.T) {
	table, ears := room(t, tracking.Mode{}, tracking.Mode{})
	early := table.BeginRead()
	table.Record(changed(0, "a"))
	late := table.BeginRead()
	table.EndRead(1, early, keys("a", "b"), true)
	table.EndRead(2, late, keys("a"), true)
	ears[0].hears(t, `["a"] own=true`)
	ears[1].hears(t)
	if n := table.Counts(); n.Keys != 2 || n.Items != 2 {
		t.Errorf("there are %+v", n)
	}
	table.Record(changed(0, "a", "b"))
	ears[0].hears(t, `["b"] own=false`)
	ears[1].hears(t, `["a"] own=false`)

	begun := table.BeginRead()
	table.Record([]tracking.Event{{}})
	ears[0].hears(t, `[] own=false`)
	table.EndRead(1, begun, keys("x"), true)
	ears[0].hears(t, `["x"] own=true`)
}

// TestManyChangesInFlight makes more changes than the table remembers, which counts as a change of all keys.
func TestManyChangesInFlight(t *testing.T) {
	table, ears := room(t, tracking.Mode{})
	begun := table.BeginRead()
	for i := range 100_001 {
		table.Record(changed(0, fmt.Sprint(i)))
	}
	table.EndRead(1, begun, keys("nothing"), true)
	ears[0].hears(t, `["nothing"] own=true`)
}

// TestInOrder changes and reads a key in one transaction.
func TestInOrder(t *testing.T) {
	table, ears := room(t, tracking.Mode{}, tracking.Mode{NoLoop: true})
	both := func(by int64) {
		table.Record([]tracking.Event{
			{Client: by, Read: true, Keys: keys("a", "b")}, {Client: by, Keys: keys("a")}, {Client: by, Read: true, Keys: keys("a")}, {Client: by, Keys: keys("b")},
		})
	}
	both(1)
	ears[0].hears(t, `["a"] own=true`, `["b"] own=true`)
	both(2)
	ears[0].hears(t, `["a"] own=false`)
	ears[1].hears(t)
	table.Record(changed(0, "a", "b"))
	ears[1].hears(t, `["a"] own=false`)
	if ears[0].held == 0 || ears[1].held == 0 {
		t.Error("its messages do not wait for the reply")
	}
}

// TestMostKeys drops keys over the limit and notifies their readers.
func TestMostKeys(t *testing.T) {
	table, ears := room(t, tracking.Mode{})
	table.SetMaxKeys(10)
	for i := range 1000 {
		table.EndRead(1, table.BeginRead(), keys(fmt.Sprint(i)), true)
	}
	if n := table.Counts(); n.Keys != 10 || n.Items != 10 || len(ears[0].told) != 990 {
		t.Errorf("there are %+v, and it was told %d times", n, len(ears[0].told))
	}
	table.SetMaxKeys(3)
	table.DropExcess()
	if n := table.Counts(); n.Keys != 3 {
		t.Errorf("there are %+v", n)
	}
}

// TestPrefixes notifies clients of keys in their prefixes, and of their own changes by Flush.
func TestPrefixes(t *testing.T) {
	table, ears := room(t, tracking.Mode{Bcast: true}, tracking.Mode{Bcast: true, NoLoop: true}, tracking.Mode{Redirect: 9, Bcast: true})
	if v := table.Enable(4, &ear{}, tracking.Mode{Bcast: true}, keys("ab", "abc")); !strings.Contains(string(v.Str), "overlaps") {
		t.Errorf("it answers %s", v.Str)
	}
	table.Record(append(changed(1, "b", "a"), changed(2, "a", "c")...))
	ears[0].hears(t, `["a" "c"] own=false`)
	ears[1].hears(t, `["a" "b"] own=false`)
	if !table.State(3).Broken || len(ears[2].told) != 1 {
		t.Errorf("the one without a listener was told %q", ears[2].told)
	}
	if !table.Flush(1) || table.Flush(1) || table.Flush(2) {
		t.Error("what a client has changed itself is not told once")
	}
	ears[0].hears(t, `["a" "b"] own=true`)
	for id := range int64(4) {
		table.Disable(id)
	}
	if n := table.Counts(); n != (tracking.Counts{}) {
		t.Errorf("there are %+v", n)
	}
}
