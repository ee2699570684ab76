package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/store"
)

// debugged runs a script under the debugger, and returns the reply and what the debugger printed.
func debugged(t *testing.T, s *engine.Session, code string, commands ...string) (v resp.Value, printed string) {
	t.Helper()
	d := &script.Debugger{}
	d.Ask = func(lines []string) (words []string, ok bool) {
		printed += strings.Join(lines, "\n") + "\n"
		if len(commands) == 0 {
			return []string{"continue"}, true
		}
		words, commands = strings.Fields(commands[0]), commands[1:]
		return words, true
	}
	v, err := s.Debug(context.Background(), [][]byte{[]byte("EVAL"), []byte(code), []byte("0")}, false, d)
	if err != nil {
		t.Fatal(err)
	}
	return v, printed + strings.Join(d.Lines(), "\n")
}

// TestDebugSizes has a script log and describe much: the text is bounded.
func TestDebugSizes(t *testing.T) {
	race.Skip(t)
	e := inMemory(t)
	v, _ := debugged(t, e.Session(), "local s = string.rep('x', 1e6) for i = 1, 1e6 do redis.debug(s) end")
	if !strings.Contains(string(v.Str), "not enough memory") {
		t.Errorf("logging replies %.80q", v.Str)
	}
	const wide = "local t = {} for i = 1, 100 do t[i] = t end\nreturn 1"
	for _, maxlen := range []string{"256", "0"} {
		if _, printed := debugged(t, e.Session(), wide, "maxlen "+maxlen, "next", "print t"); len(printed) > 40<<20 || !strings.Contains(printed, "max recursion") && maxlen == "0" {
			t.Errorf("maxlen %s prints %d bytes", maxlen, len(printed))
		}
	}
}

// TestDebugPanic panics in a command of a debugged script, and in a command of the debugger.
func TestDebugPanic(t *testing.T) {
	st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	faulty, reports := true, 0
	e := engine.New(st, engine.WithHook(func() {
		if faulty {
			panic("injected")
		}
	}))
	e.SetReport(func(*store.Panic) { reports++ })
	for i, commands := range [][]string{nil, {"redis GET k"}} {
		s := e.Session()
		v, _ := debugged(t, s, "redis.call('SET', 'k', 'v')", commands...)
		if !strings.Contains(string(v.Str), "internal error: injected") || !s.Broken() || reports != i+1 {
			t.Errorf("%q: %q, broken: %v, %d reports", commands, v.Str, s.Broken(), reports)
		}
	}
	faulty = false
	if v, err := e.Session().Do(context.Background(), []byte("EXISTS"), []byte("k")); err != nil || v.Int != 0 {
		t.Errorf("%v, %v", v, err)
	}
}
