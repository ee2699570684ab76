package engine_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

const library = "#!lua name=lib\n"

// A running function is described, differs from a script, and can be killed unless it has written.
func TestFunctionKill(t *testing.T) {
	e := scriptEngine(t)
	e.SetBusyThreshold(time.Nanosecond)
	s, other := e.Session(), e.Session()
	want := func(reply string, command ...string) {
		t.Helper()
		if got := do(t, other, command...); !strings.Contains(got, reply) {
			t.Errorf("%v answers %s, not %s", command, got, reply)
		}
	}
	if got := do(t, s, "FUNCTION", "LOAD", library+`redis.register_function("loop", function() while true do end end)
redis.register_function("wloop", function(keys) redis.call("set", keys[1], "v") while true do end end)`); got != `"lib"` {
		t.Fatal(got)
	}
	ended := make(chan string)
	run := func(busy string, call ...string) {
		t.Helper()
		start := func() { go func() { ended <- do(t, s, call...) }() }
		start()
		for !strings.Contains(do(t, other, "PING"), "BUSY Redis is busy running a script. You can only call "+busy+" KILL or SHUTDOWN NOSAVE.") {
			select {
			case <-ended: // it took too long before another session had its turn
				start()
			default:
			}
		}
	}
	run("FUNCTION", "FCALL", "LOOP", "1", "k", "arg")
	want("BUSY Redis is busy running a script. You can only call FUNCTION KILL", "SCRIPT", "KILL")
	want("BUSY Redis is busy running a script. You can only call FUNCTION KILL", "FUNCTION", "LIST")
	want("1) \"name\"\n   2) \"loop\"\n   3) \"command\"\n   4) 1) \"FCALL\"\n      2) \"LOOP\"\n      3) \"1\"\n      4) \"k\"\n      5) \"arg\"\n   5) \"duration_ms\"\n   6) (integer) ", "FUNCTION", "STATS")
	want("2) (integer) 1\n      3) \"functions_count\"\n      4) (integer) 2", "FUNCTION", "STATS")
	want("OK", "FUNCTION", "KILL")
	if got := <-ended; got != "(error) ERR Script killed by user with SCRIPT KILL... script: loop, on @user_function:2." {
		t.Errorf("the function answers %s", got)
	}
	run("SCRIPT", "EVAL", "while true do end", "0")
	want("BUSY Redis is busy running a script. You can only call SCRIPT KILL", "FUNCTION", "KILL")
	want("BUSY Redis is busy running a script. You can only call SCRIPT KILL", "FUNCTION", "STATS")
	want("OK", "SCRIPT", "KILL")
	<-ended
	e.SetTimeLimit(500 * time.Millisecond)
	for try := 1; ; try++ {
		run("FUNCTION", "FCALL", "wloop", "1", "k")
		got := do(t, other, "FUNCTION", "KILL")
		killed := !strings.Contains(got, "UNKILLABLE")
		if <-ended; !killed {
			break
		}
		if try == 1000 { // sooner it may not have written yet
			t.Fatalf("a function that has written was killed: %s", got)
		}
	}
	want("(nil)", "GET", "k")
	want("NOTBUSY", "FUNCTION", "KILL")
}

// TestFunctionLoadRunsOnce lets a library run into its time limit, alone and before another write of a pipeline. The
// library runs once, before its transaction: other clients may write meanwhile.
func TestFunctionLoadRunsOnce(t *testing.T) {
	for kind, s := range map[string]engine.Store{"file": openFile(t, t.TempDir()+"/t.sqlite"), "batches": openHostile(t)} {
		var began int
		e := storetest.NewEngine(s, storetest.NewClock(), engine.WithDeadline(func(d time.Duration) func() bool {
			began++
			return func() bool { return true }
		}))
		load := [][]byte{[]byte("FUNCTION"), []byte("LOAD"), []byte(library + "while true do end")}
		for _, calls := range [][][][]byte{{load}, {load, {[]byte("SET"), []byte("k"), []byte("v")}}} {
			began = 0
			replies, err := e.Session().Pipeline(context.Background(), calls)
			if err != nil || !strings.Contains(string(replies[0].Str), "FUNCTION LOAD timeout") {
				t.Fatalf("%s: %q, %v", kind, replies[0].Str, err)
			}
			if began != 1 {
				t.Errorf("%s, %d calls: the library ran %d times", kind, len(calls), began)
			}
		}
	}
}

