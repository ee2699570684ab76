package repl

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
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

// completions returns the candidates of TAB after a line.
func completions(t Target, text string) []string {
	o := &Options{Formats: []string{"typed", "json"}}
	c := complete(text, o)
	if c.ask != nil {
		a := asker{target: t}
		for answer := range a.ask(context.Background(), *c.ask) {
			c = c.withAnswer(answer)
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
		`JSON.SET doc $ '{"name":"Tom","lives":9,"home":{"street":"Main","two words":1}}'`)
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
		"XREADGROUP GROUP r":               {"readers"},
		"XREADGROUP GROUP readers ":        {"anna"},
		"XPENDING log ":                    {"readers"},
		"XCLAIM log readers a":             {"anna"},
		"XACK log ":                        {"readers"},
		"JSON.GET doc $.home.":             {"$.home.street"},
		"JSON.GET doc $.home[":             {`"$.home[\"two words\"]"`},
		"JSON.SET doc $.ho":                {"$.home"},
		"PUBLISH ":                         nil,
		"COMMAND INFO gets":                {"getset"},
		"CLIENT KILL TYPE N":               {"NORMAL"},
		"CLIENT KILL SKI":                  {"SKIPME"},
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
		"SADD dog":                         nil, // a string
	} {
		got := completions(Target{Session: s}, line)
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
		if sorted := completions(Target{Session: s, Keys: s}, line); !slices.Equal(sorted, want) {
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
	few := &menu{selected: -1, completion: completion{items: m.items[:2], more: true}}
	if got := few.lines(40, false); got[len(got)-1] != "2, and maybe more" {
		t.Errorf("not all were looked at: %q", got)
	}
	m.move(-10)
	if m.selected != 29 {
		t.Errorf("around the end: %d", m.selected)
	}
	if got := m.lines(3, false); len(got) != menuRows+1 {
		t.Errorf("in a narrow window: %q", got)
	}
}

// listingServer answers the commands that list values, as a server does.
type listingServer struct{ keyspace.Session }

func (l listingServer) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	texts := func(all ...string) resp.Value {
		var elems []resp.Value
		for _, text := range all {
			elems = append(elems, resp.MakeString(text))
		}
		return resp.MakeArray(elems...)
	}
	switch string(bytes.Join(args, []byte(" "))) {
	case "CONFIG GET *":
		return texts("maxmemory", "0", "maxclients", "10000", "requirepass", "hunter2", "maxmemory-policy", "noeviction"), nil
	case "CONFIG GET maxmemory-policy", "CONFIG GET Appendonly", "CONFIG GET appendonly":
		return texts("maxmemory-policy", "noeviction", "appendonly", "yes"), nil
	case "PUBSUB CHANNELS":
		return texts("news", "cats"), nil
	case "ACL USERS":
		return texts("default", "tom"), nil
	case "ACL CAT":
		return texts("read", "write"), nil
	case "FUNCTION LIST":
		f := texts("name", "purr", "description", "Makes a cat purr")
		return resp.MakeArray(resp.MakeArray(resp.MakeString("library_name"), resp.MakeString("cats"), resp.MakeString("functions"), resp.MakeArray(f))), nil
	case "CLIENT LIST":
		return resp.MakeString("id=7 addr=127.0.0.1:5000 name=tom cmd=get\nid=12 addr=127.0.0.1:5001 name= cmd=client|list\n"), nil
	}
	return resp.MakeError("NOPERM no permission"), nil
}

func TestCompletionOfListedValues(t *testing.T) {
	target := Target{Session: listingServer{newSession(t)}}
	for line, want := range map[string][]string{
		"CONFIG GET maxm":                     {"maxmemory", "maxmemory-policy"},
		"CONFIG SET maxc":                     {"maxclients"},
		"CONFIG SET maxclients 5 ma":          {"maxclients", "maxmemory", "maxmemory-policy"},
		"CONFIG SET maxmemory-policy ":        {"allkeys-lfu", "allkeys-lru", "allkeys-random", "noeviction", "volatile-lfu", "volatile-lru", "volatile-random", "volatile-ttl"},
		"CONFIG SET maxclients 5 Appendonly ": {"no", "yes"},
		"SUBSCRIBE ":                          {"cats", "news"},
		"SUBSCRIBE cats n":                    {"news"},
		"PUBLISH c":                           {"cats"},
		"PSUBSCRIBE n":                        {"news"},
		"ACL GETUSER t":                       {"tom"},
		"ACL SETUSER tom +@":                  {"+@read", "+@write"},
		"ACL SETUSER tom al":                  {"allchannels", "allcommands", "allkeys"},
		"ACL CAT w":                           {"write"},
		"FCALL p":                             {"purr"},
		"FUNCTION DELETE ":                    {"cats"},
		"CLIENT KILL ID ":                     {"12", "7"},
		"CLIENT KILL USER t":                  {"tom"},
		"CLIENT KILL ADDR ":                   {"127.0.0.1:5000", "127.0.0.1:5001"},
		"CLIENT UNBLOCK 1":                    {"12"},
		"SPUBLISH ":                           nil, // refused
	} {
		if got := completions(target, line); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	for _, item := range parametersIn(resp.MakeArray(resp.MakeString("requirepass"), resp.MakeString("hunter2"))) {
		if item.about != "" {
			t.Errorf("the password is shown: %q", item.about)
		}
	}
}

// TestCompletionOfDatabasesAndEntries checks that TAB offers databases with keys, and the IDs of suitable entries.
func TestCompletionOfDatabasesAndEntries(t *testing.T) {
	s := newSession(t, "SET cat 1", "SELECT 3", "SET cat 1", "SELECT 0", "XADD log 1-1 a b", "XADD log 2-1 c d",
		"XGROUP CREATE log mailers 0", "XREADGROUP GROUP mailers alice COUNT 1 STREAMS log >")
	for line, want := range map[string][]string{
		"SELECT ": {"0", "3"}, "MOVE cat ": {"0", "3"}, "COPY cat dog DB 3": {"3"}, "SWAPDB 0 ": {"0", "3"},
		"XDEL log ": {"1-1", "2-1"}, "XDEL log 1-1 2": {"2-1"}, "XACK log mailers ": {"1-1"},
		"XCLAIM log mailers bob 0 ": {"1-1"}, "XACK nope mailers ": nil, "XDEL cat ": nil,
	} {
		if got := completions(Target{Session: s}, line); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	for range 100 {
		s.Do(context.Background(), []byte("XADD"), []byte("long"), []byte("*"), []byte("a"), []byte("b"))
	}
	a := asker{target: Target{Session: s}}
	for answer := range a.ask(context.Background(), *complete("XDEL long ", &Options{}).ask) {
		if len(answer.items) != 100 || !answer.partial {
			t.Errorf("%d of many entries, partly %v", len(answer.items), answer.partial)
		}
	}
	if got := idsOf("XDEL", "log", "").read(resp.MakeArray(resp.MakeArray(resp.MakeString("1-1"), resp.MakeArray(resp.MakeString("a"), resp.MakeString("b"))))); got[0].about != "a b" {
		t.Errorf("an entry is shown as %q", got[0].about)
	}
}

// panicking is a session whose calls panic.
type panicking struct{ keyspace.Session }

func (panicking) InMulti() bool { return false }

func (panicking) Do(context.Context, ...[]byte) (resp.Value, error) { panic("injected") }

func (panicking) Pipeline(context.Context, [][][]byte) ([]resp.Value, error) { panic("injected") }

// TestPanickingQuery makes the query for candidates panic: TAB says so, and the next query works.
func TestPanickingQuery(t *testing.T) {
	s := newSession(t, "SET cat v")
	a := asker{target: Target{Session: panicking{s}}}
	q := *complete("GET c", &Options{}).ask
	if got := <-a.ask(context.Background(), q); got.why != "internal error: panic: injected" {
		t.Errorf("the answer is %+v", got)
	}
	a.setTarget(Target{Session: s})
	if got := <-a.ask(context.Background(), q); len(got.items) != 1 {
		t.Errorf("then the answer is %+v", got)
	}
}

// TestCompletionSaysWhy checks that TAB says why it offers nothing.
func TestCompletionSaysWhy(t *testing.T) {
	why := func(s keyspace.Session, text string) string {
		c := complete(text, &Options{})
		a := asker{target: Target{Session: s}}
		for answer := range a.ask(context.Background(), *c.ask) {
			c = c.withAnswer(answer)
		}
		return c.why
	}
	s := newSession(t, "HSET cat name Tom", "XADD log * a 1")
	for text, want := range map[string]string{
		"GET nope": "no string key begins with nope", "HGET cat x": "no element of cat begins with x", "HGET cat n": "",
		"XACK log ": "no group of log was found",
	} {
		if got := why(s, text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := why(listingServer{s}, "SPUBLISH "); got != "(error) NOPERM no permission" {
		t.Errorf("refused: %q", got)
	}
	if _, err := s.Do(context.Background(), []byte("MULTI")); err != nil {
		t.Fatal(err)
	}
	if got := why(s, "GET "); !strings.Contains(got, "inside MULTI") {
		t.Errorf("in MULTI: %q", got)
	}
	out, _ := typedInto(t, Options{Target: Target{Session: newSession(t)}}, "SET k \t")
	mustShow(t, out, "nothing to complete here")
}
