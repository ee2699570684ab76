package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// meddling is a client that calls a hook before its commands.
type meddling struct {
	*engine.Session
	before func(calls [][][]byte)
}

func (m meddling) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	m.before(calls)
	return m.Session.Pipeline(ctx, calls)
}

// TestJournalThatFillsUp makes the journal unwritable in the middle of a change: the finished
// batches are undone.
func TestJournalThatFillsUp(t *testing.T) {
	now := func() int64 { return 1_700_000_000_000 }
	store, err := local.Open(local.Memory, local.Options{Now: now, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	const keys = 2 * KeysAtOnce
	session := engine.New(store, engine.WithClock(now)).Session()
	for i := range keys {
		if _, err := session.Do(t.Context(), client.Command("SET", fmt.Sprintf("n:%d", i), "x")...); err != nil {
			t.Fatal(err)
		}
	}
	journal := NewJournal(t.TempDir(), "t", now)
	defer func() { journal.Close(false) }()
	deletes := 0
	meddler := meddling{session, func(calls [][][]byte) {
		if len(calls) == 0 || string(calls[0][0]) != "MULTI" {
			return
		}
		if deletes++; deletes == 1 {
			if journal.file, err = os.Open(journal.file.Name()); err != nil { // it cannot be written any more
				t.Error(err)
			}
		}
	}}
	c := Maker{Conn: client.NewConn(meddler, now), Clock: now, Journal: journal}
	made, doubt := c.Make(t.Context(), 0, Change{Title: "all", Batch: Batch{Each: DeleteKeys, Scopes: []Scope{{Selection: Selection{Folders: []string{""}}}}}})
	var full JournalError
	if doubt != nil || !errors.As(made.Err, &full) {
		t.Errorf("got %v %v", made, doubt)
	}
	if deletes < 2 {
		t.Error("the journal was full before anything was deleted")
	}
	if v, err := session.Do(t.Context(), client.Command("DBSIZE")...); err != nil || v.Int != keys {
		t.Errorf("%d keys are left, %v", v.Int, err)
	}
}
