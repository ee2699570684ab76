package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

func TestQuery(t *testing.T) {
	o := offer(t, nil, nil, "HSET h f v", "SET block v", `SET bin "\xff"`, "SELECT 2", "SET k two")
	o.check("query", `{"command":["HGETALL","h"]}`, `{"reply":{"f":"v"}}`)
	o.check("query", `{"line":"GET bin"}`, `{"reply":{"base64":"/w=="}}`)
	o.check("query", `{"command":["GET","missing"]}`, `{"reply":null}`)
	o.check("query", `{"command":["GET","k"],"database":2}`, `{"reply":"two"}`)
	for args, want := range map[string]string{
		`{"command":["SET","k","v"]}`:                         "READONLY SET may write",
		`{"command":["EVAL","return 1","0"]}`:                 "READONLY",
		`{"command":["eval_ro","return 1","0"]}`:              "EVAL_RO runs a script",
		`{"command":["GET","h"]}`:                             "WRONGTYPE Operation against a key",
		`{"command":["GTE","h"]}`:                             "READONLY GTE is unknown and may write, and the target is read-only. Did you mean GET?",
		`{"command":["BLPOP","q","0"]}`:                       "BLPOP needs a connection of its own",
		`{"command":["SUBSCRIBE","c"]}`:                       "SUBSCRIBE needs a connection of its own",
		`{"command":["MULTI"]}`:                               "MULTI needs a connection of its own",
		`{"command":["SELECT","1"]}`:                          "give database with the call",
		`{"line":"XREAD COUNT 1 block 0 STREAMS s $"}`:        "XREAD with BLOCK waits",
		`{"line":"XREADGROUP GROUP g c BLOCK 0 STREAMS s >"}`: "XREADGROUP with BLOCK waits",
		`{"line":"XREAD COUNT 1 STREAMS block 0"}`:            "WRONGTYPE",
		`{"command":["CLIENT","REPLY","OFF"]}`:                "CLIENT REPLY needs a connection of its own",
		`{"command":["config","get","requirepass"]}`:          "CONFIG GET shows secrets",
		`{"command":["ACL","LIST"]}`:                          "ACL LIST shows secrets",
		`{}`:                                                  "give a command",
		`{"command":["GET","h"],"line":"GET h"}`:              "not both",
		`{"line":"GET \"h"}`:                                  "line:",
		`{"command":["GET","h"],"wrong":1}`:                   "wrong",
		`{"command":["LRANGE","h","0","-1"],"limit":-1}`:      "limit -1",
	} {
		o.fails("query", args, want)
	}
	if v := o.do("KEYS *"); len(v.Elems) != 1 {
		t.Errorf("the keys are %v", v)
	}
	o.check("explain", `{"command":["GET","a"],"database":5}`, "5 [GET a]")
}

// What comes back is bounded, whatever it is.
func TestBounds(t *testing.T) {
	o := offer(t, nil, nil, "SET big "+strings.Repeat("é", 100_000), `SET bin "`+strings.Repeat(`\xff`, 100_000)+`"`)
	for i := range 30 {
		o.do("RPUSH list" + strings.Repeat(fmt.Sprintf(" element-%d", i), 100))
		o.do(fmt.Sprintf("HSET hash f%d %s", i, strings.Repeat("y", 3000)))
	}
	o.do(`XADD stream 1-1 f ` + strings.Repeat("z", 200_000))
	for _, c := range []struct{ tool, args, cut string }{
		{"query", `{"command":["GET","big"]}`, "32768 of 200000 bytes of a string are shown"},
		{"query", `{"command":["GET","bin"]}`, "32768 of 100000 bytes"},
		{"query", `{"command":["LRANGE","list","0","-1"]}`, "100 of 3000 elements are shown: raise limit"},
		{"query", `{"command":["LRANGE","list","0","-1"],"limit":1000}`, "1000 of 3000 elements"},
		{"query", `{"command":["HGETALL","hash"]}`, "of 30 elements are shown"},
		{"query", `{"command":["XRANGE","stream","-","+"]}`, "of 200000 bytes"},
		{"read", `{"key":"hash"}`, "smaller limit"},
		{"read", `{"key":"stream"}`, "read the rest with query"},
	} {
		text, failed := o.call(c.tool, c.args)
		var told struct{ Cut string }
		if err := json.Unmarshal([]byte(text), &told); failed || err != nil || !strings.Contains(told.Cut, c.cut) {
			t.Errorf("%s %s: cut %q, %v", c.tool, c.args, told.Cut, err)
		}
		if len(text) > 2*maxBytes {
			t.Errorf("%s %s: %d bytes", c.tool, c.args, len(text))
		}
	}
}

func TestClip(t *testing.T) {
	pairs := resp.MakeMap(resp.MakeString("a"), resp.MakeInt(1), resp.MakeString("b"), resp.MakeInt(2))
	c := newTruncation(1)
	if v := c.cut(pairs); len(v.Elems) != 2 || c.description() != "1 of 2 elements are shown" {
		t.Errorf("%v, %s", v, c.description())
	}
	c = newTruncation(5)
	nested := resp.MakeArray(pairs, pairs, pairs)
	if v := c.cut(nested); len(v.Elems) != 2 || len(v.Elems[1].Elems) != 2 {
		t.Errorf("%v, %s", v, c.description())
	}
	if want := "2 of 3 elements are shown, and more within 1 of them"; c.description() != want {
		t.Errorf("%s, not %s", c.description(), want)
	}
	if len(pairs.Elems) != 4 || len(nested.Elems) != 3 {
		t.Error("the reply itself was changed")
	}
}

