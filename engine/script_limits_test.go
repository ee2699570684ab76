package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
)

// TestUnlimitedScripts runs scripts under a time limit that everything exceeds: they run to their end if the engine
// exempts them, alone and in a transaction.
func TestUnlimitedScripts(t *testing.T) {
	memory, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { memory.Close() })
	stores := map[string]engine.Store{"file": openFile(t, t.TempDir()+"/t.sqlite"), "memory": memory, "batches": openHostile(t)}
	for kind, s := range stores {
		e := storetest.NewEngine(s, storetest.NewClock())
		c := e.Session()
		for _, unlimited := range []bool{true, false} {
			e.SetTimeLimit(1)
			e.SetUnlimitedScripts(unlimited)
			for _, code := range []string{"for i = 1, 1000000 do end return 7", "redis.call('incr', 'k') for i = 1, 1000000 do end return redis.call('get', 'k')"} {
				alone := do(t, c, "EVAL", code, "0")
				do(t, c, "MULTI")
				do(t, c, "EVAL", code, "0")
				do(t, c, "INCR", "n")
				for how, got := range map[string]string{"alone": alone, "in EXEC": do(t, c, "EXEC")} {
					if late := strings.Contains(got, "time limit of 1ns exceeded"); late == unlimited {
						t.Errorf("%s, %s, unlimited %t: %s replies %s", kind, how, unlimited, code, got)
					}
				}
			}
		}
		e.SetTimeLimit(0)
		if got := do(t, c, "MGET", "k", "n"); got != "1) \"2\"\n2) \"2\"" {
			t.Errorf("%s: afterwards %s", kind, got)
		}
	}
}

// TestEndScripts ends scripts that have written, by EndScripts or with their context. They leave no changes.
func TestEndScripts(t *testing.T) {
	s := openFile(t, t.TempDir()+"/t.sqlite")
	for _, test := range []struct {
		by   string
		more []engine.Option
		want string
	}{
		{"EndScripts", nil, "ERR the script was ended because the server stops; it left no changes"},
		{"context", []engine.Option{engine.WithCancelledScripts()}, "context canceled"},
	} {
		steps := make(chan struct{}, 16) // translating and decoding the SET
		e := storetest.NewEngine(s, storetest.NewClock(), append(test.more, engine.WithHook(func() { steps <- struct{}{} }))...)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan string, 1)
		go func() {
			v, err := e.Session().Do(ctx, []byte("EVAL"), []byte("redis.call('set', 'k', 'v') while true do end"), []byte("0"))
			if err != nil {
				ended <- err.Error()
			} else {
				ended <- string(v.Str)
			}
		}()
		<-steps
		<-steps
		if got := do(t, e.Session(), "SCRIPT", "KILL"); !strings.Contains(got, "UNKILLABLE") {
			t.Errorf("%s: SCRIPT KILL replies %s", test.by, got)
		}
		if test.by == "EndScripts" {
			e.EndScripts()
		} else {
			cancel()
		}
		if got := <-ended; got != test.want {
			t.Errorf("%s: the script replies %s", test.by, got)
		}
		cancel()
		if got := do(t, storetest.NewEngine(s, storetest.NewClock()).Session(), "GET", "k"); got != "(nil)" {
			t.Errorf("%s: the script left %s", test.by, got)
		}
	}
}
