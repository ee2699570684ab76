package engine_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/lua"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/store"
)

// TestMemoryIsCharged refuses replies that are many times as large as their rows before they are made.
func TestMemoryIsCharged(t *testing.T) {
	race.Skip(t)
	st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	never := func(time.Duration) func() bool { return func() bool { return false } }
	s := engine.New(st, engine.WithDeadline(never)).Session() // a library may load slowly
	s.Bound(store.NewBudget(store.NewPool(64<<20), 64<<20, 0))
	do := func(args ...string) string {
		words := make([][]byte, len(args))
		for i, arg := range args {
			words[i] = []byte(arg)
		}
		v, err := s.Do(context.Background(), words...)
		if err != nil {
			t.Fatal(err)
		}
		s.Release()
		return string(v.Str)
	}
	do("JSON.SET", "k", "$", strings.Repeat("[", 100)+strings.Repeat("0,", 20_000)+"0"+strings.Repeat("]", 100))
	for _, args := range [][]string{
		{"JSON.GET", "k", "INDENT", strings.Repeat(" ", 10_000)},
		{"JSON.GET", "k", "NEWLINE", strings.Repeat("\n", 10_000)},
		{"EVAL", "local s = string.rep('x', 1048576) local t = {} for i = 1, 3000 do t[i] = s end return t", "0"},
		{"JSON.SET", "j", "$", "[" + strings.Repeat("0,", 1<<20) + "0]"},
	} {
		if got := do(args...); got != string(store.RequestTooLarge.Str) {
			t.Errorf("%.40q: %q", args, got)
		}
	}
	numbers := "[" + strings.Repeat("1,", 5000) + "1]"
	do("JSON.SET", "arrays", "$", "["+strings.Repeat("[],", 5000)+"[]]")
	do("JSON.SET", "objects", "$", "["+strings.Repeat(`{"a":1},`, 5000)+`{"a":1}]`)
	do("JSON.SET", "texts", "$", "["+strings.Repeat(`"x",`, 5000)+`"x"]`)
	do("JSON.SET", "text", "$", `{"s":"`+strings.Repeat("x", 1<<20)+`"}`)
	for _, args := range [][]string{
		{"JSON.SET", "objects", "$..a", numbers},
		{"JSON.MERGE", "objects", "$.*", `{"b":` + numbers + "}"},
		{"JSON.ARRAPPEND", "arrays", "$.*", numbers},
		{"JSON.ARRINSERT", "arrays", "$.*", "0", numbers},
		{"JSON.STRAPPEND", "texts", "$.*", `"` + strings.Repeat("x", 1<<20) + `"`},
		{"JSON.NUMINCRBY", "objects", "$[" + strings.Repeat("*,", 100) + "*].a", "1"},
		{"JSON.OBJKEYS", "objects", "$[" + strings.Repeat("*,", 200) + "*]"},
		{"JSON.GET", "text", "$.concat($.s" + strings.Repeat(",$.s", 200) + ")"},
	} {
		before := allocated()
		if got := do(args...); got != string(store.RequestTooLarge.Str) {
			t.Errorf("%.100q: %.200q", args, got)
		}
		if took := (allocated() - before) >> 20; took > 600 {
			t.Errorf("%.100q allocates %d MB", args, took)
		}
	}
	const many = "local s, t = string.rep('x', 1048576), {} for i = 1, 2000 do t[i] = s end "
	for _, source := range []string{
		"return #table.concat(t)",
		"return #cjson.encode(t)",
		"return #cmsgpack.pack(t)",
		"return #struct.pack(string.rep('s', 2000), unpack(t))",
		"return #string.format(string.rep('%s', 2000), unpack(t))",
		"return #string.gsub(s, '.*', string.rep('%0', 2000))",
		"return #string.gsub(string.rep('x', 2000), 'x', function() return s end)",
		"local i = 0 return load(function() i = i + 1 return t[i] end)",
		"return redis.call('MGET', unpack(t))",
		"for i = 1, 2000 do t[i] = {ok = s} end return t",
		"for i = 1, 2000 do t[i] = {err = s} end return t",
		"for i = 1, 2000 do t[i] = {big_number = s} end return t",
		"for i = 1, 2000 do t[i] = {verbatim_string = {format = 'txt', string = s}} end return t",
		"error(string.rep(s, 25))",
	} {
		before := allocated()
		if got := do("EVAL", many+source, "0"); got != string(store.RequestTooLarge.Str) && !strings.HasPrefix(got, "ERR not enough memory") {
			t.Errorf("%s: %.200q", source, got)
		}
		if took := (allocated() - before) >> 20; took > 600 {
			t.Errorf("%s allocates %d MB", source, took)
		}
	}
	long := strings.Repeat("f{} ", 1<<20)
	const library = "#!lua name=large\nlocal function f() end "
	for _, args := range [][]string{
		{"EVAL", long, "0"},
		{"EVAL_RO", long, "0"},
		{"SCRIPT", "LOAD", long},
		{"FUNCTION", "LOAD", library + long},
		{"FUNCTION", "LOAD", library + "local t = {} for i = 1, 1e7 do t[i] = {} end"},
		{"EVAL", "return loadstring(string.rep('f{} ', 1048576))", "0"},
		{"EVAL", "local t = {} for i = 1, 300 do t[i] = loadstring('return function() ' .. string.rep('f{} ', 1024) .. 'end')() end", "0"},
	} {
		before := allocated()
		if got := do(args...); got != string(store.RequestTooLarge.Str) && !strings.HasPrefix(got, "ERR not enough memory") {
			t.Errorf("%.80q: %.200q", args, got)
		}
		if took := (allocated() - before) >> 20; took > 200 {
			t.Errorf("%.80q allocates %d MB", args, took)
		}
	}
	if got := do("PING"); got == string(store.RequestTooLarge.Str) {
		t.Error("the memory was not given back")
	}
}

