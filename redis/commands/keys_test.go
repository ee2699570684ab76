package commands_test

import (
	"slices"
	"testing"

	"github.com/meowdis/meowdis/redis/commands"
)

// TestKeysOf finds keys as Redis 8.0 does since its security fixes of 2026 (8.0.2-3+deb13u3 of Debian), which
// not every 8.0.2 has.
func TestKeysOf(t *testing.T) {
	for line, want := range map[string][]int{
		"XREAD STREAMS a b 0 0":                     {2, 3},
		"XREAD STREAMS a b 0":                       nil,
		"XREAD COUNT 1 STREAMS STREAMS 0":           {4},
		"XREAD BLOCK STREAMS STREAMS k 1":           {4},
		"XREAD FOO STREAMS a 0":                     nil,
		"XREADGROUP GROUP STREAMS c STREAMS a 0":    {5},
		"XREADGROUP GROUP g c CLAIM 5 STREAMS k 1":  {7},
		"GEORADIUS k 0 0 1 m STORE a STOREDIST b":   {1, 9},
		"GEORADIUS k 0 0 1 m STORE STORE a":         {1, 7},
		"GEORADIUSBYMEMBER k 0 1 m STORE":           {1},
		"GEORADIUSBYMEMBER k 0 1 m COUNT 1 STORE x": {1, 8},
	} {
		call := words(line)
		c, bad := commands.Find(call)
		if c == nil {
			t.Fatalf("%s: %s", line, bad.Str)
		}
		if got := positions(c.KeysOf(call)); !slices.Equal(got, want) {
			t.Errorf("%s has its keys at %v, want %v", line, got, want)
		}
	}
}