// TestBusy refuses other clients while a script runs for long, whether it reads or may write. That includes
// clients whose commands already waited for it.
func TestBusy(t *testing.T) {
	for _, loop := range []string{"while true do end", "while true do end redis.call('set', 'k', 'v')"} {
		e := storetest.NewEngine(openFile(t, t.TempDir()+"/t.sqlite"), storetest.NewClock())
		s := e.Session()
		if got := do(t, s, "FUNCTION", "LOAD", library+"redis.register_function('loop', function() "+loop+" end)"); got != `"lib"` {
			t.Fatal(got)
		}
		for _, exec := range []bool{false, true} { // the script alone, and in a transaction
			e.SetBusyThreshold(0)
			if exec {
				do(t, s, "MULTI")
				do(t, s, "FCALL", "loop", "0")
			}
			ended := make(chan string)
			go func() {
				if exec {
					ended <- do(t, s, "EXEC")
				} else {
					ended <- do(t, s, "FCALL", "loop", "0")
				}
			}()
			control := e.Session()
			for !strings.Contains(do(t, control, "FUNCTION", "STATS"), `"duration_ms"`) {
			}
			const busy = "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."
			inMulti := e.Session()
			do(t, inMulti, "MULTI")
			do(t, inMulti, "SET", "k", "v")
			wait := map[asked]string{}
			if strings.Contains(loop, "set") { // only a writer keeps others waiting
				for _, call := range []string{"SET a 1", "INCRBYFLOAT a 1", "EVAL \"return redis.call('incr','a')\" 0", "BLPOP q 0", "FCALL loop 0"} {
					wait[ask(t, e.Session(), call)] = "(error) " + busy
				}
				wait[ask(t, inMulti, "EXEC")] = "(error) EXECABORT Transaction discarded because of: " + busy
			}
			e.SetBusyThreshold(50 * time.Millisecond)
			for reply, want := range wait {
				reply.want(t, want)
			}
			for do(t, control, "PING") != "(error) "+busy {
			}
			for _, call := range []string{"GET a", "SET a 1", "EVAL \"return 1\" 0", "CONFIG GET x"} {
				ask(t, e.Session(), call).want(t, "(error) "+busy)
			}
			ask(t, e.Session(), "SCRIPT KILL").want(t, "(error) "+busy)
			ask(t, control, "MULTI").want(t, "OK")
			ask(t, control, "GET a").want(t, "(error) "+busy)
			ask(t, control, "EXEC").want(t, "(error) EXECABORT Transaction discarded because of: "+busy)
			ask(t, control, "FUNCTION KILL").want(t, "OK")
			if got := <-ended; !strings.Contains(got, "Script killed by user") {
				t.Errorf("%s: %s", loop, got)
			}
			ask(t, control, "GET a").want(t, "(nil)")
		}
	}
}

// TestFunctionLoadTime ends the loading of a library after half a second, and lets other clients write until
// then.
func TestFunctionLoadTime(t *testing.T) {
	var writes atomic.Int64
	deadline := func(d time.Duration) (late func() bool) {
		if d != 500*time.Millisecond {
			t.Errorf("the library may run for %v", d)
		}
		return func() bool { return writes.Load() >= 5 }
	}
	e := storetest.NewEngine(openFile(t, t.TempDir()+"/t.sqlite"), storetest.NewClock(), engine.WithDeadline(deadline))
	const load = library + "while true do end"
	if e.Session().Plan([][][]byte{{[]byte("FUNCTION"), []byte("LOAD"), []byte(load)}}, &engine.PlannedPipeline{}) {
		t.Error("the event loop would load the library")
	}
	ended := make(chan string)
	go func() { ended <- do(t, e.Session(), "FUNCTION", "LOAD", load) }()
	for range 5 {
		do(t, e.Session(), "INCR", "n")
		writes.Add(1)
	}
	if got := <-ended; got != "(error) ERR Error registering functions: ERR FUNCTION LOAD timeout" {
		t.Errorf("it replies %s", got)
	}
}

