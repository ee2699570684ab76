package remote_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/remote"
)

// endpoint imitates a REST endpoint over an engine, as much of the protocol as it
// is set to.
type endpoint struct {
	raw, base64   bool // forms of reply that it knows
	original      bool // the original meowdis's shapes
	databases     bool // confirms Meowdis-Database
	stops         bool // confirms Meowdis-Pipeline
	uninitialised bool
	limit         int64 // bytes of a request; 0 for none
	status        int   // of a request that is larger

	engine   *engine.Engine
	requests atomic.Int32
	drop     atomic.Int32 // requests that are carried out and never answered
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.requests.Add(1)
	if r.Header.Get("Authorization") != "Bearer T" {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"WRONGPASS invalid or missing auth token"}`)
		return
	}
	if e.limit > 0 && r.ContentLength > e.limit {
		if e.raw {
			w.Header().Set("Content-Type", "application/octet-stream")
		}
		w.WriteHeader(e.status)
		switch {
		case e.status == http.StatusRequestEntityTooLarge:
			fmt.Fprint(w, "<html>413 Request Entity Too Large</html>")
		case e.raw:
			fmt.Fprint(w, "-ERR max request size exceeded. Limit: 2000 bytes\r\n")
		default:
			fmt.Fprint(w, `{"error":"ERR max request size exceeded. Limit: 2000 bytes"}`)
		}
		return
	}
	s := e.engine.Session()
	if db := r.Header.Get("Meowdis-Database"); db != "" && e.databases {
		w.Header().Set("Meowdis-Database", db)
		s.Do(r.Context(), []byte("SELECT"), []byte(db))
	}
	run := s.Pipeline
	if e.stops && r.Header.Get("Meowdis-Pipeline") == "until-error" {
		w.Header().Set("Meowdis-Pipeline", "until-error")
		run = s.PipelineUntilError
	}
	calls, single := requestCalls(r)
	if e.uninitialised {
		if strings.EqualFold(string(calls[0][0]), "init") {
			e.uninitialised = false
			fmt.Fprint(w, `{"result":"OK"}`)
		} else {
			fmt.Fprint(w, `{"error":"no such table: keys: SQLITE_ERROR"}`)
		}
		return
	}
	if r.URL.Path == "/multi-exec" && !e.original {
		v, _ := run(r.Context(), append(append([][][]byte{{[]byte("MULTI")}}, calls...), [][]byte{[]byte("EXEC")}))
		e.answer(w, r, false, v[len(v)-1].Elems)
		return
	}
	replies, _ := run(r.Context(), calls)
	if e.drop.Add(-1) >= 0 {
		panic(http.ErrAbortHandler)
	}
	e.answer(w, r, single, replies)
}

func requestCalls(r *http.Request) (calls [][][]byte, single bool) {
	var rows []json.RawMessage
	if json.NewDecoder(r.Body).Decode(&rows) != nil {
		panic("the imitation takes JSON")
	}
	var words []string
	for _, row := range rows {
		if row[0] != '[' {
			single = true
			var word string
			json.Unmarshal(row, &word)
			words = append(words, word)
			continue
		}
		json.Unmarshal(row, &words)
		calls = append(calls, byteWords(words))
		words = nil
	}
	if single {
		calls = append(calls, byteWords(words))
	}
	return calls, single
}

func byteWords(words []string) [][]byte {
	out := make([][]byte, len(words))
	for i, w := range words {
		out[i] = []byte(w)
	}
	return out
}

func (e *endpoint) answer(w http.ResponseWriter, r *http.Request, single bool, replies []resp.Value) {
	if e.raw && r.Header.Get("Upstash-Response-Format") == "resp2" {
		w.Header().Set("Content-Type", "application/octet-stream")
		for _, v := range replies {
			w.Write(resp.Append2(nil, v))
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	encode := e.base64 && r.Header.Get("Upstash-Encoding") == "base64"
	items := []any{}
	for _, v := range replies {
		if e.original && !single && !v.IsError() {
			items = append(items, e.json(v, encode, false))
		} else if v.IsError() {
			items = append(items, map[string]any{"error": string(v.Str)})
		} else {
			items = append(items, map[string]any{"result": e.json(v, encode, true)})
		}
	}
	if single {
		if replies[0].IsError() && !e.original {
			w.WriteHeader(http.StatusBadRequest)
		}
		json.NewEncoder(w).Encode(items[0])
	} else if e.original {
		json.NewEncoder(w).Encode(map[string]any{"result": items})
	} else {
		json.NewEncoder(w).Encode(items)
	}
}

func (e *endpoint) json(v resp.Value, encode, top bool) any {
	switch v.Kind {
	case resp.Null, resp.NullArray:
		return nil
	case resp.Int:
		return v.Int
	case resp.Array:
		list := []any{}
		for _, x := range v.Elems {
			list = append(list, e.json(x, encode, false))
		}
		return list
	}
	plainOK := v.Kind == resp.Status && string(v.Str) == "OK" && top && !e.original
	if encode && !plainOK {
		return base64.StdEncoding.EncodeToString(v.Str)
	}
	return string(v.Str)
}

func serve(t *testing.T, e *endpoint) *remote.REST {
	t.Helper()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	e.engine = engine.New(file)
	web := httptest.NewServer(e)
	t.Cleanup(func() { web.Close(); file.Close() })
	r, err := remote.OpenREST(web.URL, "T", remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// say runs a line and shows its reply.
func say(t *testing.T, d keyspace.Client, line string) string {
	t.Helper()
	words, err := resp.SplitLine(line)
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.Do(context.Background(), words...)
	if err != nil {
		return "failed: " + err.Error()
	}
	return string(resp.AppendTyped(nil, v, false))
}

func talk(t *testing.T, d keyspace.Client, lines [][2]string) {
	t.Helper()
	for _, l := range lines {
		if got := say(t, d, l[0]); got != l[1] {
			t.Errorf("%s\ngot  %s\nwant %s", l[0], got, l[1])
		}
	}
}

// everywhere is what all endpoints answer alike.
var everywhere = [][2]string{
	{"PING", "PONG"},
	{"SET k OK", "OK"},
	{"GET k", `"OK"`},
	{`SET k "a\x00\n\"é"`, "OK"},
	{"GET k", `"a\x00\n\"\xc3\xa9"`},
	{"GET none", "(nil)"},
	{"INCR n", "(integer) 1"},
	{"INCR k", "(error) ERR value is not an integer or out of range"},
	{"GET", "(error) ERR wrong number of arguments for 'get' command"},
	{"EXEC", "(error) ERR EXEC without MULTI"},
	{"WATCH k", "(error) ERR WATCH needs a connection of its own, and a REST endpoint has none"},
	{"UNWATCH", "OK"},
	{"SELECT 0", "OK"},
	{"SELECT 16", "(error) ERR DB index is out of range"},
}

func TestRESTForms(t *testing.T) {
	for name, e := range map[string]*endpoint{
		"resp2":               {raw: true, base64: true},
		"base64":              {base64: true},
		"plain":               {},
		"original":            {original: true, base64: true, uninitialised: true},
		"original, no base64": {original: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, e)
			talk(t, r, everywhere)
			replies, err := r.Pipeline(context.Background(), [][][]byte{
				byteWords([]string{"SET", "p", "1"}), byteWords([]string{"INCR", "p"}), {}, byteWords([]string{"INCR", "k"}), byteWords([]string{"GET", "p"}),
			})
			if err != nil {
				t.Fatal(err)
			}
			want := `1) OK
