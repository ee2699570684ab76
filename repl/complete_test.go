package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
)

// completions lists what TAB offers behind a line, with what was typed of it.
func completions(c *completer, line string) []string {
	suffixes, n := c.Do([]rune(line), len([]rune(line)))
	runes := []rune(line)
	var found []string
	for _, s := range suffixes {
		found = append(found, string(runes[len(runes)-n:])+string(s))
	}
	return found
}

func newCompleter(t *testing.T, keys ...string) *completer {
	t.Helper()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	s := engine.New(file).Session()
	for _, k := range keys {
		if v, err := s.Do(context.Background(), []byte("SET"), []byte(k), []byte("v")); err != nil || v.IsError() {
			t.Fatal(err, string(v.Str))
		}
	}
	return &completer{ctx: context.Background(), session: s}
}

func TestCompletion(t *testing.T) {
	c := newCompleter(t, "cat:1", "cat:2", "cat food", "dog", "a*b", "\xff")
	for line, want := range map[string][]string{
		"gets":              {"getset "},
		"GETS":              {"GETSET "},
		"qui":               {"quit "},
		"GET cat:":          {"cat:1 ", "cat:2 "},
		"3 GET d":           {"dog "},
		"GET a*":            {"a*b "},
		"GET x":             nil,
		`GET "cat f`:        {`"cat food" `},
		`GET "\xf`:          nil,
		`GET "\xff`:         {`"\xff" `},
		"MSET dog v cat:":   {"cat:1 ", "cat:2 "},
		"MSET dog cat:":     nil,
		"SET cat:1 v ex":    {"ex ", "exat "},
		"SET cat:1 v EX":    {"EX ", "EXAT "},
		"help getse":        {"getset "},
		"help @stri":        {"@string "},
		"OBJECT enc":        {"encoding "},
		"OBJECT ENCODING d": {"dog "},
		`GET "a" "`:         nil,
	} {
		got := completions(c, line)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	if got := completions(c, "GET "); len(got) != 6 {
		t.Errorf("all keys: %q", got)
	}
}

func TestCompletionAsksNothingInMulti(t *testing.T) {
	c := newCompleter(t, "cat")
	s := c.session.(*engine.Session)
	if _, err := s.Do(context.Background(), []byte("MULTI")); err != nil {
		t.Fatal(err)
	}
	if got := completions(c, "GET c"); got != nil {
		t.Errorf("got %q", got)
	}
	v, err := s.Do(context.Background(), []byte("EXEC"))
	if err != nil || len(v.Elems) != 0 {
		t.Errorf("the transaction holds %d commands, error %v", len(v.Elems), err)
	}
}

func TestCompletionOfManyKeys(t *testing.T) {
	var keys []string
	for i := range 3 * maxListed {
		keys = append(keys, fmt.Sprintf("key:%03d", i))
	}
	c := newCompleter(t, keys...)
	if got := completions(c, "GET k"); !slices.Equal(got, []string{"key:"}) {
		t.Errorf("what they share: %q", got)
	}
	if got := completions(c, "GET key:"); len(got) != maxListed || !strings.HasPrefix(got[0], "key:") {
		t.Errorf("%d candidates", len(got))
	}
}
