package repl

import (
	"context"
	"fmt"
	"testing"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// listed is a session with some keys, in any database.
type listed struct {
	keyspace.Session
	names []string
}

func (l listed) Do(_ context.Context, args ...[]byte) (resp.Value, error) {
	keys := resp.EmptyArray
	for _, key := range l.names {
		keys.Elems = append(keys.Elems, resp.MakeString(key))
	}
	return resp.MakeArray(resp.MakeString("0"), keys), nil
}
func (listed) DB() int       { return 0 }
func (listed) InMulti() bool { return false }

func TestAssistant(t *testing.T) {
	a := NewAssistant(Target{Session: listed{names: []string{"cat:1", "cat:2"}}})
	for text, want := range map[string]string{
		"":            "",
		"hgetal":      `0 "hgetall " [{hgetall Returns all fields of a hash and their values}]`,
		"GET c":       `4 "cat:" [{cat:1 } {cat:2 }]`,
		"GET k GET":   `6 "" []`,
		":set":        `4 "" []`,
		"QUI":         `0 "QUIT " [{QUIT Closes the connection}]`,
		"CLEA":        `0 "" []`,
		"EXPIRE k 1 ": `11 "" [{NX } {XX } {GT } {LT }]`,
	} {
		c := a.Complete(context.Background(), text)
		if got := fmt.Sprintf("%d %q %v", c.From, c.Sure(), c.Items); got != want && want != "" {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{"GET ": "key", "GET a b": "too many arguments true", ":set": "", "SET k v ": "[EX seconds|…] [NX|…] …"} {
		hint, wrong := a.Hint(text, 30)
		if wrong {
			hint += " true"
		}
		if hint != want {
			t.Errorf("hint of %q: %q, want %q", text, hint, want)
		}
	}
}
