package fuzz

import (
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// TestAgeing makes both sides older: what has expired then is gone on both, and the rest
// has less time left.
func TestAgeing(t *testing.T) {
	s := newSides(t)
	s.broken = func(args [][]byte, v resp.Value) resp.Value {
		if nameOf(args) == "MGET" && v.Elems[0].IsNull() {
			v.Elems[0] = resp.MakeBulk([]byte("gone"))
		}
		return v
	}
	steps := []step{
		{args: words("SET", "a", "x", "PX", "100000")},
		{args: words("SET", "b", "x", "PX", "1000000")},
		{args: words("HSET", "h", "f", "v")},
		{age: 150_000},
		{args: words("PTTL", "b")},
		{args: words("MGET", "a", "b", "h")},
	}
	d := s.play(steps, false)
	if want := "meowdis answers\n1) \"gone\"\n2) \"x\"\n3) (nil)"; d == nil || d.what != want {
		t.Fatalf("got %+v, want %q", d, want)
	}
	if got, want := d.replies[5], "1) (nil)\n2) \"x\"\n3) (nil)"; got != want {
		t.Errorf("redis-server answers %s, want %s", got, want)
	}
	const shown = "> SET a x PX 100000\n# 150000 ms later\n> MGET a\n"
	if got := transcript([]step{steps[0], steps[3], {args: words("MGET", "a")}}, nil); got != shown {
		t.Errorf("the case is shown as\n%s", got)
	}
}
