package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// offered is a database in memory with an agent's client.
type offered struct {
	t       *testing.T
	session *engine.Session // another one on the database
	client  *mcp.ClientSession
}

// offer makes a database of these lines of commands. change changes what is offered, ask is how
// a person replies to questions, nil for a client that cannot ask.
func offer(t *testing.T, change func(*Options), ask func(*mcp.ElicitParams) *mcp.ElicitResult, lines ...string) *offered {
	t.Helper()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	e := engine.New(file)
	o := &offered{t: t, session: e.Session()}
	for _, line := range lines {
		o.do(line)
	}
	session := e.Session()
	options := Options{
		Session: session, Reading: &targets.Guard{Session: session, Refuse: new(targets.ReadOnly).Refuse},
		Name: "cats.sqlite", Kind: "SQLite file", Version: "1.2.3", TimeLimit: time.Minute,
		Risk: func([][]byte) string { return "" },
		Explain: func(_ context.Context, db int, args [][]byte) ([]byte, resp.Value, error) {
			return fmt.Appendf(nil, "%d %s", db, args), resp.Value{}, nil
		},
	}
	if change != nil {
		change(&options)
	}
	var how *mcp.ClientOptions
	if ask != nil {
		how = &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return ask(r.Params), nil
		}}
	}
	here, there := mcp.NewInMemoryTransports()
	served, err := New(options).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.client, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, how).Connect(t.Context(), here, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		o.client.Close()
		served.Wait()
	})
	return o
}

// do runs a line on the database, beside the agent.
func (o *offered) do(line string) resp.Value {
	o.t.Helper()
	args, err := resp.SplitLine(line)
	if err != nil {
		o.t.Fatal(err)
	}
	v, err := o.session.Do(o.t.Context(), args...)
	if err != nil || v.IsError() {
		o.t.Fatalf("%s: %s, %v", line, v.Str, err)
	}
	return v
}

// call calls a tool with arguments in JSON.
func (o *offered) call(tool, args string) (text string, failed bool) {
	o.t.Helper()
	r, err := o.client.CallTool(o.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		o.t.Fatalf("%s %s: %v", tool, args, err)
	}
	for _, c := range r.Content {
		text += c.(*mcp.TextContent).Text
	}
	return text, r.IsError
}

// check calls a tool, which must answer want.
func (o *offered) check(tool, args, want string) {
	o.t.Helper()
	if got, failed := o.call(tool, args); failed || got != want {
		o.t.Errorf("%s %s:\n%s\nwant\n%s", tool, args, got, want)
	}
}

// fails calls a tool, which must fail with want.
func (o *offered) fails(tool, args, want string) {
	o.t.Helper()
	if got, failed := o.call(tool, args); !failed || !strings.Contains(got, want) {
		o.t.Errorf("%s %s:\n%s\nwant an error with\n%s", tool, args, got, want)
	}
}

// page is what keys and read return.
type page struct {
	Keys     []struct{ Key any }
	Elements []map[string]any
	Value    any
	Next     string
	Cut      string
}

func (o *offered) page(tool string, args map[string]any) (p page) {
	o.t.Helper()
	in, _ := json.Marshal(args)
	text, failed := o.call(tool, string(in))
	if failed {
		o.t.Fatalf("%s %s: %s", tool, in, text)
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		o.t.Fatal(err)
	}
	return p
}

func TestTools(t *testing.T) {
	for _, writes := range []bool{false, true} {
		o := offer(t, func(o *Options) { o.Writes = writes }, nil)
		var names []string
		for tool, err := range o.client.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, tool.Name)
			if tool.Annotations.ReadOnlyHint != (tool.Name != "change") || tool.Description == "" {
				t.Errorf("%s: %+v", tool.Name, tool.Annotations)
			}
		}
		want := "[explain keys overview query read search]"
		if writes {
			want = "[change explain keys overview query read search]"
		}
		if fmt.Sprint(names) != want {
			t.Errorf("the tools are %v", names)
		}
	}
}