2) (integer) 2
3) (error) ERR empty command
4) (error) ERR value is not an integer or out of range
5) "2"`
			if got := string(resp.AppendTyped(nil, resp.MakeArray(replies...), false)); got != want {
				t.Errorf("pipeline:\n%s", got)
			}
		})
	}
}

func TestRESTLargeRequests(t *testing.T) {
	for _, e := range []*endpoint{
		{raw: true, limit: 2000, status: http.StatusBadRequest}, {base64: true, limit: 2000, status: http.StatusBadRequest},
		{raw: true, limit: 2000, status: http.StatusRequestEntityTooLarge},
	} {
		r := serve(t, e)
		var calls [][][]byte
		for i := range 10 {
			calls = append(calls, [][]byte{[]byte("SET"), fmt.Append(nil, i), []byte(strings.Repeat("x", 500))})
		}
		calls[4][2] = []byte(strings.Repeat("x", 5000))
		for _, run := range []func(context.Context, [][][]byte) ([]resp.Value, error){r.Pipeline, r.PipelineUntilError} {
			replies, err := run(context.Background(), calls)
			if err != nil || len(replies) < 5 {
				t.Fatal(replies, err)
			}
			for i, v := range replies {
				if bad := strings.HasPrefix(string(v.Str), "ERR max request size exceeded"); bad != (i == 4) {
					t.Errorf("%d %d: %s", e.status, i, v.Str)
				}
			}
		}
		if got := say(t, r, "DBSIZE"); got != "(integer) 9" {
			t.Error(got)
		}
	}
}

func TestRESTKeepsBytes(t *testing.T) {
	for name, e := range map[string]*endpoint{"resp2": {raw: true}, "base64": {base64: true}} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, e)
			if _, err := e.engine.Session().Do(context.Background(), []byte("SET"), []byte("b"), []byte("\xff\x00")); err != nil {
				t.Fatal(err)
			}
			talk(t, r, [][2]string{{"GET b", `"\xff\x00"`}, {"GET b", `"\xff\x00"`}})
		})
	}
}

func TestRESTTransactions(t *testing.T) {
	for name, e := range map[string]*endpoint{"resp2": {raw: true, base64: true}, "plain": {}, "databases": {databases: true}} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, e)
			talk(t, r, [][2]string{
				{"SET s x", "OK"},
				{"MULTI", "OK"},
				{"MULTI", "(error) ERR MULTI calls can not be nested"},
				{"SET a OK", "QUEUED"},
				{"GET a", "QUEUED"},
				{"UNWATCH", "QUEUED"},
				{"INCR s", "QUEUED"},
				{"EXEC", "1) OK\n2) \"OK\"\n3) OK\n4) (error) ERR value is not an integer or out of range"},
				{"MULTI", "OK"},
				{"SET a 2", "QUEUED"},
				{"DISCARD", "OK"},
				{"MULTI", "OK"},
				{"SET a 3", "QUEUED"},
				{"NOPE", "(error) ERR unknown command 'NOPE', with args beginning with: "},
				{"EXEC", "(error) EXECABORT Transaction discarded because of previous errors."},
				{"MULTI", "OK"},
				{"EXEC", "(empty array)"},
				{"GET a", `"OK"`},
			})
		})
	}
	t.Run("original", func(t *testing.T) {
		talk(t, serve(t, &endpoint{original: true, base64: true}), [][2]string{
			{"MULTI", "(error) ERR this endpoint has no transactions: commands are refused until EXEC or DISCARD"},
			{"SET a 1", "(error) ERR MULTI was refused, since this endpoint has no transactions; DISCARD ends it"},
			{"EXEC", "(error) EXECABORT Transaction discarded because of previous errors."},
			{"GET a", "(nil)"},
			{"MULTI", "(error) ERR this endpoint has no transactions: commands are refused until EXEC or DISCARD"},
			{"DISCARD", "OK"},
			{"SET a 1", "OK"},
		})
	})
}

func TestRESTDatabases(t *testing.T) {
	r := serve(t, &endpoint{raw: true, databases: true})
	talk(t, r, [][2]string{
		{"SET k zero", "OK"}, {"SELECT 3", "OK"}, {"GET k", "(nil)"}, {"SET k three", "OK"},
		{"SELECT 0", "OK"}, {"GET k", `"zero"`}, {"SELECT 3", "OK"}, {"GET k", `"three"`},
	})
	if r.DB() != 3 {
		t.Errorf("DB is %d", r.DB())
	}
	talk(t, serve(t, &endpoint{raw: true}), [][2]string{
		{"SELECT 3", "(error) ERR this endpoint has one database"}, {"SET k v", "OK"},
	})
}

func TestRESTUntilError(t *testing.T) {
	for name, e := range map[string]*endpoint{"waits": {raw: true}, "stops": {raw: true, stops: true}} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, e)
			calls := [][][]byte{byteWords([]string{"PING"}), byteWords([]string{"SET", "a", "x"}), byteWords([]string{"GET", "a"}), byteWords([]string{"INCR", "a"})}
			for range 200 {
				calls = append(calls, byteWords([]string{"SET", "a", "y"}))
			}
			replies, err := r.PipelineUntilError(context.Background(), calls)
			if err != nil || len(replies) != 4 || !replies[3].IsError() {
				t.Fatalf("got %d replies, error %v", len(replies), err)
			}
			if e.stops && e.requests.Load() > 4 {
				t.Errorf("%d requests", e.requests.Load())
			}
			talk(t, r, [][2]string{{"GET a", `"x"`}})
		})
	}
}

func TestRESTRetries(t *testing.T) {
	e := &endpoint{raw: true}
	r := serve(t, e)
	remote.WithoutWaiting(r)
	for _, c := range []struct {
		line, want string
	}{
		{"GET k", "(nil)"},
		{"SET k 5", "OK"},
		{"INCR k", "failed"},
		{"GET k", `"6"`}, // it ran once, and was not repeated
	} {
		e.drop.Store(1)
		if got := say(t, r, c.line); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.line, got, c.want)
		}
	}
}

func TestRESTFailures(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>hello</html>") }))
	defer page.Close()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer broken.Close()
	good := httptest.NewServer(&endpoint{})
	defer good.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for url, want := range map[string]string{
		page.URL:                     "does not answer as a REST endpoint does",
		broken.URL:                   "answered HTTP 502: Bad Gateway",
		good.URL:                     "refused the token: WRONGPASS invalid or missing auth token",
		gone.URL + "/?_token=secret": "connection refused",
	} {
		r, err := remote.OpenREST(url, "wrong", remote.Options{})
		if err != nil {
			t.Fatal(err)
		}
		remote.WithoutWaiting(r)
		got := say(t, r, "GET k")
		if !strings.HasPrefix(got, "failed: ") || !strings.Contains(got, want) || strings.Contains(got, "secret") {
			t.Errorf("%s: got %s, want %s", url, got, want)
		}
	}
	if _, err := remote.OpenREST("redis://x", "", remote.Options{}); err == nil {
		t.Error("redis:// is no REST endpoint")
	}
}

// impatient is the endpoint's side of a connection. It loses what arrives after the connection was idle for 5 s.
type impatient struct {
	net.Conn
	used time.Time
}

func (c *impatient) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if time.Since(c.used) >= 5*time.Second {
		return 0, io.EOF
	}
	c.used = time.Now()
	return n, err
}

// dialed hands out connections that were made without a network.
type dialed chan net.Conn

func (d dialed) Accept() (net.Conn, error) {
	if c, open := <-d; open {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (d dialed) Close() error   { close(d); return nil }
func (d dialed) Addr() net.Addr { return &net.UnixAddr{} }

// TestRESTAfterIdling loses no write to a connection that the endpoint has closed since it was idle.
func TestRESTAfterIdling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connections := make(dialed)
		web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"result":1}`) })}
		go web.Serve(connections)
		defer web.Close()
		r, err := remote.OpenREST("http://cats.example", "T", remote.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		remote.DialWith(r, func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			connections <- &impatient{there, time.Now()}
			return here, nil
		})
		for _, idle := range []time.Duration{0, time.Second, 3 * time.Second, 5 * time.Second, time.Minute, time.Hour} {
			time.Sleep(idle)
			if got := say(t, r, "INCR n"); got != "(integer) 1" {
				t.Errorf("after %v: %s", idle, got)
			}
		}
	})
}

func TestRESTGivesUpWithItsContext(t *testing.T) {
	silent := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-silent }))
	defer web.Close()
	defer close(silent)
	r, err := remote.OpenREST(web.URL, "T", remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := r.Do(ctx, []byte("PING")); err == nil {
		t.Error("no error")
	}
}
