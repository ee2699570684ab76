package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
)

func scriptEngine(t *testing.T) *engine.Engine {
	t.Helper()
	s, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return storetest.NewEngine(s, storetest.NewClock())
}

// do runs one command and shows its reply.
func do(t *testing.T, s *engine.Session, args ...string) string {
	t.Helper()
	words := make([][]byte, len(args))
	for i, arg := range args {
		words[i] = []byte(arg)
	}
	v, err := s.Do(context.Background(), words...)
	if err != nil {
		return "failed: " + err.Error()
	}
	return corpus.Show(v)
}

// The script cache is limited by length, too.
func TestLongScripts(t *testing.T) {
	e := scriptEngine(t)
	s := e.Session()
	for _, name := range []string{"a", "b", "c", "d"} {
		if got := do(t, s, "SCRIPT", "LOAD", "--"+strings.Repeat(name, 7<<20)); len(got) != 42 {
			t.Fatalf("SCRIPT LOAD answers %s", got)
		}
	}
	if n := e.CachedScripts(); n != 3 {
		t.Errorf("%d scripts of 7 MB are kept", n)
	}
	if got := do(t, s, "SCRIPT", "FLUSH"); got != "OK" || e.CachedScripts() != 0 {
		t.Errorf("SCRIPT FLUSH answers %s", got)
	}
}

// An endless script can be killed, and other clients get BUSY until then; one that has written cannot be
// killed.
func TestScriptKill(t *testing.T) {
	e := scriptEngine(t)
	e.SetBusyThreshold(time.Nanosecond)
	s, other := e.Session(), e.Session()
	ended := make(chan string)
	run := func(script string) {
		start := func() { go func() { ended <- do(t, s, "EVAL", script, "0") }() }
		start()
		for !strings.Contains(do(t, other, "PING"), "BUSY Redis is busy running a script") {
			select {
			case <-ended: // it took too long before another session had its turn
				start()
			default:
			}
		}
	}
	run("\nwhile true do pcall(error) end")
	if other.Plan([][][]byte{{[]byte("GET"), []byte("k")}}, &engine.PlannedPipeline{}) {
		t.Error("the server's loop runs a read instead of replying BUSY")
	}
	if got := do(t, other, "SCRIPT", "KILL"); got != "OK" {
		t.Errorf("SCRIPT KILL answers %s", got)
	}
	if got := <-ended; !strings.Contains(got, "ERR Script killed by user with SCRIPT KILL... script: ") || !strings.Contains(got, "on @user_script:2.") {
		t.Errorf("the script answers %s", got)
	}
	e.SetTimeLimit(300 * time.Millisecond)
	for try := 1; ; try++ {
		run("redis.call('set', 'k', 'v') while true do end")
		got := do(t, other, "SCRIPT", "KILL")
		if strings.Contains(got, "UNKILLABLE") {
			break
		}
		if <-ended; try == 1000 { // sooner it may not have written yet
			t.Fatalf("a script that has written was killed: %s", got)
		}
	}
	if got := <-ended; !strings.Contains(got, "time limit of 300ms exceeded") {
		t.Errorf("the script answers %s", got)
	}
	if got := do(t, other, "GET", "k"); got != "(nil)" {
		t.Errorf("a script that took too long left %s", got)
	}
}

// Under Upstash's key locking a script may use the keys that it was given.
func TestKeyLocking(t *testing.T) {
	s := scriptEngine(t).Session()
	const script = "#!lua flags=allow-key-locking\nreturn redis.call('set', ARGV[1], 'v')"
	if got := do(t, s, "EVAL", script, "1", "k", "k"); got != "OK" {
		t.Errorf("a declared key: %s", got)
	}
	want := "ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: other"
	if got := do(t, s, "EVAL", script, "1", "k", "other"); !strings.Contains(got, want) {
		t.Errorf("another key: %s", got)
	}
	for _, all := range []string{"flushall", "FLUSHDB", "swapdb"} {
		call := "#!lua flags=allow-key-locking\nreturn redis.call('" + all + "', unpack(ARGV))"
		args := []string{"EVAL", call, "0"}
		if all == "swapdb" {
			args = append(args, "0", "1")
		}
		want := "ERR " + strings.ToUpper(all) + " is not allowed in Lua scripts when 'allow-key-locking' flag is set"
		if got := do(t, s, args...); !strings.Contains(got, want) {
			t.Errorf("%s: %s", all, got)
		}
	}
	if got := do(t, s, "GET", "k"); got != `"v"` {
		t.Errorf("afterwards k is %s", got)
	}
}

func BenchmarkEval(b *testing.B) {
	s, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	session := engine.New(s).Session()
	for name, args := range map[string][]string{
		"return 1": {"EVAL", "return 1", "0"},
		"rate limit": {"EVAL", `local n = redis.call('INCR', KEYS[1])
			if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
			if n > tonumber(ARGV[1]) then return {0, redis.call('PTTL', KEYS[1])} end
			return {1, tonumber(ARGV[1]) - n}`, "1", "rate:user", "1000000", "60000"},
	} {
		words := make([][]byte, len(args))
		for i, arg := range args {
			words[i] = []byte(arg)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if v, err := session.Do(context.Background(), words...); err != nil || v.IsError() {
					b.Fatal(err, string(v.Str))
				}
			}
		})
	}
}
