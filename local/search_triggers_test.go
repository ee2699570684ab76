package local_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/sweep"
)

// TestSearchTriggers checks that the triggers of search exist while an index does: other files do not pay for them.
func TestSearchTriggers(t *testing.T) {
	clock := storetest.NewClock()
	s, err := local.Open(local.Memory, local.Options{SweepEvery: -1, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session := storetest.NewEngine(s, clock).Session()
	triggers := func() int64 {
		results, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{
			{SQL: `SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'keys' AND name LIKE 'search%'`}}}})
		if err != nil {
			t.Fatal(err)
		}
		return results[0].Rows[0][0][0].Int()
	}
	for _, step := range []struct {
		line string
		want int64
	}{
		{"HSET a n x", 0}, {"FT.CREATE one SCHEMA n TEXT", 3}, {"FT.CREATE two SCHEMA n TEXT", 3}, {"HSET b n x", 3}, {"FT.DROPINDEX one", 3},
		{"FLUSHDB", 0}, {"FT.CREATE one SCHEMA n TEXT", 3}, {"HSET a n x", 3}, {"FT.DROPINDEX one DD", 0}, {"FT.CREATE one SCHEMA n TEXT", 3},
		{"SEARCH.CREATE three ON STRING PREFIX 1 s: SCHEMA n TEXT", 6}, {"SEARCH.DROP three", 6}, {"FLUSHDB", 0}, {"FT.CREATE one SCHEMA n TEXT", 3},
		{"SELECT 1", 3}, {"FLUSHDB", 3}, {"FLUSHALL", 0},
	} {
		if v, err := session.Do(context.Background(), bytes.Fields([]byte(step.line))...); err != nil || v.IsError() {
			t.Fatalf("%s: %s %v", step.line, v.Str, err)
		}
		for n := 1; n > 0; {
			if n, err = sweep.Index(context.Background(), s.Apply, clock.Now(), 100); err != nil {
				t.Fatal(err)
			}
		}
		if n := triggers(); n != step.want {
			t.Errorf("after %s the file has %d triggers, not %d", step.line, n, step.want)
		}
	}
}