// TestSearch lists indexes, and reads pages of documents of database 0.
func TestSearch(t *testing.T) {
	o := offer(t, nil, nil, "HSET shop:1 name 'red shoe' price 5", "HSET shop:2 name 'red hat' price 7", "HSET shop:3 name 'blue hat' price 9", "HSET shop:4 name \"\\xff\" price 1", "SELECT 1")
	o.check("search", `{}`, `{"indexes":[]}`)
	o.do("SELECT 0")
	o.do("FT.CREATE shop PREFIX 1 shop: SCHEMA name TEXT kind TAG price NUMERIC SORTABLE")
	o.check("search", `{}`, `{"indexes":[{"name":"shop","definition":{"key_type":"HASH","prefixes":["shop:"],"default_score":"1","indexes_all":"false"},"fields":{"name":"TEXT","kind":"TAG","price":"NUMERIC"},"num_docs":4,"percent_indexed":"1"}]}`)
	o.check("search", `{"index":"shop","query":"red @price:[6 +inf]"}`, `{"total":1,"documents":[{"key":"shop:2","fields":{"name":"red hat","price":"7"}}]}`)
	o.check("search", `{"index":"shop","sort_by":"price","fields":["price"],"limit":2}`, `{"total":4,"documents":[{"key":"shop:4","fields":{"price":"1"}},{"key":"shop:1","fields":{"price":"5"}}],"next":"2"}`)
	o.check("search", `{"index":"shop","sort_by":"price","fields":["name"],"limit":2,"cursor":"2"}`, `{"total":4,"documents":[{"key":"shop:2","fields":{"name":"red hat"}},{"key":"shop:3","fields":{"name":"blue hat"}}]}`)
	o.check("search", `{"index":"shop","query":"@price:[1 1]"}`, `{"total":1,"documents":[{"key":"shop:4","fields":{"name":{"base64":"/w=="},"price":"1"}}]}`)
	o.fails("search", `{"query":"red"}`, "give index")
	o.fails("search", `{"index":"none"}`, "No such index none")
	o.fails("search", `{"index":"shop","query":"@none:x"}`, "Unknown field")
	o.fails("search", `{"index":"shop","cursor":"x"}`, "invalid cursor")
	o.fails("search", `{"index":"shop","limit":1001}`, "1001")
	o.do("HSET shop:1 name '" + strings.Repeat("red ", 20000) + "'")
	if text, failed := o.call("search", `{"index":"shop","query":"red"}`); failed || len(text) > maxBytes+1000 || !strings.Contains(text, `"cut":`) {
		t.Errorf("%d bytes, %.200s", len(text), text)
	}
}

