package server_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/capture"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/lua"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/server"
)

// serveFaulty serves a store whose translations, steps and decoders panic while faulty is set. It counts the logged
// panics.
func serveFaulty(t *testing.T, faulty *atomic.Bool) (s *served, logged *atomic.Int64) {
	return serveFaultyWhen(t, faulty.Load)
}

// serveFaultyWhen is serveFaulty with a condition that each translation, step and decoder checks.
func serveFaultyWhen(t *testing.T, faulty func() bool) (s *served, logged *atomic.Int64) {
	st, err := local.Open(t.TempDir()+"/db.sqlite", local.Options{SweepEvery: -1, IsolateSlowReads: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	logged = &atomic.Int64{}
	c := server.Config{Engine: engine.New(st, engine.WithHook(func() {
		if faulty() {
			panic("injected")
		}
	}))}
	c.Logger = slog.New(slog.NewTextHandler(writerFunc(func(line []byte) (int, error) {
		if text := string(line); strings.Contains(text, "panic=") && strings.Contains(text, "stack=") {
			logged.Add(1)
		}
		return len(line), nil
	}), nil))
	return serve(t, c), logged
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// broken sends a pipeline and reads replies until the server closes the connection.
func (s *served) broken(t *testing.T, calls ...[]string) (replies []string) {
	t.Helper()
	p := s.dial(t)
	defer p.Close()
	var wire []byte
	for _, args := range calls {
		wire = resp.AppendCommand(wire, words(args...)...)
	}
	p.send(string(wire))
	for {
		p.SetReadDeadline(time.Now().Add(time.Minute))
		v, err := p.r.ReadReply()
		if err == io.EOF {
			return replies
		}
		if err != nil {
			t.Fatalf("%v: %v", calls, err)
		}
		replies = append(replies, show(v))
	}
}

// works fails the test unless reads, writes and transactions work over RESP and REST.
func (s *served) works(t *testing.T, after string) {
	t.Helper()
	p := s.dial(t)
	defer p.Close()
	for range 2 { // for each connection of the store
		if got := show(p.do("SET", "works", "1")) + show(p.do("GET", "works")) + show(p.do("EVAL_RO", "return redis.call('get','works')", "0")); got != "OK"+`"1""1"` {
			t.Fatalf("after %s: %s", after, got)
		}
	}
	if status, got := s.get(t, "/get/works"); status != http.StatusOK || got != `{"result":"1"}` {
		t.Fatalf("after %s over REST: %d %s", after, status, got)
	}
}

// TestPanickingCommands makes each command panic in its translation or decoder: alone, in a pipeline, in MULTI and
// over REST.
func TestPanickingCommands(t *testing.T) {
	race.Skip(t)
	var faulty atomic.Bool
	s, logged := serveFaulty(t, &faulty)
	const says = "internal error: injected"
	for _, cmd := range commands.All() {
		args := strings.Fields(cmd.Name + " 1 1 1 1 1 1")
		if cmd.Arity > 0 && cmd.Arity <= len(args) {
			args = args[:cmd.Arity]
		}
		if cmd.Flags&(commands.Blocking|commands.Admin|commands.PubSub|commands.NoMulti) != 0 || cmd.Name == "QUIT" || cmd.Name == "MEMORY STATS" {
			continue // the last one runs others
		}
		faulty.Store(true)
		before := logged.Load()
		end := []string{"QUIT"} // for a command that is not translated
		var panicked int64
		for _, calls := range [][][]string{{args, end}, {args, args, end}, {{"MULTI"}, args, {"EXEC"}, end}} {
			if got := s.broken(t, calls...); strings.Contains(strings.Join(got, " "), says) {
				panicked++
			}
		}
		if _, got := s.request(t, "POST", "/", fmt.Sprintf(`["%s"]`, strings.Join(args, `","`))); strings.Contains(got, says) {
			panicked++
		}
		faulty.Store(false)
		if now := logged.Load() - before; now != panicked {
			t.Errorf("%v: %d replies, and %d lines in the log", args, panicked, now)
		}
	}
	if logged.Load() < 500 {
		t.Errorf("only %d commands panicked", logged.Load())
	}
	s.works(t, "all commands")
}

// TestPanickingFunctions makes each Lua function panic: in scripts that write, in read-only scripts, in MULTI and over
// REST.
func TestPanickingFunctions(t *testing.T) {
	race.Skip(t)
	var armed atomic.Pointer[string]
	none := ""
	armed.Store(&none)
	names := map[string]bool{}
	script.Hook = func(st *lua.State) {
		wrap(st.Globals, "", map[*lua.Table]bool{}, func(name string, f *lua.Function) lua.Value {
			names[name] = true
			return lua.Of(lua.GoFunc(name, func(s *lua.State, args []lua.Value) []lua.Value {
				if *armed.Load() == name {
					panic("injected")
				}
				return s.Invoke(lua.Of(f), args...)
			}))
		})
	}
	defer func() { script.Hook = nil }()
	script.NewMachine()
	var sorted []string
	for name := range names {
		sorted = append(sorted, name)
	}
	sort.Strings(sorted)
	if len(sorted) < 80 {
		t.Fatalf("there are only %d functions", len(sorted))
	}
	var faulty atomic.Bool
	s, logged := serveFaulty(t, &faulty)
	const says = "internal error: injected"
	for _, name := range sorted {
		armed.Store(&name)
		writes := []string{"EVAL", "redis.call('set','written','1') return " + name + "('get','works')", "0"}
		reads := []string{"EVAL_RO", "return " + name + "('get','works')", "0"}
		if name == "redis.call" {
			writes = reads
		}
		before := logged.Load()
		for _, calls := range [][][]string{{writes}, {reads}, {{"MULTI"}, {"SET", "written", "1"}, writes, {"EXEC"}}} {
			got := s.broken(t, calls...)
			if len(got) != len(calls) || !strings.Contains(got[len(got)-1], says) {
				t.Errorf("%s: %q", name, got)
			}
		}
		_, got := s.request(t, "POST", "/", fmt.Sprintf(`["EVAL_RO",%q,"0"]`, reads[1]))
		if !strings.Contains(got, says) {
			t.Errorf("%s over REST: %s", name, got)
		}
		if logged.Load()-before != 4 {
			t.Errorf("%s: %d lines in the log", name, logged.Load()-before)
		}
		armed.Store(&none)
		p := s.dial(t)
		if got := show(p.do("EXISTS", "written")); got != show(resp.Zero) {
			t.Fatalf("%s: the script was not rolled back", name)
		}
		p.Close()
		s.works(t, name)
	}
}

// TestPanickingJobs makes background jobs of the server panic. The server logs each panic with its stack and
// continues.
func TestPanickingJobs(t *testing.T) {
	var log capture.Buffer
	st, err := local.Open(t.TempDir()+"/db.sqlite", local.Options{SweepEvery: -1, IsolateSlowReads: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	e := engine.New(st)
	s := serve(t, server.Config{
		Engine: e, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Save: func(context.Context) error { panic("injected into a save") },
		Dump: func(context.Context, server.DumpOptions) (*server.Dump, error) { panic("injected into a dump") },
	})
	s.broken(t, []string{"SYNC"})
	p := s.dial(t)
	defer p.Close()
	want(t, p.do("BGSAVE"), "Background saving started")
	want(t, p.do("SAVE"), "(error) ERR saving failed: see the server's log")
	for !strings.Contains(show(p.do("INFO", "persistence")), "rdb_bgsave_in_progress:0") {
	}
	var once atomic.Bool
	defer e.Listen(func([]engine.Change) {
		if once.CompareAndSwap(false, true) {
			panic("injected into the loop")
		}
	})()
	s.broken(t, []string{"SET", "k", "v"}, []string{"QUIT"})
	for _, job := range []string{"a save", "a dump", "the loop"} {
		if !strings.Contains(log.String(), "injected into "+job) {
			t.Errorf("the panic of %s is not in the log", job)
		}
	}
	s.works(t, "jobs that panicked")
}

// wrap replaces the functions of a table and of its nested tables.
func wrap(t *lua.Table, prefix string, seen map[*lua.Table]bool, by func(name string, f *lua.Function) lua.Value) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	var keys []string
	for k, _, _ := t.Next(lua.Nil); !k.IsNil(); k, _, _ = t.Next(k) {
		if name, is := k.AsString(); is && !strings.HasPrefix(name, "_") {
			keys = append(keys, name)
		}
	}
	for _, key := range keys {
		v := t.Field(key)
		if f := v.AsFunction(); f != nil {
			t.SetField(key, by(prefix+key, f))
		} else {
			wrap(v.AsTable(), prefix+key+".", seen, by)
		}
	}
}

// TestScriptOverflow passes an offset that does not fit an integer.
func TestScriptOverflow(t *testing.T) {
	s := serve(t, server.Config{})
	p := s.dial(t)
	for _, args := range []string{`"!i4","abcdefgh",1e300`, `"!8i8","abcdefgh",9223372036854775807`, `"i4","abcdefgh",-1e300`, `">!16i16c0","abcdefgh",2^63`} {
		if v := p.do("EVAL", "return struct.unpack("+args+")", "0"); !v.IsError() || strings.Contains(string(v.Str), "internal") {
			t.Errorf("%s: %s", args, show(v))
		}
	}
	s.works(t, "overflows")
}

// TestLargeReplies reads large replies completely. A small reply takes every path: the loop, a goroutine, MULTI, a
// pipeline and REST. Replies over the limit of pushed messages take the paths that differ in their limits: one command
// of each shape, and one reply of 100 MB.
func TestLargeReplies(t *testing.T) {
	race.Skip(t)
	s := serve(t, server.Config{})
	filler := s.dial(t)
	const mb = 1 << 20
	value := strings.Repeat("x", mb)
	fill := func(list, single int) {
		filler.do("FLUSHALL")
		element := strings.Repeat(value, 4)
		for i := 0; i < list; i += 4 {
			filler.do("RPUSH", "list", fmt.Sprint(i)+element)
		}
		whole := strings.Repeat(value, single)
		filler.do("SET", "string", whole)
		filler.do("JSON.SET", "json", "$", `{"a":"`+whole+`"}`)
		for _, args := range [][]string{{"HSET", "hash", "f", whole}, {"SADD", "set", whole}, {"ZADD", "zset", "1", whole}} {
			filler.do(args...)
		}
	}
	read := func(size int, args []string, before ...[]string) {
		p := s.dial(t)
		defer p.Close()
		calls := append(append([][]string{}, before...), args)
		replies := len(calls)
		if len(before) == 1 && before[0][0] == "MULTI" {
			calls, replies = append(calls, []string{"EXEC"}), 3
		}
		var wire []byte
		for _, call := range append(calls, []string{"PING"}) {
			wire = resp.AppendCommand(wire, words(call...)...)
		}
		p.send(string(wire))
		var v resp.Value
		for range replies {
			v = p.reply()
		}
		if n := weightOf(v); n < size*mb {
			t.Errorf("%v after %v: %d bytes of %d MB", args, before, n, size)
		}
		if got := show(p.reply()); got != "PONG" {
			t.Errorf("%v after %v: then %s", args, before, got)
		}
	}
	overREST := func(size int, args []string) {
		if _, got := s.request(t, "POST", "/", `["`+strings.Join(args, `","`)+`"]`); len(got) < size*mb || !strings.HasSuffix(got, "}") {
			t.Errorf("%v over REST: %d bytes of %d MB", args, len(got), size)
		}
	}
	lrange := []string{"LRANGE", "list", "0", "-1"}
	ways := [][][]string{nil, {{"CLIENT", "TRACKING", "OFF"}}, {{"MULTI"}}, {{"PING"}, {"PING"}}}

	fill(1, 1)
	for _, args := range [][]string{
		lrange, {"GET", "string"}, {"HGETALL", "hash"}, {"JSON.GET", "json"}, {"JSON.GET", "json", "INDENT", " ", "$"}, {"SMEMBERS", "set"},
		{"ZRANGE", "zset", "0", "-1", "WITHSCORES"}, {"GETRANGE", "string", "0", "-1"}, {"MGET", "string"}, {"HVALS", "hash"},
		{"SORT", "list", "ALPHA"}, {"EVAL", "return redis.call('get','string')", "0"}, {"DUMP", "string"},
	} {
		for _, before := range ways {
			read(1, args, before...)
		}
		overREST(1, args)
	}
	fill(36, 33)
	for _, before := range ways {
		read(33, lrange, before...)
	}
	overREST(33, lrange)
	for _, args := range [][]string{{"GET", "string"}, {"HGETALL", "hash"}, {"JSON.GET", "json"}, {"EVAL", "return redis.call('get','string')", "0"}} {
		read(33, args)
	}
	fill(100, 1)
	read(100, lrange)
}

// weightOf returns the number of bytes in the strings of a reply.
func weightOf(v resp.Value) int {
	n := len(v.Str)
	for _, e := range v.Elems {
		n += weightOf(e)
	}
	return n
}

// TestPanickingSteps makes each step of a call panic, whose earlier steps have run: the call changes nothing.
func TestPanickingSteps(t *testing.T) {
	race.Skip(t)
	var left atomic.Int64 // steps before the one that panics
	var faulty atomic.Bool
	s, logged := serveFaultyWhen(t, func() bool { return faulty.Load() && left.Add(-1) < 0 })
	p := s.dial(t)
	defer p.Close()
	for _, line := range []string{
		"BF.ADD bf a", "CF.ADD cf a", "CMS.INITBYDIM cms 10 2", "CMS.INCRBY cms a 1", "TOPK.RESERVE topk 3", "TOPK.ADD topk a", "TDIGEST.CREATE td", "TDIGEST.ADD td 1 2 3",
		"TS.CREATE ts LABELS a b", "TS.CREATE avg", "TS.CREATERULE ts avg AGGREGATION avg 10", "TS.MADD ts 1 1 ts 25 1", "RPUSH list 1 2", "SET w_1 5",
	} {
		if got := show(p.do(strings.Fields(line)...)); strings.Contains(got, "ERR") {
			t.Fatalf("%s: %s", line, got)
		}
	}
	state := func() (all string) {
		for _, line := range []string{"DBSIZE", "BF.INFO bf", "CF.INFO cf", "CMS.INFO cms", "TOPK.LIST topk WITHCOUNT", "TDIGEST.INFO td", "TS.RANGE ts - +", "TS.RANGE avg - +", "LRANGE list 0 -1"} {
			all += show(p.do(strings.Fields(line)...)) + "\n"
		}
		return all
	}
	before := state()
	for _, line := range []string{
		"BF.MADD bf b c", "BF.INSERT bf2 ITEMS a", "BF.SCANDUMP bf 1", "CF.INSERT cf ITEMS b c", "CF.COUNT cf a", "CMS.MERGE cms 2 cms cms", "CMS.QUERY cms a", "TOPK.INCRBY topk b 3",
		"TOPK.LIST topk", "TDIGEST.MERGE td 2 td td", "TDIGEST.QUANTILE td 0.5", "TDIGEST.ADD td 4", "TS.MADD ts 3 3 ts 99 1", "TS.MRANGE - + FILTER a=b", "TS.RANGE ts - + AGGREGATION twa 5 EMPTY",
		"TS.GET avg LATEST", "TS.DEL ts 1 5", "TS.INFO ts DEBUG", "TS.MGET FILTER a=b", "SORT list BY w_* GET w_*", "SORT list BY w_* STORE sorted", "DUMP ts", "DUMP td",
	} {
		for step := int64(0); ; step++ {
			left.Store(step)
			faulty.Store(true)
			was := logged.Load()
			got := strings.Join(s.broken(t, strings.Fields(line), []string{"QUIT"}), " ")
			faulty.Store(false)
			if !strings.Contains(got, "internal error: injected") {
				if step < 2 {
					t.Errorf("%s has %d steps and replies %s", line, step, got)
				}
				break
			}
			if logged.Load() != was+1 {
				t.Errorf("%s, step %d: %d lines in the log", line, step, logged.Load()-was)
			}
			if after := state(); after != before {
				t.Fatalf("%s, step %d, has changed\n%s\nto\n%s", line, step, before, after)
			}
		}
		before = state()
	}
	s.works(t, "all steps")
}
