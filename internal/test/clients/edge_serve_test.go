package clients

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// manyClients opens a connection for each request. workerd closes connections that are idle for some seconds, and resets
// the next request on one: on a busy machine that is the time a client takes to read a reply.
var manyClients = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// asks sends a request, with headers "Name: value", and returns the status and the body.
func asks(t testing.TB, method, url, token, body string, headers ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	answer, err := manyClients.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header
}

// wants posts a body and compares the answer.
func wants(t testing.TB, url, token, body string, status int, want string, headers ...string) {
	t.Helper()
	got, text, _ := asks(t, "POST", url, token, body, headers...)
	if got != status || text != want {
		t.Errorf("%.200s with %q\ngot  %d %s\nwant %d %s", body, token, got, text, status, want)
	}
}

// TestWorkerInit has the program write a Worker into an empty directory, which serves Upstash's SDKs as
// it is.
func TestWorkerInit(t *testing.T) {
	bin, dir := build(t), t.TempDir()
	if says := run(t, dir, nil, bin, "worker", "init", "Cats & dogs"); !strings.Contains(says, "npx wrangler deploy") {
		t.Errorf("it says %s", says)
	}
	made := filepath.Join(dir, "Cats & dogs")
	config, err := os.ReadFile(filepath.Join(made, "wrangler.jsonc"))
	if err != nil || !strings.Contains(string(config), `"name": "cats-dogs"`) {
		t.Errorf("the configuration is %v\n%s", err, config)
	}
	if says, err := exec.Command(bin, "worker", "init", made).CombinedOutput(); err == nil || !strings.Contains(string(says), "is not empty") {
		t.Errorf("a second one is written: %v\n%s", err, says)
	}
	url := edge(t, made, map[string]string{"MEOWDIS_TOKEN": token})
	node(t, "upstash.mjs", url, token)
	node(t, "upstash-ratelimit.mjs", url, token)
}

// edgeTokens asks with and without tokens.
func edgeTokens(t *testing.T, url string) {
	const noToken, wrongToken = `{"error":"ERR this Worker has no token: run npx wrangler secret put MEOWDIS_TOKEN"}`, `{"error":"WRONGPASS invalid or missing auth token"}`
	wants(t, url, "undefined", `["PING"]`, 500, noToken)
	wants(t, url, "", `["PING"]`, 500, noToken)
	for _, wrong := range []string{`"cats"`, `"null"`, `"[]"`, `"{\"cats\":null}"`, `7`, `{"cats":["meow"]}`} {
		wants(t, url, token, `["PING"]`, 500, `{"error":"ERR MEOWDIS_DATABASES must be a JSON object of names and tokens, {\"cats\":\"TOKEN\"}"}`,
			`Test-Secrets: {"MEOWDIS_TOKEN":"`+token+`","MEOWDIS_DATABASES":`+wrong+`}`)
	}
	wants(t, url, "meow", `["PING"]`, 200, `{"result":"PONG"}`, `Test-Secrets: {"MEOWDIS_DATABASES":{"mice":"meow"}}`)

	const secrets = `Test-Secrets: {"MEOWDIS_TOKEN":"` + token + `","MEOWDIS_READ_ONLY_TOKEN":"reads","MEOWDIS_ALLOW_ORIGINS":"https://cats.example https://dogs.example",` +
		`"MEOWDIS_DATABASES":"{\"cats\":\"meow\",\"dogs\":{\"token\":\"woof\",\"readOnlyToken\":\"sniff\",\"storageToken\":\"bone\"}}"}`
	wants := func(t *testing.T, url, token, body string, status int, want string, headers ...string) {
		t.Helper()
		wants(t, url, token, body, status, want, append(headers, secrets)...)
	}
	wants(t, url, "", `["PING"]`, 401, wrongToken)
	wants(t, url, "wrong", `["PING"]`, 401, wrongToken)
	wants(t, url, "wrong", `["PING"]`, 401, wrongToken, "Meowdis-Role: write")
	wants(t, url, token, `["SET","k","mine"]`, 200, `{"result":"OK"}`)
	wants(t, url+"?_token="+strings.ReplaceAll(token, " ", "+"), "", `["GET","k"]`, 200, `{"result":"mine"}`)
	wants(t, url, "reads", `["GET","k"]`, 200, `{"result":"mine"}`)
	noSet := `{"error":"NOPERM User default_ro has no permissions to run the 'set' command"}`
	wants(t, url, "reads", `["SET","k","v"]`, 400, noSet)
	wants(t, url, "reads", `["SET","k","v"]`, 400, noSet, "Meowdis-Role: write")
	wants(t, url+"/multi-exec", "reads", `[["SET","k","v"]]`, 400, noSet)
	wants(t, url, "reads", `["EVAL","return redis.call('SET','k','v')",0]`, 400, `{"error":"NOPERM User default_ro has no permissions to run the 'eval' command"}`)
	wants(t, url, "reads", `["KEYS","*"]`, 400, `{"error":"NOPERM User default_ro has no permissions to run the 'keys' command"}`)

	// each database is its own
	wants(t, url, "meow", `["GET","k"]`, 200, `{"result":null}`)
	wants(t, url, "meow", `["SET","k","cat"]`, 200, `{"result":"OK"}`)
	wants(t, url, "woof", `["DBSIZE"]`, 200, `{"result":0}`)
	wants(t, url, "sniff", `["GET","k"]`, 200, `{"result":null}`)
	wants(t, url, "meow", `["FLUSHALL"]`, 200, `{"result":"OK"}`)
	wants(t, url, token, `["GET","k"]`, 200, `{"result":"mine"}`)

	// what a token of one kind may not
	wants(t, url, "meow", `{"statements":[{"sql":"SELECT 1"}]}`, 400, `{"error":"ERR failed to parse command"}`)
	wants(t, url, "bone", `["GET","k"]`, 400, `{"error":"the request needs b, statements, pipeline or init"}`)

	// pages of other origins
	status, text, h := asks(t, "OPTIONS", url, "", "", secrets, "Origin: https://cats.example", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization")
	if status != 204 || text != "" || h.Get("Access-Control-Allow-Origin") != "https://cats.example" || h.Get("Access-Control-Allow-Headers") != "authorization" {
		t.Errorf("a page that may ask is told %d %s %v", status, text, h)
	}
	if _, _, h = asks(t, "POST", url, token, `["PING"]`, secrets, "Origin: https://mice.example"); h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a page that may not ask is told %v", h)
	}
	if status, text, _ = asks(t, "DELETE", url, token, "", secrets); status != 405 {
		t.Errorf("DELETE is answered %d %s", status, text)
	}
	if status, _, _ = asks(t, "GET", url+"/healthz", "", "", secrets); status != 200 {
		t.Errorf("/healthz is answered %d", status)
	}
}

