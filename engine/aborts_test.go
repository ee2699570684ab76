package engine_test

import (
	"context"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestAborts asks before each EXEC whether it will run.
func TestAborts(t *testing.T) {
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	e := engine.New(file)
	s, other := e.Session(), e.Session()
	do := func(s *engine.Session, line string) resp.Value {
		t.Helper()
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Do(context.Background(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		before, queued, by string // by another session
		want               bool
	}{
		{"WATCH k missing", "INCR k", "PING", false},
		{"WATCH k", "INCR k", "SET k 1", true},
		{"WATCH missing", "INCR k", "SET missing 1", true},
		{"WATCH k", "INCR k", "SET free 1", false},
		{"PING", "NOPE", "PING", true},
		{"PING", "GET", "PING", true},
		{"PING", "MULTI", "PING", false}, // refused, and does not abort
		{"PING", "WATCH k", "SET k 3", false},
	} {
		do(s, c.before)
		do(s, "MULTI")
		do(s, c.queued)
		do(other, c.by)
		got, err := s.Aborts(context.Background())
		if err != nil || got != c.want {
			t.Errorf("%s, %s, %s by another: aborts %v, %v", c.before, c.queued, c.by, got, err)
		}
		v := do(s, "EXEC")
		if ran := v.Kind == resp.Array && !v.IsNull(); ran == c.want {
			t.Errorf("%s, %s, %s by another: EXEC answers %v", c.before, c.queued, c.by, v)
		}
		if got, err := s.Aborts(context.Background()); got || err != nil {
			t.Errorf("outside of MULTI: %v, %v", got, err)
		}
	}
}
