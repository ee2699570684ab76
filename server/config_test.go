package server_test

import (
	"slices"
	"testing"

	"github.com/meowdis/meowdis/server"
)

// What CONFIG GET says can be set again: tools that change parameters put them
// back in this way, all at once or one by one.
func TestConfigSetsWhatItGot(t *testing.T) {
	c := serve(t, server.Config{RequirePass: "s3cret"}).dial(t)
	c.do("AUTH", "s3cret")
	got := c.do("CONFIG", "GET", "*")
	all := []string{"CONFIG", "SET"}
	for pair := range slices.Chunk(got.Elems, 2) {
		name, value := string(pair[0].Str), string(pair[1].Str)
		all = append(all, name, value)
		if v := c.do("CONFIG", "SET", name, value); show(v) != "OK" {
			t.Errorf("CONFIG SET %s %q: %s", name, value, show(v))
		}
	}
	if len(all) < 40 {
		t.Fatalf("CONFIG GET * has only %q", all)
	}
	want(t, c.do(all...), "OK")
	if again := c.do("CONFIG", "GET", "*"); show(again) != show(got) {
		t.Errorf("CONFIG GET * was\n%s\nand is\n%s", show(got), show(again))
	}
}