// edgeAtOnce counts by many clients at once, by commands of one step and of several.
func edgeAtOnce(t *testing.T, url string) {
	const clients, own = 60, "test:counts:token"
	for body, want := range map[string]string{
		`["INCR","a"]`:                               `60`,
		`["INCRBYFLOAT","b","0.5"]`:                  `"30"`,
		`["EVAL","return redis.call('INCR','c')",0]`: `60`,
		`["HINCRBYFLOAT","h","f","1"]`:               `"60"`,
		`["EVAL","local n = redis.call('GET','d') or 0 redis.call('SET','d',n+1) return n+1",0]`: `60`,
	} {
		var mu sync.Mutex
		replies := map[string]bool{}
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				status, text, _ := asks(t, "POST", url, own, body)
				if status != 200 {
					t.Errorf("%s: %d %s", body, status, text)
				}
				mu.Lock()
				defer mu.Unlock()
				replies[text] = true
			})
		}
		all.Wait()
		if len(replies) != clients || !replies[`{"result":`+want+`}`] {
			t.Errorf("%s has %d different replies", body, len(replies))
		}
	}
}

// edgeSwept has the alarm delete what has expired, and what deleted keys have left.
func edgeSwept(t *testing.T, url string) {
	const own, sql = "test:swept:token", "test:swept:storageToken"
	alarm := func() string {
		_, text, _ := asks(t, "POST", url, own, "", "Test-Alarm: 1")
		return text
	}
	wants(t, url, own, `["SET","stays","v"]`, 200, `{"result":"OK"}`)
	if got := alarm(); got != "null" {
		t.Errorf("there is an alarm at %s, and nothing to sweep", got)
	}
	wants(t, url, own, `["SET","k","v","EX","1000"]`, 200, `{"result":"OK"}`)
	if got := alarm(); got == "null" {
		t.Error("there is no alarm for a key that expires")
	}
	wants(t, url, own, `["SET","k","v","PX","1"]`, 200, `{"result":"OK"}`, "Test-Pause: 0")
	var members strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&members, `,"%d"`, i)
	}
	wants(t, url, own, `["SADD","s"`+members.String()+`]`, 200, `{"result":2000}`)
	wants(t, url, own, `["DEL","s"]`, 200, `{"result":1}`)
	const left = `{"statements":[{"sql":"SELECT (SELECT count(*) FROM keys) AS keys, (SELECT count(*) FROM sets) AS members, (SELECT count(*) FROM pending_deletes) AS pending"}]}`
	const swept = `{"results":[[{"keys":1,"members":0,"pending":0}]]}`
	for late, text := time.Now().Add(2*time.Minute), ""; text != swept; {
		if _, text, _ = asks(t, "POST", url, sql, left); time.Now().After(late) {
			t.Fatalf("what is left is %s", text)
		}
	}
}

