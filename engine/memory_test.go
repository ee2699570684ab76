package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// TestMemoryIsCharged refuses replies that are many times as large as their rows before they are made.
func TestMemoryIsCharged(t *testing.T) {
	st, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s := engine.New(st).Session()
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
		if got := do(args...); got != string(store.TooMuch.Str) {
			t.Errorf("%.40q: %q", args, got)
		}
	}
	if got := do("PING"); got == string(store.TooMuch.Str) {
		t.Error("the memory was not given back")
	}
}
