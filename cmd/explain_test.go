package cmd

import (
	"bytes"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/cmd/internal/script"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// shownOfEach is how many calls of each command TestExplainsEveryCommand explains.
const shownOfEach = 20

// TestExplainsEveryCommand explains calls of every command on a file that is as the transcripts have made it
// before them. No explanation may fail, and no call that succeeds may be shown to end in an error.
func TestExplainsEveryCommand(t *testing.T) {
	t.Parallel()
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	x := &explainer{path: filepath.Join(t.TempDir(), "all.sqlite")}
	file, err := local.Open(x.path, local.Options{SweepEvery: noSweep})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.close(); err != nil {
			t.Error(err)
		}
		file.Close()
	})
	explained := map[string]int{}
	for _, tr := range all {
		last := 0 // the steps that are needed
		steps, chosen := tr.Steps, make([]bool, len(tr.Steps))
		for i, s := range steps {
			if s.Clock != 0 {
				break
			}
			cmd := commands.Called(s.Args)
			if cmd == nil || strings.HasPrefix(s.Want, "(error)") || explained[cmd.Name] >= shownOfEach {
				continue
			}
			explained[cmd.Name]++
			chosen[i], last = true, i+1
		}
		e := engine.New(file)
		sessions := []*engine.Session{e.Session(), e.Session()}
		empty := [][][]byte{{[]byte("FLUSHALL")}, {[]byte("FUNCTION"), []byte("FLUSH")}}
		if _, err := sessions[0].Pipeline(t.Context(), empty); err != nil {
			t.Fatal(err)
		}
		for i, s := range steps[:last] {
			session := sessions[s.Client-1]
			if x.db = session.DB(); chosen[i] {
				explainCall(t, x, s, session.InMulti())
			}
			session.NeverWait()
			if _, err := session.Do(t.Context(), s.Args...); err != nil {
				t.Fatalf("%s.txt:%d: %v", tr.Name, s.Line, err)
			}
		}
	}
	// What no transcript calls is tried with as many args as it needs at least.
	for _, cmd := range commands.All() {
		if explained[cmd.Name] > 0 {
			continue
		}
		args := bytes.Fields([]byte(cmd.Name))
		for len(args) < max(cmd.Arity, -cmd.Arity) {
			args = append(args, []byte("1"))
		}
		if _, _, err := x.explain(t.Context(), args); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestExplainsFlushOfMuch explains what empties a database of more keys than are deleted one by one, on its
// own and in a script, and changes nothing.
func TestExplainsFlushOfMuch(t *testing.T) {
	t.Parallel()
	x := &explainer{path: filepath.Join(t.TempDir(), "much.sqlite")}
	file, err := local.Open(x.path, local.Options{SweepEvery: noSweep})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.close(); err != nil {
			t.Error(err)
		}
		file.Close()
	})
	session := engine.New(file).Session()
	const keys = 1001
	calls := make([][][]byte, keys)
	for i := range calls {
		calls[i] = [][]byte{[]byte("SET"), []byte(strconv.Itoa(i)), []byte("v")}
	}
	if _, err := session.Pipeline(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"FLUSHALL", "FLUSHDB", "FLUSHALL ASYNC", "FLUSHDB SYNC", "SWAPDB 0 1", `EVAL "redis.call('set', 'k', 'v') return redis.call('flushall')" 0`} {
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		explainCall(t, x, corpus.Step{Args: args}, false)
	}
	if n, err := session.Do(t.Context(), []byte("DBSIZE")); err != nil || n.Int != keys {
		t.Errorf("%d keys are left of %d: %v", n.Int, keys, err)
	}
}

// explainCall explains a step, as text and with --dry-run.
func explainCall(t *testing.T, x *explainer, s corpus.Step, queued bool) {
	t.Helper()
	e, bad, err := x.explain(t.Context(), s.Args)
	if err == nil && !bad.IsError() {
		err = e.print(io.Discard)
	}
	if err != nil || bad.IsError() {
		t.Errorf("line %d: %q: %s %.300v", s.Line, s.Args, bad.Str, err)
		return
	}
	if strings.HasPrefix(e.Reply, "(error)") && !queued && !strings.Contains(e.Reply, "NOSCRIPT") {
		t.Errorf("line %d: %q ends in %s", s.Line, s.Args, e.Reply)
	}
	var out bytes.Buffer
	r := &dryRun{out: &out, sql: x, guard: func([][]byte) (resp.Value, bool) { return resp.Value{}, false }}
	if err := r.show(t.Context(), "", s.Args); err != nil || r.failed || out.Len() == 0 {
		t.Errorf("line %d: --dry-run of %q: %v\n%s", s.Line, s.Args, err, out.Bytes())
	}
	refused := script.EndsTransaction(s.Args) || commands.Known(s.Args).Flags&commands.NoMulti != 0
	r.queued = true
	if err := r.show(t.Context(), "", s.Args); err != nil || r.failed != refused {
		t.Errorf("line %d: --dry-run --transaction of %q: refused %t, %v\n%s", s.Line, s.Args, r.failed, err, out.Bytes())
	}
}