// edgeFails has the database and the engine fail.
func edgeFails(t *testing.T, url string) {
	const own = "test:fails:token"
	state := `["EVAL","return redis.call('LRANGE','l',0,-1)",0]`
	wants(t, url, own, `["RPUSH","l","a"]`, 200, `{"result":1}`)
	for n := 1; ; n++ {
		status, text, _ := asks(t, "POST", url, own, `["EVAL","redis.call('RPUSH','l','x') redis.call('RPUSH','l','y') redis.call('DEL','l') return redis.call('RPUSH','l','a')",0]`, fmt.Sprint("Test-Fails: ", n))
		if status == 200 {
			if n < 4 {
				t.Errorf("only %d statements write", n-1)
			}
			break
		}
		if status != 500 || text != `{"error":"ERR the database failed: database or disk is full: SQLITE_FULL"}` {
			t.Errorf("a failure at %d is answered %d %s", n, status, text)
		}
		wants(t, url, own, state, 200, `{"result":["a"]}`)
	}
	status, text, _ := asks(t, "POST", url, own, `["RPUSH","l","b"]`, "Test-Crashes: 1")
	if status != 500 || !strings.Contains(text, "some commands may have run") {
		t.Errorf("the end of the engine is answered %d %s", status, text)
	}
	wants(t, url, own, state, 200, `{"result":["a","b"]}`)
	for _, endless := range []struct{ body, rush string }{
		{`while true do end`, "1000"},
		{`local t = {} while true do t[1] = {} end`, "1000"},
		{`while true do redis.call('SET','k','v') end`, "1000"},
		{`local s = string.rep('a',1000) while true do s = string.gsub(s,'a','a') end`, "1000"},
		{`while true do redis.call('GET','k') end`, "0"}, // the clock stands still, as in a deployed object
	} {
		status, text, _ = asks(t, "POST", url, own, `["EVAL","redis.call('RPUSH','l','c') `+endless.body+`",0]`, "Test-Rush: "+endless.rush)
		if status != 400 || !strings.Contains(text, "exceeded; nothing was changed") {
			t.Errorf("%s is answered %d %s", endless.body, status, text)
		}
	}
	wants(t, url, own, state, 200, `{"result":["a","b"]}`)
	wants(t, url, own, `["SET","large","`+strings.Repeat("x", 17<<20)+`"]`, 400,
		fmt.Sprintf(`{"error":"ERR max request size exceeded. Limit: %d bytes, Actual: %d bytes"}`, 16<<20, 17<<20+len(`["SET","large",""]`)))
	wants(t, url, own, `["SET","large","`+strings.Repeat("x", 6<<20)+`"]`, 200, `{"result":"OK"}`)
	wants(t, url, own, `["MGET"`+strings.Repeat(`,"large"`, 6)+`]`, 400, `{"error":"ERR request memory limit exceeded (32 MB): ask for less at a time"}`)
	wants(t, url, own, `["SET","large","x"]`, 500,
		`{"error":"ERR the database failed: a Durable Object takes values and statements of at most 2 MB: send less at a time"}`, "Test-Fails: 1", "Test-Reason: string or blob too big: SQLITE_TOOBIG")
}

