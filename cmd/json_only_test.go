package cmd_test

import (
	"strings"
	"testing"
)

// TestCopyToJSON copies keys to an endpoint that knows no encoding of bytes: those whose names or
// values are not UTF-8 are named, and the others arrive.
func TestCopyToJSON(t *testing.T) {
	t.Parallel()
	for _, has := range []string{firstCommands, firstCommands + " EXISTS SCAN TYPE RENAME RENAMENX PEXPIRE PERSIST"} {
		j := journey{mover: mover{t, t.TempDir()}}
		for _, call := range [][]string{
			{"SET", "good", "v"}, {"SET", "bad\xff", "v"}, {"SET", "value", "\xff"}, {"RPUSH", "list", "a"}, {"RPUSH", "list\xfe", "a"}, {"RPUSH", "l2", "\xff"},
			{"SADD", "set", "a"}, {"HSET", "h", "f", "v"},
		} {
			j.run(0, append([]string{"exec", "-t", "a.sqlite"}, call...)...)
		}
		place := jsonOnly(t, newFew(t, has))
		said := j.run(3, "copy", "-n", "0", "a.sqlite", place)
		for _, name := range []string{`"bad\xff"`, `"list\xfe"`, `"value"`, `"l2"`} {
			if !strings.Contains(said, name+" was left out: ") {
				t.Errorf("%s is not named:\n%s", name, said)
			}
		}
		if !strings.Contains(said, "copied 4 keys, 4 left out\n") {
			t.Error(said)
		}
		for key, want := range map[string]string{"GET good": "v\n", "LRANGE list 0 -1": "a\n", "SMEMBERS set": "a\n"} {
			if got := j.run(0, append([]string{"exec", "-t", place}, strings.Fields(key)...)...); got != want {
				t.Errorf("%s: %q", key, got)
			}
		}
	}
}
