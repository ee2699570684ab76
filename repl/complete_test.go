package repl

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/resp"
)

func newSession(t *testing.T, lines ...string) *engine.Session {
	t.Helper()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	s := engine.New(file).Session()
	for _, line := range lines {
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := s.Do(context.Background(), args...); err != nil || v.IsError() {
			t.Fatal(line, err, string(v.Str))
		}
	}
	return s
}

// completions lists what TAB offers after a line.
func completions(t Target, text string) []string {
	o := &Options{Formats: []string{"typed", "json"}}
	c := complete(text, o)
	if c.ask != nil {
		a := asker{target: t}
		for answer := range a.ask(context.Background(), *c.ask) {
			c = c.answered(answer)
		}
	}
	var found []string
	for _, item := range c.items {
		found = append(found, item.text)
	}
	return found
}

func TestCompletion(t *testing.T) {
	s := newSession(t,
		"SET cat:1 v", "SET cat:2 v", `SET "cat food" v`, "SET dog v", "SET a*b v", `SET "\xff" v`,
		"HSET cat:tom name Tom lives 9", "SADD cats tom felix", "ZADD ages 3 tom 5 felix", "RPUSH toys ball mouse",
		"XADD log * a 1", "XGROUP CREATE log readers $", "XGROUP CREATECONSUMER log readers anna",
		"VADD vectors VALUES 2 0 1 tom", "VADD vectors VALUES 2 1 0 felix", "ARMSET slots 7 x 15 y",
		`JSON.SET doc $ '{"name":"Tom","lives":9}'`)
	for line, want := range map[string][]string{
		"gets":                             {"getset"},
		"GETS":                             {"GETSET"},
		"qui":                              {"quit"},
		"GET cat:":                         {"cat:1", "cat:2"},
		"3 GET d":                          {"dog"},
		"GET a*":                           {"a*b"},
		"GET x":                            nil,
		`GET "cat f`:                       {`"cat food"`},
		`GET "\xf`:                         nil,
		`GET "\xff`:                        {`"\xff"`},
		"MSET dog v cat:":                  {"cat:1", "cat:2", "cat:tom"}, // overwrites any
		"MSET dog cat:":                    nil,
		"SET cat:1 v ex":                   {"ex", "exat"},
		"SET cat:1 v EX":                   {"EX", "EXAT"},
		"help getse":                       {"getset"},
		"help @stri":                       {"@string"},
		":help OBJECT enc":                 {"encoding"},
		"OBJECT enc":                       {"encoding"},
		"OBJECT ENCODING d":                {"doc", "dog"},
		"JSON.TYPE ":                       {"doc"},
		`GET "a" "`:                        nil,
		"HGET ":                            {"cat:tom"},
		"HGET cat:tom ":                    {"lives", "name"},
		"HDEL cat:tom lives n":             {"name"},
		"SISMEMBER cats t":                 {"tom"},
		"ZSCORE ages f":                    {"felix"},
		"LREM toys 0 m":                    {"mouse"},
		"VSIM vectors ELE t":               {"tom"},
		"VEMB vectors t":                   {"tom"},
		"ARGET slots 1":                    {"15"},
		"XREADGROUP GROUP x y STREAMS ":    {"log"},
		"XGROUP DESTROY log ":              {"readers"},
		"XGROUP DELCONSUMER log readers a": {"anna"},
		"JSON.GET doc $.l":                 {"$.lives"},
		"LINSERT toys ":                    {"BEFORE", "AFTER"},
		"ZADD ages N":                      {"NX"},
		"GET k | le":                       nil,
		":pe":                              {":peek"},
		":peek cat:t":                      {"cat:tom"},
		":format j":                        {"json"},
		":set t":                           {"timing"},
		":set timing o":                    {"on", "off"},
		":explain HGET cat:tom n":          {"name"},
		"GET a\nget":                       {"get", "getbit", "getdel", "getex", "getrange", "getset"},
		"SINTERSTORE cat:":                 {"cat:1", "cat:2", "cat:tom"},
		"SINTERSTORE x cat":                {"cats"},
		"SADD dog":                         {"dog"}, // none of the type: any
	} {
		got := completions(Target{Session: s}, line)
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
		if sorted := completions(Target{Session: s, FirstKeys: s.FirstKeys}, line); !slices.Equal(sorted, want) {
			t.Errorf("%q: looked up %q, want %q", line, sorted, want)
		}
	}
	if got := completions(Target{Session: s}, "GET "); len(got) != 6 {
		t.Errorf("all strings: %q", got)
	}
}

func TestCompletionAsksNothingInMulti(t *testing.T) {
	s := newSession(t, "SET cat 1", "MULTI")
	if got := completions(Target{Session: s}, "GET c"); got != nil {
		t.Errorf("got %q", got)
	}
	v, err := s.Do(context.Background(), []byte("EXEC"))
	if err != nil || len(v.Elems) != 0 {
		t.Errorf("the transaction holds %d commands, error %v", len(v.Elems), err)
	}
}

func TestCompletionIsBounded(t *testing.T) {
	var lines []string
	for i := range 2 * maxFound {
		lines = append(lines, fmt.Sprintf("SET key:%04d v", i))
	}
	s := newSession(t, lines...)
	if got := completions(Target{Session: s}, "GET k"); len(got) != maxFound {
		t.Errorf("%d candidates", len(got))
	}
	if got := completions(Target{Session: s}, "GET key:0123"); !slices.Equal(got, []string{"key:0123"}) {
		t.Errorf("one of many: %q", got)
	}
}

func TestMenu(t *testing.T) {
	m := &menu{selected: -1}
	for i := range 30 {
		m.items = append(m.items, candidate{text: fmt.Sprintf("key:%02d", i)})
	}
	if got := m.lines(40, false); len(got) != 6 || got[0] != " key:00   key:01   key:02   key:03" && got[0] != "key:00  key:01  key:02  key:03  key:04" {
		t.Errorf("%q", got)
	}
	for i := range m.items {
		m.items[i].about = "a cat"
	}
	for range 10 {
		m.move(1)
	}
	got := m.lines(40, false)
	if len(got) != menuRows+1 || got[menuRows-1] != ">key:09  a cat" || got[menuRows] != "10 of 30" {
		t.Errorf("%q", got)
	}
	m.move(-10)
	if m.selected != 29 {
		t.Errorf("around the end: %d", m.selected)
	}
	if got := m.lines(3, false); len(got) != menuRows+1 {
		t.Errorf("in a narrow window: %q", got)
	}
}