// TestFunctionLoadSlowly loads libraries while the limit has always passed. As in Redis, which looks at the clock after
// 100,000 instructions, the deepest recursion ends with its own error, and large strings end in time.
func TestFunctionLoadSlowly(t *testing.T) {
	late := func(time.Duration) func() bool { return func() bool { return true } }
	e := storetest.NewEngine(openFile(t, t.TempDir()+"/t.sqlite"), storetest.NewClock(), engine.WithDeadline(late))
	for body, want := range map[string]string{
		"local function f() return 1 + f() end f()":                "(error) ERR Error registering functions: ERR user_function:2: stack overflow",
		"local s = ('x'):rep(5e6) s = s .. 'x' s = ('x'):rep(5e6)": "(error) ERR Error registering functions: ERR FUNCTION LOAD timeout",
	} {
		if got := do(t, e.Session(), "FUNCTION", "LOAD", "#!lua name=slow\n"+body); got != want {
			t.Errorf("%s: %s", body, got)
		}
	}
}

func openFile(t *testing.T, path string) *local.Store {
	t.Helper()
	s, err := local.Open(path, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// No process calls a function of a library that another process has replaced.
func TestFunctionOfAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	clock := storetest.NewClock()
	one := storetest.NewEngine(openFile(t, path), clock).Session()
	two := storetest.NewEngine(openFile(t, path), clock).Session()
	three := storetest.NewEngine(applyOnly{openFile(t, path)}, clock).Session()
	all := []*engine.Session{one, two, three}
	for i, body := range []string{
		`redis.register_function("f", function() return "first" end)`,
		`redis.register_function{function_name="f", callback=function() return "second" end, flags={"no-writes"}}`,
		`redis.register_function("f", function(keys) redis.call("set", keys[1], "v") return "third" end)`,
	} {
		if got := do(t, all[i], "FUNCTION", "LOAD", "REPLACE", library+body); got != `"lib"` {
			t.Fatal(got)
		}
		for n, s := range all {
			for range 2 {
				if got, want := do(t, s, "FCALL", "f", "1", "k"), []string{`"first"`, `"second"`, `"third"`}[i]; got != want {
					t.Errorf("process %d answers %s, not %s", n, got, want)
				}
			}
		}
	}
	if got := do(t, two, "FUNCTION", "DELETE", "lib"); got != "OK" {
		t.Error(got)
	}
	for _, s := range all {
		if got := do(t, s, "FCALL", "f", "1", "k"); got != "(error) ERR Function not found" {
			t.Error(got)
		}
	}
}

// A script that only reads runs while another client writes; one that turns out to write runs again, once.
func TestReadsBesideTheWriter(t *testing.T) {
	file := openFile(t, filepath.Join(t.TempDir(), "file"))
	s := engine.New(file).Session()
	if got := do(t, s, "FUNCTION", "LOAD", library+`local function get(keys) return redis.call("get", keys[1]) end
redis.register_function("get", get)
redis.register_function{function_name="ro", callback=get, flags={"no-writes"}}`); got != `"lib"` {
		t.Fatal(got)
	}
	do(t, s, "SET", "k", "v")
	writing, release, ended := make(chan bool), make(chan bool), make(chan error)
	go func() {
		ended <- file.Transact(context.Background(), false, func(func(store.Batch) (store.Result, error)) error {
			writing <- true
			<-release
			return nil
		})
	}()
	<-writing
	for _, call := range [][]string{
		{"EVAL", `return redis.call("get", KEYS[1])`, "1", "k"},
		{"EVAL", "#!lua flags=no-writes\nlocal set return redis.call('get', KEYS[1])", "1", "k"},
		{"EVAL_RO", `local set return redis.call("get", KEYS[1])`, "1", "k"},
		{"FCALL", "get", "1", "k"}, {"FCALL", "ro", "1", "k"}, {"FCALL_RO", "ro", "1", "k"},
	} {
		if got := do(t, s, call...); got != `"v"` {
			t.Errorf("%v answers %s", call, got)
		}
	}
	release <- true
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"(integer) 1", "(integer) 2"} {
		if got := do(t, s, "EVAL", `redis.call("get", KEYS[1]) return redis.call(ARGV[1], KEYS[1])`, "1", "n", "incr"); got != want {
			t.Errorf("call %d answers %s", i, got)
		}
	}
	for _, line := range []string{"MULTI", `EVAL "return redis.call(ARGV[1],KEYS[1])" 1 n incr`, "GET n"} {
		if _, err := s.Pipeline(context.Background(), calls(t, line)); err != nil {
			t.Fatal(err)
		}
	}
	if got := do(t, s, "EXEC"); got != "1) (integer) 3\n2) \"3\"" {
		t.Errorf("EXEC answers %s", got)
	}
}
