package targets

import (
	"context"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestReadOnly refuses what may write, and runs no transaction in which a command was
// refused.
func TestReadOnly(t *testing.T) {
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain := engine.New(file).Session()
	g := &Guard{Session: plain, Refuse: new(ReadOnly).Refuse}
	if Plain(g) != keyspace.Session(plain) {
		t.Error("the session itself is not found")
	}
	ctx := context.Background()
	calls := func(lines ...string) (calls [][][]byte) {
		for _, line := range lines {
			args, err := resp.SplitLine(line)
			if err != nil {
				t.Fatal(err)
			}
			calls = append(calls, args)
		}
		return calls
	}
	said := func(replies []resp.Value) string {
		var lines []string
		for _, v := range replies {
			lines = append(lines, strings.Split(string(resp.AppendTyped(nil, v, true)), " ")...)
		}
		return strings.Join(lines, " ")
	}
	if v, err := plain.Do(ctx, calls("SET k v")[0]...); err != nil || v.IsError() {
		t.Fatal(v, err)
	}
	for _, test := range []struct {
		calls [][][]byte
		want  string
	}{
		{calls("GET k", "SET k w", "GET k"), `"v" (error) READONLY SET may write, and the target is read-only "v"`},
		{calls("SORT k"), "(error) READONLY SORT may write, and the target is read-only; SORT_RO only reads"},
		{calls("NOPE"), "(error) READONLY NOPE is unknown and may write, and the target is read-only"},
		{calls("MULTI", "GET k", "DEL k", "EXEC", "GET k"), `OK QUEUED (error) READONLY DEL may write, and the target is read-only (error) EXECABORT Transaction discarded because of previous errors. "v"`},
		{calls("MULTI", "GET k", "EXEC"), `OK QUEUED 1) "v"`},
	} {
		replies, err := g.Pipeline(ctx, test.calls)
		if got := said(replies); err != nil || got != test.want {
			t.Errorf("%q: %s, %v\nwant %s", test.calls, got, err, test.want)
		}
	}
	replies, err := g.PipelineUntilError(ctx, calls("GET k", "SET k w", "GET k"))
	if err != nil || len(replies) != 2 {
		t.Errorf("%d replies up to an error, %v", len(replies), err)
	}
}
