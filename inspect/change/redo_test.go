package change

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/local"
)

// TestUndoWithoutRedo checks that an undo succeeds even if its redo cannot be saved, and that
// a redo fails if its undo cannot be saved.
func TestUndoWithoutRedo(t *testing.T) {
	now := func() int64 { return 1_700_000_000_000 }
	store, err := local.Open(local.Memory, local.Options{Now: now, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	session := engine.New(store, engine.WithClock(now)).Session()
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	there := NewJournal(t.TempDir(), "t", now)
	c := Maker{Conn: client.NewConn(session, now), Clock: now, Journal: there, RedoJournal: NewRedoJournal(filepath.Join(blocked, "redo"), "t", now)}
	defer func() { there.Close(true) }()
	set := Change{Title: "SET", Calls: [][][]byte{client.Command("SET", "k", "new")}}
	made, doubt := c.Make(t.Context(), 0, set)
	if doubt != nil || made.Err != nil {
		t.Fatal(made.Err, doubt)
	}
	if u := c.Undo(t.Context(), *made.Step, false); u.Err != nil || u.Back != nil || len(u.Conflicts) > 0 {
		t.Errorf("%+v", u)
	}
	exists := func() int64 {
		v, err := session.Do(t.Context(), client.Command("EXISTS", "k")...)
		if err != nil {
			t.Fatal(err)
		}
		return v.Int
	}
	if exists() != 0 {
		t.Error("it was not undone")
	}

	redo := NewRedoJournal(t.TempDir(), "t", now)
	defer func() { redo.Close(true) }()
	c.RedoJournal = redo
	if made, _ = c.Make(t.Context(), 0, set); made.Err != nil {
		t.Fatal(made.Err)
	}
	u := c.Undo(t.Context(), *made.Step, false)
	if u.Err != nil || u.Back == nil {
		t.Fatalf("%+v", u)
	}
	c.Journal = NewJournal(filepath.Join(blocked, "undo"), "t", now)
	if again := c.Redo(t.Context(), *u.Back, false); again.Err == nil || again.Back != nil || exists() != 0 {
		t.Errorf("%+v, %d keys", again, exists())
	}
	c.Journal = there
	if again := c.Redo(t.Context(), *u.Back, false); again.Err != nil || again.Back == nil || exists() != 1 {
		t.Errorf("%+v, %d keys", again, exists())
	}
}
