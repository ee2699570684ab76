package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/wire"
)

// storageOf returns the handler of a storage in memory.
func storageOf(t *testing.T, c server.Config) (http.Handler, *local.Store) {
	t.Helper()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	c.Engine, c.PublicMessage = engine.New(file), local.PublicMessage
	c.Storage = server.Storage{Apply: file.Apply, Columns: file.Columns, Token: "purr", ReadOnlyToken: "look"}
	c.Sleep = func(<-chan struct{}, time.Duration) {}
	return server.New(c).Storage(), file
}

func post(h http.Handler, token, body string) (int, string) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

const insert = `INSERT INTO libraries(name, version, code) VALUES('cat', 1, 'x')`

// TestStorageForms sends batches in both forms to one storage.
func TestStorageForms(t *testing.T) {
	h, _ := storageOf(t, server.Config{})
	for _, test := range []struct {
		token, body string
		status      int
		want        string
	}{
		{"", `{"b":[]}`, 401, `{"error":"the token is wrong or missing"}`},
		{"hiss", `{"b":[]}`, 401, `{"error":"the token is wrong or missing"}`},
		{"purr", `{"b":[]}`, 200, `{"r":[]}`},
		{"purr", ` { "b" : [[]] } `, 200, `{"r":[{"ok":[],"n":[]}]}`},
		{"purr", `{"b":[[["SELECT ?1, ?2",{"i":"9223372036854775807"},{"b":"AP8="}]]],"read":true}`, 200, `{"r":[{"ok":[[[{"i":"9223372036854775807"},{"b":"AP8="}]]]}]}`},
		{"purr", `{"b":[[["INSERT INTO guard VALUES(NULL)"]],[["SELECT 1"],["SELEC"]],[["SELECT 2"]]]}`, 200,
			`{"r":[{"err":"NOT NULL constraint failed: guard.ok","at":0,"ok":[],"n":[]},` +
				`{"err":"preparing \"SELEC\": near \"SELEC\": syntax error","at":1,"why":"bad","ok":[[[1]]],"n":[0]},{"ok":[[[2]]],"n":[0]}]}`},
		{"purr", `{"b":[[["SELECT zeroblob(100)"]]],"max":50,"read":true}`, 200, `{"r":[{"ok":[[[{"b":"` + strings.Repeat("A", 134) + `=="}]]]}]}`},
		{"purr", `{"b":[[["SELECT`, 400, `{"error":"reading the request: unexpected EOF"}`},
		{"purr", `{"b":[],"x":1}`, 400, `{"error":"reading the request: unknown member \"x\""}`},
		{"purr", ``, 400, `{"error":"reading the request: EOF"}`},
		{"purr", `{"init":true}`, 200, `{"results":[]}`},
		{"purr", `{}`, 400, ``},
		{"purr", `{"statements":[],"pipeline":[]}`, 400, ``},
		{"purr", `{"statements":[{"sql":"SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e, ? AS f","params":["x",1,1.5,null,true,{"b":"AP8="}]}]}`, 200,
			`{"results":[[{"a":"x","b":1,"c":1.5,"d":null,"e":1,"f":{"b":"AP8="}}]]}`},
		{"purr", `{"statements":[{"sql":"SELECT 9007199254740993 AS \"a\"\"\", 9e999 AS b"},{"sql":"SELECT 1 WHERE 0"}]}`, 200, `{"results":[[{"a\"":9007199254740993,"b":null}],[]]}`},
		{"purr", `{"statements":[{"sql":"` + insert + `"},{"sql":"SELEC"}]}`, 400, ``},
		{"purr", `{"statements":[{"sql":"SELECT count(*) AS n FROM libraries"}]}`, 200, `{"results":[[{"n":0}]]}`},
		{"purr", `{"pipeline":[{"statements":[{"sql":"` + insert + `"}]},{"statements":[{"sql":"` + insert + `"}]},{"statements":[{"sql":"SELECT count(*) AS n FROM libraries"}]}]}`, 200,
			`{"results":[[[]],{"error":"UNIQUE constraint failed: libraries.name"},[[{"n":1}]]]}`},
		{"purr", `{"statements":[{"sql":"SELECT ?","params":[[1]]}]}`, 400, ``},
		{"look", `{"b":[[["SELECT count(*) FROM libraries"]]]}`, 200, `{"r":[{"ok":[[[1]]],"n":[0]}]}`},
		{"look", `{"b":[[["SELECT count(*) FROM libraries"]]],"read":true}`, 200, `{"r":[{"ok":[[[1]]]}]}`},
		{"look", `{"b":[[["DELETE FROM libraries"]]]}`, 200, `{"r":[{"err":"the statement writes in a read-only batch","at":0,"why":"bad","ok":[],"n":[]}]}`},
		{"look", `{"statements":[{"sql":"DELETE FROM libraries"}]}`, 400, `{"error":"the statement writes in a read-only batch"}`},
		{"purr", `{"b":[[["DELETE FROM libraries"]]],"read":true}`, 200, `{"r":[{"err":"the statement writes in a read-only batch","at":0,"why":"bad","ok":[]}]}`},
		{"purr", `{"statements":[{"sql":"PRAGMA user_version"}]}`, 400, `{"error":"not authorized"}`},
	} {
		status, got := post(h, test.token, test.body)
		if status != test.status || test.want != "" && got != test.want {
			t.Errorf("%s\n%d %s, want\n%d %s", test.body, status, got, test.status, test.want)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", w.Code)
	}
}

// TestStorageLimits checks the limits of memory and time for requests.
func TestStorageLimits(t *testing.T) {
	h, file := storageOf(t, server.Config{MaxRequestMemory: 1 << 20})
	for _, test := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"b":[[["` + strings.Repeat("x", 2<<20) + `"]]]}`, 413, "request memory limit exceeded"},
		{`{"statements":[{"sql":"` + strings.Repeat("x", 2<<20) + `"}]}`, 413, "request memory limit exceeded"},
		{`{"b":[[["SELECT zeroblob(20000000)"]]],"read":true}`, 200, `"at":0,"why":"rows"`},
		{`{"statements":[{"sql":"SELECT zeroblob(20000000)"}]}`, 400, "request memory limit exceeded"},
		{`{"b":[[["WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"]]]}`, 200, `"at":0,"ms":20,"why":"late"`},
		{`{"b":[[["WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"]]],"read":true}`, 200, `"at":0,"ms":20,"why":"late"`},
	} {
		if strings.Contains(test.want, "late") { // the others may take longer on a busy machine
			file.SetTimeLimit(20 * time.Millisecond)
		}
		if status, got := post(h, "purr", test.body); status != test.status || !strings.Contains(got, test.want) {
			t.Errorf("%.100s\n%d %.300s, want\n%d %s", test.body, status, got, test.status, test.want)
		}
	}
	// A full answer leaves the remaining batches for another request.
	h, _ = storageOf(t, server.Config{})
	big := `[["SELECT zeroblob(5000000)"]]`
	if _, got := post(h, "purr", `{"b":[`+big+`,`+big+`,`+big+`],"read":true}`); strings.Count(got, `"ok"`) != 2 {
		t.Errorf("an answer has %d results", strings.Count(got, `"ok"`))
	}
	if _, got := post(h, "purr", `{"pipeline":[{"statements":[{"sql":"SELECT zeroblob(5000000) AS x"}]},{"statements":[{"sql":"SELECT zeroblob(5000000) AS x"}]},{"statements":[{"sql":"SELECT 1 AS y"}]}]}`); strings.Count(got, `"x"`) != 2 || !strings.Contains(got, `,[[{"y":1}]]]}`) {
		t.Errorf("a pipeline has %d results", strings.Count(got, `"x"`))
	}
}

// TestStorageBesideClients writes through the storage while one client of the server is blocked on a key and another
// tracks its reads.
func TestStorageBesideClients(t *testing.T) {
	file, err := local.Open(t.TempDir()+"/db.sqlite", local.Options{SweepEvery: -1, RowCacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	e := engine.New(file)
	h := server.New(server.Config{Engine: e, Storage: server.Storage{Apply: file.Apply, Columns: file.Columns, Token: "purr"}}).Storage()
	local := storetest.NewClient(t, e)
	local.Want("SET cat tom", "OK")
	for range 3 {
		local.Want("GET cat", `"tom"`)
	}
	popped := make(chan resp.Value, 1)
	go func() {
		v, err := e.Session().Do(context.Background(), []byte("BLPOP"), []byte("mice"), []byte("0"))
		if err != nil {
			t.Error(err)
		}
		popped <- v
	}()
	for waiting := 0; waiting == 0; waiting, _, _ = e.Blocked() {
		time.Sleep(time.Millisecond)
	}
	there := storetest.NewClient(t, engine.New(handled{h}))
	there.Want("SET cat felix", "OK")
	local.Want("GET cat", `"felix"`)
	there.Want("RPUSH mice jerry", "(integer) 1")
	select {
	case v := <-popped:
		if len(v.Elems) != 2 || string(v.Elems[1].Str) != "jerry" {
			t.Errorf("it popped %+v", v)
		}
	case <-time.After(time.Minute):
		t.Error("the client still waits")
	}
	local.Want("EXISTS mice", "(integer) 0")
}

// handled is a store that calls an HTTP handler.
type handled struct{ handler http.Handler }

func (h handled) Apply(_ context.Context, batches []store.Batch) ([]store.Result, error) {
	q := wire.Request{Batches: batches}
	stmts, reads := make([]int, len(batches)), true
	for i, b := range batches {
		stmts[i], reads = len(b.Stmts), reads && b.ReadOnly
	}
	_, answer := post(h.handler, "purr", string(wire.AppendRequest(nil, &q)))
	return wire.ReadResponse(strings.NewReader(answer), stmts, reads, wire.Limits{Bytes: 1 << 20})
}

// TestStorageParts refuses a small request of the legacy API that would be large in memory, but accepts a large text.
func TestStorageParts(t *testing.T) {
	h, _ := storageOf(t, server.Config{MaxRequestMemory: 8 << 20})
	for body, want := range map[string]int{
		`{"statements":[` + strings.Repeat(`{},`, 50_000) + `{}]}`:                                   413,
		`{"statements":[{"sql":"SELECT 1","params":[` + strings.Repeat(`1,`, 50_000) + `1]}]}`:       413,
		`{"statements":[{"sql":"SELECT ?","params":["` + strings.Repeat(`\"[{,`, 50_000) + `\\"]}]}`: 200,
	} {
		if status, says := post(h, "look", body); status != want {
			t.Errorf("%.60s: %d %.200s, want %d", body, status, says, want)
		}
	}
}