// edgePanics has each exported function of the engine panic. The stream of another object continues, and the object serves
// the next request.
func edgePanics(t *testing.T, url string) {
	r, err := http.NewRequestWithContext(t.Context(), "GET", url+"/subscribe/news", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer test:listens:token")
	stream, err := manyClients.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	next := func() (line string) {
		for line == "" && lines.Scan() {
			line = lines.Text()
		}
		return line
	}
	if got := next(); got != "data: subscribe,news,1" {
		t.Fatalf("the stream begins with %q, %v", got, lines.Err())
	}

	const failed = `{"error":"ERR the engine failed: of a pipeline, some commands may have run"}`
	const own, fresh = "test:panics:token", "test:fresh:token"
	wants(t, url, own, `["SET","k","v"]`, 200, `{"result":"OK"}`)
	for _, test := range []struct{ token, export, want string }{
		{own, "handle", "0 " + failed}, {own, "sweep", "-1 "}, {own, "due", "-1 "}, {fresh, "ready", "0 "},
	} {
		_, text, _ := asks(t, "POST", url, test.token, "", "Test-Export: "+test.export, "Test-Damage: 1")
		if text != test.want {
			t.Errorf("%s: %s, not %s", test.export, text, test.want)
		}
	}
	wants(t, url, fresh, `["GET","k"]`, 500, failed, "Test-Damage: 1")
	for _, body := range []string{`["GET","k"]`, `["INCR","n"]`, `["EVAL","redis.call('SET','k','x') return redis.call('APPEND','k','y')",0]`} {
		if status, text, _ := asks(t, "POST", url, own, body, "Test-Damage: 1"); status < 400 || !strings.HasPrefix(text, `{"error":"`) {
			t.Errorf("%s is answered %d %s", body, status, text)
		}
	}
	wants(t, url, own, `["MGET","k","n"]`, 200, `{"result":["v",null]}`)
	wants(t, url, fresh, `["GET","k"]`, 200, `{"result":null}`)
	wants(t, url, "test:listens:token", `["PUBLISH","news","hello"]`, 200, `{"result":1}`)
	if got := next(); got != "data: message,news,hello" {
		t.Errorf("the stream goes on with %q, %v", got, lines.Err())
	}
}

// edgeFirstForm sends SQL as the first meowdis did.
func edgeFirstForm(t *testing.T, url string) {
	const own = "test:first:storageToken"
	wants(t, url, own, `{"init":true}`, 200, `{"results":[]}`)
	wants(t, url, own, `{"statements":[{"sql":"CREATE TABLE t(id INTEGER PRIMARY KEY, b)"},{"sql":"INSERT INTO t(b) VALUES(?),(?),(?)","params":["one",2.5,{"b":"AP8="}]},{"sql":"SELECT * FROM t"}]}`,
		200, `{"results":[[],[],[{"id":1,"b":"one"},{"id":2,"b":2.5},{"id":3,"b":{"b":"AP8="}}]]}`)
	wants(t, url, own, `{"pipeline":[{"statements":[{"sql":"DELETE FROM t"},{"sql":"INSERT INTO t(id) VALUES(1),(1)"}]},{"statements":[{"sql":"SELECT count(*) AS n FROM t"}]}]}`,
		200, `{"results":[{"error":"UNIQUE constraint failed: t.id: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_PRIMARYKEY)"},[[{"n":3}]]]}`)
	if status, text, _ := asks(t, "POST", url, own, `{"statements":[{"sql":"SELEKT"}]}`); status != 400 || !strings.HasPrefix(text, `{"error":"`) {
		t.Errorf("what is no SQL is answered %d %s", status, text)
	}
	for _, body := range []string{`{`, `[]`, `{"statements":[1]}`, `{"b":[1]}`, `{"b":7}`, `null`, "\xff"} {
		if status, text, _ := asks(t, "POST", url, own, body); status != 400 || !strings.HasPrefix(text, `{"error":"`) {
			t.Errorf("%s is answered %d %s", body, status, text)
		}
	}
}

// edgeLatency prints what a client sees, of which nothing is asked here: the machine may be busy.
func edgeLatency(t *testing.T, url string) {
	if !*whole {
		return
	}
	const own = "test:latency:token"
	began := time.Now()
	asks(t, "POST", url, own, `["PING"]`)
	t.Logf("the first request of a database: %v", time.Since(began))
	for _, body := range []string{`["SET","k","v"]`, `["GET","k"]`} {
		var took []time.Duration
		for range 200 {
			began := time.Now()
			asks(t, "POST", url, own, body)
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		t.Logf("%s: p50 %v, p99 %v", body, took[100], took[198])
	}
	var all sync.WaitGroup
	began = time.Now()
	for range 16 {
		all.Go(func() {
			for range 50 {
				asks(t, "POST", url, own, `["SET","k","v"]`)
			}
		})
	}
	all.Wait()
	t.Logf("16 clients: %.0f SET a second", 800/time.Since(began).Seconds())
}