// TestConvertedReplies counts the values that a reply becomes while they are made: a script cannot hold more than its
// own limit.
func TestConvertedReplies(t *testing.T) {
	race.Skip(t)
	st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s := engine.New(st).Session()
	const source = `redis.call('SET', 'k', string.rep('x', 4194304))
		local keys = {} for i = 1, 80 do keys[i] = 'k' end
		return #redis.call('MGET', unpack(keys))`
	v, err := s.Do(context.Background(), []byte("EVAL"), []byte(source), []byte("0"))
	if err != nil || !strings.HasPrefix(string(v.Str), "ERR not enough memory") {
		t.Errorf("the script replies %s, %v", v.Str, err)
	}
}

// TestExtremeArguments calls each Lua function with numbers beyond every range, in each place of up to four arguments:
// none panics, runs for long, or allocates far beyond the limit.
func TestExtremeArguments(t *testing.T) {
	race.Skip(t)
	var names []string
	script.Hook = func(st *lua.State) {
		names = functionNames(st.Globals, "", map[*lua.Table]bool{})
	}
	defer func() { script.Hook = nil }()
	script.NewMachine()
	if len(names) < 80 {
		t.Fatalf("there are only %d functions", len(names))
	}
	st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	const limit = 64 << 20
	e := engine.New(st)
	e.SetTimeLimit(10 * time.Second)
	for _, name := range names {
		s := e.Session()
		s.Bound(store.NewBudget(store.NewPool(limit), limit, 0))
		for _, first := range []string{"'abc'", "'!i4'", "'%d'", "{1,2,3}", "type", "e"} {
			if name == "table.insert" && first == "{1,2,3}" {
				continue // moves as many elements as the number says, as in Redis: its time is limited
			}
			before := allocated()
			v, err := s.Do(context.Background(), []byte("EVAL"), []byte(`
				local f, n = `+name+`, 0
				for _, e in ipairs({1e300, -1e300, 2^53, -2^53, 2^31, -2^31, 2^63, -2^63, 0/0, 1/0, -1/0}) do
					local a = `+first+`
					for _, args in ipairs({{a, e}, {a, e, e}, {a, 1, e}, {a, e, 1}, {a, a, e}, {a, a, e, e}, {a, a, a, e}, {a, '', e, e}, {a, -e, e}, {a, 1, e, e}}) do
						pcall(f, unpack(args))
						n = n + 1
					end
				end
				return n`), []byte("0"))
			switch took := allocated() - before; {
			case err != nil || s.Broken():
				t.Fatalf("%s(%s, …): %v %s", name, first, err, v.Str)
			case v.IsError() && name != "error" && string(v.Str) != string(store.RequestTooLarge.Str) && !strings.Contains(string(v.Str), "memory"):
				t.Errorf("%s(%s, …): %s", name, first, v.Str)
			case took > 8*limit:
				t.Errorf("%s(%s, …) allocates %d MB", name, first, took>>20)
			}
			s.Release()
		}
	}
}

// allocated is how many bytes the process has allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// functionNames lists the functions of a table and of the tables in it.
func functionNames(t *lua.Table, prefix string, seen map[*lua.Table]bool) (names []string) {
	if seen[t] {
		return nil
	}
	seen[t] = true
	for k, v, _ := t.Next(lua.Nil); !k.IsNil(); k, v, _ = t.Next(k) {
		name, is := k.AsString()
		switch {
		case !is || strings.HasPrefix(name, "_"):
		case v.AsFunction() != nil:
			names = append(names, prefix+name)
		case v.AsTable() != nil:
			names = append(names, functionNames(v.AsTable(), prefix+name+".", seen)...)
		}
	}
	return names
}
