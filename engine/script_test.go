package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// applyOnly hides that a store can hold a transaction open.
type applyOnly struct{ engine.Store }

func TestPipelineUntilError(t *testing.T) {
	for _, c := range []struct{ script, want, after string }{
		{"SET a x;INCR a;SET b 1", `OK;(error) ERR value is not an integer or out of range`, `"x";(nil)`},
		{"SET a x;INCR a;NOPE", `OK;(error) ERR value is not an integer or out of range`, `"x";(nil)`},
		{"SET a x;INCR a;PUBLISH c m;SET b 1", `OK;(error) ERR value is not an integer or out of range`, `"x";(nil)`},
		{"SET a x;GET;SET b 1", `OK;(error) ERR wrong number of arguments for 'get' command`, `"x";(nil)`},
		{"SET a 1;INCR a;SET b 1", `OK;(integer) 2;OK`, `"2";"1"`},
		{"SET a 1;NOPE;SET b 1", `OK;(error) ERR unknown command 'NOPE', with args beginning with: `, `"1";(nil)`},
		{"SET a x;SELECT 1;SET a y;SELECT 0;INCR a;SET b 1", `OK;OK;OK;OK;(error) ERR value is not an integer or out of range`, `"x";(nil)`},
		{"MULTI;SET a x;INCR a;EXEC;SET b 1", "OK;QUEUED;QUEUED;1) OK\n2) (error) ERR value is not an integer or out of range", `"x";(nil)`},
		{"MULTI;SET a x;SET;SET b 1", "OK;QUEUED;(error) ERR wrong number of arguments for 'set' command", `(nil);(nil)`},
	} {
		for name, hide := range map[string]bool{"transactions": false, "batches": true} {
			t.Run(name+"/"+c.script, func(t *testing.T) {
				file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { file.Close() })
				storetest.CheckAtEnd(t, file)
				var s engine.Store = file
				if hide {
					s = applyOnly{file}
				}
				e := engine.New(s)
				if got := show(e.Session().PipelineUntilError(context.Background(), calls(t, c.script))); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				if got := show(e.Session().Pipeline(context.Background(), calls(t, "GET a;GET b"))); got != c.after {
					t.Errorf("afterwards got %s, want %s", got, c.after)
				}
			})
		}
	}
}

// unwritable is a store that cannot write.
type unwritable struct{ *local.Store }

func (unwritable) ReadOnly() string { return "it is a copy" }

// TestChecksOnEveryPath refuses a write to a read-only store in the same way, however it arrives.
func TestChecksOnEveryPath(t *testing.T) {
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s, ctx := engine.New(unwritable{file}).Session(), context.Background()
	write, want := calls(t, "SET a 1"), "(error) READONLY it is a copy"
	if got := show(s.Pipeline(ctx, write)); got != want {
		t.Errorf("Pipeline: %s", got)
	}
	if got := show(s.PipelineUntilError(ctx, write)); got != want {
		t.Errorf("PipelineUntilError: %s", got)
	}
	if s.Plan(write, &engine.PlannedPipeline{}) {
		t.Error("the loop plans it")
	}
	if got := show(s.Pipeline(ctx, calls(t, "EVAL 'return redis.call(\"SET\", \"a\", 1)' 0"))); !strings.Contains(got, "READONLY") {
		t.Errorf("EVAL: %s", got)
	}
}

func calls(t *testing.T, script string) [][][]byte {
	t.Helper()
	var list [][][]byte
	for _, line := range strings.Split(script, ";") {
		words, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, words)
	}
	return list
}

func show(replies []resp.Value, err error) string {
	if err != nil {
		return err.Error()
	}
	var shown []string
	for _, v := range replies {
		shown = append(shown, string(resp.AppendTyped(nil, v, false)))
	}
	return strings.Join(shown, ";")
}