// stuck is a session whose commands end with their context.
type stuck struct {
	keyspace.Session
	begun chan struct{}
}

func (s stuck) Do(ctx context.Context, _ ...[]byte) (resp.Value, error) {
	s.begun <- struct{}{}
	<-ctx.Done()
	return resp.Value{}, ctx.Err()
}

func TestCancel(t *testing.T) {
	begun := make(chan struct{}, 2)
	o := offer(t, func(o *Options) { o.Reading = stuck{o.Session, begun} }, nil, "SET k v")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := o.client.CallTool(ctx, &mcp.CallToolParams{Name: "query", Arguments: map[string]any{"line": "GET k"}})
		ended <- err
	}()
	<-begun
	// Another waits for its turn, and can be cancelled, too.
	waiting, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := o.client.CallTool(waiting, &mcp.CallToolParams{Name: "query", Arguments: map[string]any{"line": "GET k"}})
		left <- err
	}()
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the one that waits: %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the one that runs: %v", err)
	}
	o.check("explain", `{"command":["GET","a"]}`, "0 [GET a]") // it goes on
}

func TestTimeLimit(t *testing.T) {
	o := offer(t, func(o *Options) { o.Reading, o.TimeLimit = stuck{o.Session, make(chan struct{}, 1)}, time.Millisecond }, nil)
	o.fails("query", `{"line":"GET k"}`, "time limit of 1ms exceeded: ask for less at a time")
}

// flushes may change keys, and FLUSHALL is to be confirmed.
func flushes(typed string) func(*Options) {
	return func(o *Options) {
		o.Writes, o.Typed = true, typed
		o.Risk = func(args [][]byte) string {
			if strings.EqualFold(string(args[0]), "FLUSHALL") {
				return "FLUSHALL"
			}
			return ""
		}
	}
}

func TestChange(t *testing.T) {
	o := offer(t, flushes(""), nil)
	o.check("change", `{"command":["SET","k","v"]}`, `{"reply":"OK"}`)
	o.check("change", `{"command":["SET","k","three"],"database":3}`, `{"reply":"OK"}`)
	o.check("query", `{"command":["GET","k"]}`, `{"reply":"v"}`)
	o.fails("change", `{"command":["LPUSH","k","v"]}`, "WRONGTYPE")
	o.fails("change", `{"command":["ACL","GETUSER","default"]}`, "ACL GETUSER shows secrets")
	o.fails("change", `{"command":["MULTI"]}`, "needs a connection of its own")
	o.fails("change", `{"command":["FLUSHALL"]}`, "CONFIRM FLUSHALL needs the confirmation of a person, and this client cannot ask")
	o.check("query", `{"command":["GET","k"]}`, `{"reply":"v"}`)
}

func TestConfirm(t *testing.T) {
	yes := &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}
	named := func(name string) *mcp.ElicitResult {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": name}}
	}
	for _, c := range []struct {
		typed    string
		reply    *mcp.ElicitResult
		question string
		runs     bool
	}{
		{"", yes, "FLUSHALL on cats.sqlite. Run it?", true},
		{"", &mcp.ElicitResult{Action: "decline"}, "FLUSHALL on cats.sqlite. Run it?", false},
		{"", &mcp.ElicitResult{Action: "cancel"}, "FLUSHALL on cats.sqlite. Run it?", false},
		{"prod", named("prod"), "FLUSHALL on cats.sqlite. Type prod to run it.", true},
		{"prod", named("prd"), "FLUSHALL on cats.sqlite. Type prod to run it.", false},
	} {
		asked := ""
		o := offer(t, flushes(c.typed), func(p *mcp.ElicitParams) *mcp.ElicitResult { asked = p.Message; return c.reply }, "SET k v")
		if c.runs {
			o.check("change", `{"command":["FLUSHALL"]}`, `{"reply":"OK"}`)
		} else {
			o.fails("change", `{"command":["FLUSHALL"]}`, "CONFIRM not confirmed: nothing was run")
		}
		if asked != c.question {
			t.Errorf("asked %q", asked)
		}
		if left := len(o.do("KEYS *").Elems); (left == 0) != c.runs {
			t.Errorf("%v: %d keys are left", c, left)
		}
	}
}

// A yes is for the call that was asked about, and no other.
func TestYesForAnother(t *testing.T) {
	asked := 0
	o := offer(t, flushes(""), func(*mcp.ElicitParams) *mcp.ElicitResult {
		asked++
		return &mcp.ElicitResult{Action: "decline"}
	}, "SET k v")
	r, err := o.client.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "change", Arguments: map[string]any{"line": "FLUSHALL"}, RequestState: `["FLUSHDB"]`,
		InputResponses: mcp.InputResponseMap{confirmation: &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}},
	})
	if err != nil || !r.IsError || asked != 1 || len(o.do("KEYS *").Elems) != 1 {
		t.Errorf("%v, asked %d times: %v", r, asked, err)
	}
}