func TestOverview(t *testing.T) {
	o := offer(t, nil, nil, "SET cat:1 a EX 30", "SET cat:2 b", "HSET dog:1 f v", "SELECT 3", "SET other 1")
	text, _ := o.call("overview", `{}`)
	for _, want := range []string{
		`"target":"cats.sqlite","kind":"SQLite file"`, `"database":0,"may_change":false,"keys":3`,
		`"databases":{"0":"keys=3,expires=1`, `"3":"keys=1`, `{"prefix":"cat:","keys":2`, `{"type":"hash","keys":1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if text, _ := o.call("overview", `{"database":3}`); !strings.Contains(text, `"database":3,"may_change":false,"keys":1`) {
		t.Errorf("database 3: %s", text)
	}
	o.check("query", `{"command":["DBSIZE"]}`, `{"reply":3}`) // in the target's own again
	o.fails("overview", `{"database":99}`, "ERR DB index is out of range")
}

func TestKeys(t *testing.T) {
	o := offer(t, nil, nil, "HSET h colour red", "RPUSH l a b", `SET "\xff" binary`)
	for i := range 500 {
		o.do(fmt.Sprintf("SET cat:%d %d", i, i))
	}
	seen, pages := map[string]bool{}, 0
	for cursor := ""; ; pages++ {
		p := o.page("keys", map[string]any{"limit": 50, "cursor": cursor})
		if len(p.Keys) > 100 {
			t.Errorf("a page has %d keys", len(p.Keys))
		}
		for _, k := range p.Keys {
			seen[fmt.Sprint(k.Key)] = true
		}
		if cursor = p.Next; cursor == "" {
			break
		}
	}
	if len(seen) != 503 || pages < 5 {
		t.Errorf("%d keys in %d pages", len(seen), pages)
	}
	o.check("keys", `{"pattern":"cat:49?","type":"hash"}`, `{"keys":[]}`)
	o.check("keys", `{"pattern":"h"}`, `{"keys":[{"key":"h","type":"hash","ttl_ms":null,"count":1}]}`)
	o.check("keys", `{"type":"list"}`, `{"keys":[{"key":"l","type":"list","ttl_ms":null,"count":2}]}`)
	o.check("keys", `{"containing":"red"}`, `{"keys":[{"key":"h","type":"hash","ttl_ms":null,"count":1}]}`)
	o.check("keys", `{"containing":"binary"}`, `{"keys":[{"key":{"base64":"/w=="},"type":"string","ttl_ms":null,"count":6}]}`)
	o.check("read", `{"key_base64":"/w=="}`, `{"about":{"key":{"base64":"/w=="},"type":"string","ttl_ms":null,"count":6},"value":"binary"}`)
	o.fails("keys", `{"type":"cat"}`, `unknown type "cat": the types are string`)
	o.fails("keys", `{"limit":5000}`, "limit 5000: give 1 to 1000")
	o.fails("keys", `{"database":"one"}`, "integer") // which the schema says
}

// A page that does not fit is not passed over.
func TestLongNames(t *testing.T) {
	o := offer(t, nil, nil)
	for i := range 20 {
		o.do(fmt.Sprintf("SET %d:%s v", i, strings.Repeat("x", 5000)))
	}
	p := o.page("keys", map[string]any{})
	if p.Next != "0" || !strings.Contains(p.Cut, "of 20 elements are shown") || !strings.Contains(p.Cut, "smaller limit") {
		t.Fatalf("next %q, cut %q", p.Next, p.Cut)
	}
	seen := map[any]bool{}
	for cursor := p.Next; cursor != ""; {
		p := o.page("keys", map[string]any{"limit": 3, "cursor": cursor})
		for _, k := range p.Keys {
			seen[k.Key] = true
		}
		if p.Cut != "" {
			t.Fatal(p.Cut)
		}
		cursor = p.Next
	}
	if len(seen) != 20 {
		t.Errorf("%d keys", len(seen))
	}
}

func TestRead(t *testing.T) {
	o := offer(t, nil, nil, "ZADD z 1 one 2 two", "XADD x 1-1 kind open", `JSON.SET doc $ '{"a":[1,2]}'`, "SETEX short 1000 é", "SET k v", "SELECT 1", "SET k other", "SELECT 0")
	o.check("read", `{"key":"z"}`, `{"about":{"key":"z","type":"zset","ttl_ms":null,"count":2},"elements":[{"member":"one","score":"1"},{"member":"two","score":"2"}]}`)
	o.check("read", `{"key":"z","limit":1}`, `{"about":{"key":"z","type":"zset","ttl_ms":null,"count":2},"elements":[{"member":"one","score":"1"}],"next":"1"}`)
	o.check("read", `{"key":"x"}`, `{"about":{"key":"x","type":"stream","ttl_ms":null,"count":1},"elements":[{"id":"1-1","fields":{"kind":"open"}}]}`)
	if text, _ := o.call("read", `{"key":"doc"}`); !strings.Contains(text, `"value":"{\"a\":[1,2]}"`) {
		t.Errorf("a document: %s", text)
	}
	o.check("read", `{"key":"k","database":1}`, `{"about":{"key":"k","type":"string","ttl_ms":null,"count":5},"value":"other"}`)
	o.fails("read", `{"key":"missing"}`, "no such key")
	o.fails("read", `{}`, "give key, the name of a key")
	o.fails("read", `{"key":"a","key_base64":"YQ=="}`, "not both")

	// A long text, and elements, page by page.
	long := strings.Repeat("012345678é", 10_000)
	o.do("SET long " + long)
	for i := range 250 {
		o.do(fmt.Sprintf("RPUSH list %d", i))
	}
	got, cursor := "", ""
	for {
		p := o.page("read", map[string]any{"key": "long", "cursor": cursor})
		got += p.Value.(string)
		if cursor = p.Next; cursor == "" {
			break
		}
	}
	if got != long {
		t.Errorf("%d bytes of %d", len(got), len(long))
	}
	var elements []string
	for {
		p := o.page("read", map[string]any{"key": "list", "cursor": cursor})
		for _, e := range p.Elements {
			elements = append(elements, fmt.Sprint(e["value"]))
		}
		if cursor = p.Next; cursor == "" {
			break
		}
	}
	if len(elements) != 250 || elements[249] != "249" {
		t.Errorf("%d elements", len(elements))
	}
}
