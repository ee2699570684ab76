package keys

import (
	"context"
	"fmt"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/ui"
)

// newList returns a list of n keys, none loaded yet.
func newList(t *testing.T, n int) *Pane {
	t.Helper()
	index, session := newIndex(t)
	for i := range n {
		if _, err := session.Do(context.Background(), []byte("SET"), fmt.Appendf(nil, "key%05d", i), []byte("1")); err != nil {
			t.Fatal(err)
		}
	}
	l := New(&ui.PaneContext{Jobs: job.Jobs{Now: now(), After: func(time.Duration, tea.Msg) tea.Cmd { return nil }}, Index: index, Clock: now, Delimiter: ":", KeyFor: func(action string) string { return action }, Conn: client.NewConn(nil, now)})
	l.Resize(80, 12)
	return &l
}

// listed returns the result of a job for what.
func listed(t *testing.T, l *Pane, what load) listedMsg {
	t.Helper()
	w := l.walker()
	at, back, n := l.loadRange(w, what)
	s, err := w.walk(context.Background(), at, back, n)
	if err != nil {
		t.Fatal(err)
	}
	return listedMsg{w, what, s}
}

// loadAll runs all loads that the list needs.
func loadAll(t *testing.T, l *Pane) {
	t.Helper()
	for range 100 {
		what := l.nextLoad()
		if what == loadNone {
			return
		}
		l.onListed(listed(t, l, what))
	}
	t.Fatal("the list is never content")
}

// TestMovesAfterStop checks that a user who stopped the jump to the last row continues from the current
// row.
func TestMovesAfterStop(t *testing.T) {
	l := newList(t, 1000)
	loadAll(t, l)
	l.Touch()
	l.End()
	l.Halt(job.Listing)
	l.Stop()
	l.Move(1)
	if key, _ := l.Current(); key != "key00001" || l.IsWaited() {
		t.Errorf("at %q, waiting %v", key, l.IsWaited())
	}
}

// TestSearchGoesOnAfterStop checks that rows are never added to the rows of the previous query.
func TestSearchGoesOnAfterStop(t *testing.T) {
	l := newList(t, 1000)
	loadAll(t, l)
	l.search(query{filter: filter{text: "key009"}})
	l.Halt(job.Listing)
	l.Stop()
	if l.nextLoad() != loadNone {
		t.Error("it goes on by itself")
	}
	l.Move(0)
	loadAll(t, l)
	if key, _ := l.Current(); key != "key00900" || l.IsWaited() {
		t.Errorf("at %q, waiting %v", key, l.IsWaited())
	}
}

// TestEndDuringReload checks that rows that change during a load do not cancel the jump to the last
// row.
func TestEndDuringReload(t *testing.T) {
	l := newList(t, 1000)
	loadAll(t, l)
	l.Touch()
	l.reload(false)
	late := listed(t, l, l.nextLoad())
	l.reload(true)
	l.End()
	l.onListed(late)
	loadAll(t, l)
	if key, _ := l.Current(); key != "key00999" {
		t.Errorf("at %q", key)
	}
}

// TestRevealBeforeFirstRows selects a key that was created before any row was loaded.
func TestRevealBeforeFirstRows(t *testing.T) {
	l := newList(t, 1000)
	l.ReloadAfterChange("key00500")
	loadAll(t, l)
	if key, _ := l.Current(); key != "key00500" || l.IsWaited() {
		t.Errorf("at %q, waiting %v", key, l.IsWaited())
	}
}
