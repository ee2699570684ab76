package server_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/server"
)

func (s *served) get(t *testing.T, path string) (int, string) {
	t.Helper()
	return s.request(t, "GET", path, "")
}

// request sends a request with the token and further headers, "Name: value" each.
func (s *served) request(t *testing.T, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	status, text, _ := s.exchange(t, method, path, body, append([]string{"Authorization: Bearer " + token}, headers...)...)
	return status, text
}

func (s *served) exchange(t *testing.T, method, path, body string, headers ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequest(method, s.rest+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		if name, value, ok := strings.Cut(h, ": "); ok {
			r.Header.Add(name, value)
		}
	}
	answer, err := http.DefaultClient.Do(r)
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

const (
	asRedis  = "Meowdis-Rules: redis"
	asBase64 = "Upstash-Encoding: base64"
	asRESP2  = "Upstash-Response-Format: resp2"
)

// restCases run in order on one server.
var restCases = []struct {
	method, path, body string
	headers            []string
	status             int
	want               string
}{
	// the body form
	{"POST", "/", `["SET","k","v"]`, nil, 200, `{"result":"OK"}`},
	{"POST", "/", `[ "get" , "k" ]`, nil, 200, `{"result":"v"}`},
	{"PUT", "/", `["GET","k"]`, nil, 200, `{"result":"v"}`},
	{"POST", "/", `["SET","n",9007199254740993]`, nil, 200, `{"result":"OK"}`},
	{"POST", "/", `["INCR","n"]`, nil, 200, `{"result":9007199254740994}`},
	{"POST", "/", `["SET","n",1.50]`, nil, 200, `{"result":"OK"}`},
	{"POST", "/", `["GET","n"]`, nil, 200, `{"result":"1.50"}`},
	{"POST", "/", `["ECHO",true]`, nil, 200, `{"result":"true"}`},
	{"POST", "/", `["ECHO","<é\u00e9\ud83d\ude00\ud83d\"\\\/\b\f\n\r\t>"]`, nil, 200, `{"result":"<éé😀` + "\uFFFD" + `\"\\/\b\f\n\r\t>"}`},
	{"POST", "/", `["ECHO",""]`, nil, 200, `{"result":""}`},
	{"POST", "/", `["GET","nothing"]`, nil, 200, `{"result":null}`},
	{"POST", "/", `["GET"]`, nil, 400, `{"error":"ERR wrong number of arguments for 'get' command"}`},
	{"POST", "/", `["NOPE"]`, nil, 400, `{"error":"ERR unknown command 'NOPE', with args beginning with: "}`},
	{"POST", "/", `[]`, nil, 400, `{"error":"ERR empty command"}`},
	{"POST", "/", ``, nil, 400, `{"error":"ERR failed to parse command"}`},
	{"POST", "/", `{"a":1}`, nil, 400, `{"error":"ERR failed to parse command"}`},
	{"POST", "/", `["GET",null]`, nil, 400, `{"error":"ERR failed to parse command"}`},
	{"POST", "/", `["GET",["k"]]`, nil, 400, `{"error":"ERR failed to parse command"}`},
	{"POST", "/", `["GET","k"`, nil, 400, `{"error":"ERR failed to parse command"}`},
	{"POST", "/", `["MULTI"]`, nil, 400, `{"error":"ERR Command \"MULTI\" is not allowed in REST or it has a special context path"}`},
	{"POST", "/", `["subscribe","c"]`, nil, 400, `{"error":"ERR Command \"SUBSCRIBE\" is not allowed in REST or it has a special context path"}`},
	{"POST", "/", `["CLIENT","ID"]`, nil, 400, `{"error":"ERR Command \"CLIENT\" is not allowed in REST or it has a special context path"}`},
	{"POST", "/", `["CONFIG","GET","databases"]`, nil, 200, `{"result":["databases","16"]}`},

	// the path form
	{"GET", "/get/k", "", nil, 200, `{"result":"v"}`},
	{"GET", "/", "", nil, 400, `{"error":"ERR empty command"}`},
	{"GET", "/echo/a%2Fb%20c%00%c3%a9", "", nil, 200, `{"result":"a/b c\u0000é"}`},
	{"GET", "/echo/", "", nil, 200, `{"result":""}`},
	{"POST", "/set/p", "raw \"body\"", nil, 200, `{"result":"OK"}`},
	{"GET", "/get/p", "", nil, 200, `{"result":"raw \"body\""}`},
	{"POST", "/set/p?EX=100&GET", "next", nil, 200, `{"result":"raw \"body\""}`},
	{"GET", "/set/p/again?XX&_token=x&GET", "", nil, 200, `{"result":"next"}`},
	{"GET", "/echo?a+b%26", "", nil, 200, `{"result":"a b&"}`},
	{"GET", "/incr/k", "", nil, 400, `{"error":"ERR value is not an integer or out of range"}`},
	{"HEAD", "/set/head/1", "", nil, 200, ``},
	{"GET", "/get/head", "", nil, 200, `{"result":"1"}`},

	// pipelines
	{"POST", "/pipeline", `[["SET","a",1],["INCR","a"],["INCR","k"],["GET","nothing"],[],["EXEC"]]`, nil, 200,
		`[{"result":"OK"},{"result":2},{"error":"ERR value is not an integer or out of range"},{"result":null},{"error":"ERR empty pipeline command"},{"error":"ERR Command \"EXEC\" is not allowed in REST or it has a special context path"}]`},
	{"POST", "//pipeline", `[["GET","nothing"]]`, nil, 200, `[{"result":null}]`},
	{"GET", "//get/nothing", ``, nil, 200, `{"result":null}`},
	{"POST", "/pipeline", `[]`, nil, 400, `{"error":"ERR empty pipeline request"}`},
	{"POST", "/pipeline", ``, nil, 400, `{"error":"ERR failed to parse pipeline request"}`},
	{"POST", "/pipeline", `["GET","a"]`, nil, 400, `{"error":"ERR failed to parse pipeline request"}`},
	{"POST", "/pipeline", `[["GET","a"],{"b":1}]`, nil, 400, `{"error":"ERR failed to parse pipeline request"}`},

	// transactions
	{"POST", "/multi-exec", `[["SET","a",1],["INCR","k"],["INCR","a"]]`, nil, 200,
		`[{"result":"OK"},{"error":"ERR value is not an integer or out of range"},{"result":2}]`},
	{"POST", "/multi-exec", `[["SET","a",7],["NOPE"]]`, nil, 400, `{"error":"ERR unknown command 'NOPE', with args beginning with: "}`},
	{"POST", "/multi-exec", `[["SET","a",7],["GET"]]`, nil, 400, `{"error":"ERR wrong number of arguments for 'get' command"}`},
	{"GET", "/blpop/nothing/0", ``, nil, 400, `{"error":"ERR Command \"BLPOP\" is not allowed in REST or it has a special context path"}`},
	{"POST", "/multi-exec", `[["SET","a",7],["MULTI"]]`, nil, 400, `{"error":"ERR Command \"MULTI\" is not allowed in REST or it has a special context path"}`},
	{"POST", "/multi-exec", `[["SET","a",7],[]]`, nil, 400, `{"error":"ERR empty pipeline command"}`},
	{"POST", "/multi-exec", `[]`, nil, 400, `{"error":"ERR empty pipeline request"}`},
	{"GET", "/get/a", "", nil, 200, `{"result":"2"}`},
	{"POST", "/multi-exec", `[["GET","a"]]`, []string{asRESP2}, 200, `[{"result":"2"}]`},

	// forms of the reply
	{"GET", "/get/k", "", []string{asBase64}, 200, `{"result":"dg=="}`},
	{"GET", "/set/k/OK", "", []string{asBase64}, 200, `{"result":"OK"}`},
	{"GET", "/get/k", "", []string{asBase64}, 200, `{"result":"T0s="}`},
	{"GET", "/ping", "", []string{asBase64}, 200, `{"result":"UE9ORw=="}`},
	{"GET", "/get", "", []string{asBase64}, 400, `{"error":"ERR wrong number of arguments for 'get' command"}`},
	{"POST", "/pipeline", `[["SET","k","v"],["GET","k"],["INCR","a"],["GET","nothing"]]`, []string{asBase64}, 200,
		`[{"result":"OK"},{"result":"dg=="},{"result":3},{"result":null}]`},
	{"POST", "/set/bin", "\xff\x00\xfe", nil, 200, `{"result":"OK"}`},
	{"GET", "/get/bin", "", nil, 200, "{\"result\":\"\ufffd\\u0000\ufffd\"}"},
	{"GET", "/get/bin", "", []string{asBase64}, 200, `{"result":"/wD+"}`},
	{"GET", "/get/bin", "", []string{asRESP2}, 200, "$3\r\n\xff\x00\xfe\r\n"},
	{"POST", "/", "[\"ECHO\",\"\xff\x00\"]", []string{asRESP2}, 400, "-ERR failed to parse command\r\n"},
	{"POST", "/", "[\"ECHO\",\"\xff\\u0000\xfe\"]", []string{asRESP2}, 200, "$3\r\n\xff\x00\xfe\r\n"},
	{"GET", "/ping", "", []string{asRESP2}, 200, "+PONG\r\n"},
	{"GET", "/incr/k", "", []string{asRESP2}, 400, "-ERR value is not an integer or out of range\r\n"},
	{"POST", "/pipeline", `[["SET","k","v"],["GET","nothing"]]`, []string{asRESP2}, 200, "+OK\r\n$-1\r\n"},
	{"GET", "/ping", "", []string{"Upstash-Reponse-Format: resp2"}, 200, "+PONG\r\n"},
	{"GET", "/ping", "", []string{"Upstash-Response-Format: json"}, 200, `{"result":"PONG"}`},
	{"GET", "/ping", "", []string{"Upstash-Response-Format: xml"}, 400, `{"error":"ERR unsupported Upstash-Response-Format, it must be json or resp2"}`},
	{"GET", "/ping", "", []string{asRESP2, asBase64}, 400, `{"error":"ERR Upstash-Encoding base64 cannot be combined with Upstash-Response-Format resp2"}`},

	// Upstash's rules where they differ from Redis's
	{"GET", "/copy/k/k", "", nil, 200, `{"result":0}`},
	{"GET", "/copy/k/k", "", []string{asRedis}, 400, `{"error":"ERR source and destination objects are the same"}`},
	{"POST", "/", `["JSON.SET","doc","$","{\"x\":{\"x\":1},\"y\":{\"x\":2}}"]`, nil, 200, `{"result":"OK"}`},
	{"POST", "/", `["JSON.GET","doc","$..x"]`, nil, 200, `{"result":"[1,2,{\"x\":1}]"}`},
	{"POST", "/", `["JSON.GET","doc","$..x"]`, []string{asRedis}, 200, `{"result":"[{\"x\":1},1,2]"}`},
	{"POST", "/multi-exec", `[["XADD","st","1-1","f","v"],["XADD","st","1-2","f","v"],["XTRIM","st","MAXLEN","~",1]]`, []string{asRedis}, 200, `[{"result":"1-1"},{"result":"1-2"},{"result":0}]`},
	{"POST", "/multi-exec", `[["XTRIM","st","MAXLEN","~",1]]`, nil, 200, `[{"result":1}]`},
	{"GET", "/hset/far/f/v", "", nil, 200, `{"result":1}`},
	{"GET", "/hexpireat/far/1900000000000/fields/1/f", "", []string{asRedis}, 400, `{"error":"ERR invalid expire time in 'hexpireat' command"}`},
	{"GET", "/hexpireat/far/1900000000000/fields/1/f", "", nil, 200, `{"result":[1]}`},
	{"GET", "/hexpiretime/far/fields/1/f", "", nil, 200, `{"result":[70368744178]}`},
	{"POST", "/", `["FUNCTION","LOAD","#!lua name=l\nredis.register_function('get', function(k) return redis.call('GET', k[1]) end)\nredis.register_function('put', function(k) return redis.call('SET', k[1], 1) end)"]`, nil, 200, `{"result":"l"}`},
	{"GET", "/fcall_ro/get/1/k", "", nil, 200, `{"result":"v"}`},
	{"GET", "/fcall_ro/get/1/k", "", []string{asRedis}, 400, `{"error":"ERR Can not execute a script with write flag using *_ro command."}`},
	{"GET", "/fcall_ro/put/1/k", "", nil, 400, `{"error":"ERR Write commands are not allowed from read-only scripts. script: put, on @user_function:3."}`},

	// databases
	{"GET", "/set/k/three", "", []string{"Meowdis-Database: 3"}, 200, `{"result":"OK"}`},
	{"GET", "/get/k", "", []string{"Meowdis-Database: 3"}, 200, `{"result":"three"}`},
	{"GET", "/get/k", "", nil, 200, `{"result":"v"}`},
	{"POST", "/pipeline", `[["SELECT",3],["GET","k"]]`, nil, 200, `[{"result":"OK"},{"result":"three"}]`},
	{"GET", "/get/k", "", []string{"Meowdis-Database: 16"}, 400, `{"error":"ERR DB index is out of range"}`},
	{"GET", "/get/k", "", []string{"Meowdis-Database: x"}, 400, `{"error":"ERR value is not an integer or out of range"}`},

	// methods and limits
	{"DELETE", "/get/k", "", nil, 405, `{"error":"ERR method not allowed"}`},
	{"POST", "/set/k", strings.Repeat("x", 1001), nil, 400, `{"error":"ERR max request size exceeded. Limit: 1000 bytes, Actual: 1001 bytes"}`},
}

func TestREST(t *testing.T) {
	s := serve(t, server.Config{MaxRequest: 1000})
	for _, c := range restCases {
		status, got := s.request(t, c.method, c.path, c.body, c.headers...)
		if status != c.status || got != c.want {
			t.Errorf("%s %s %q %q\ngot  %d %s\nwant %d %s", c.method, c.path, c.body, c.headers, status, got, c.status, c.want)
		}
	}
}

// TestRESTOfManyWords limits the words of a request. Commas in strings do not count.
func TestRESTOfManyWords(t *testing.T) {
	race.Skip(t)
	s := serve(t, server.Config{})
	const most = 1 << 20
	want := fmt.Sprintf(`{"error":"ERR max request arguments exceeded. Limit: %d, Actual: %d"}`, most, most+1)
	for _, c := range []struct{ path, body string }{
		{"/", "[1" + strings.Repeat(",1", most) + "]"},
		{"/pipeline", "[[]" + strings.Repeat(",[]", most) + "]"},
		{"/multi-exec", "[[1" + strings.Repeat(",1],[1", most/2) + "]]"},
	} {
		if status, got := s.request(t, "POST", c.path, c.body); status != 400 || got != want {
			t.Errorf("%s: %d %.200s", c.path, status, got)
		}
	}
	commands := "[[]" + strings.Repeat(",[]", most/4) + "]"
	if status, got := s.request(t, "POST", "/pipeline", commands); status != 400 || !strings.Contains(got, "Limit: 262144, Actual: 262145") {
		t.Errorf("%d %.200s", status, got)
	}
	for _, body := range []string{
		`["ECHO","` + strings.Repeat(`,\"`, most) + `"]`,
		`["DEL"` + strings.Repeat(`,1`, most-1) + "]",
	} {
		if status, got := s.request(t, "POST", "/", body); status != 200 {
			t.Errorf("%.20s: %d %.200s", body, status, got)
		}
	}
}

func TestRESTAuthorization(t *testing.T) {
	s := serve(t, server.Config{})
	const refused = `{"error":"WRONGPASS invalid or missing auth token"}`
	for _, c := range []struct {
		path, header string
		status       int
		want         string
	}{
		{"/ping", "Authorization: Bearer " + token, 200, `{"result":"PONG"}`},
		{"/ping", "authorization: bearer " + token, 200, `{"result":"PONG"}`},
		{"/ping?_token=a%20token", "", 200, `{"result":"PONG"}`},
		{"/ping", "", 401, refused},
		{"/ping", "Authorization: Bearer ", 401, refused},
		{"/ping", "Authorization: Bearer wrong", 401, refused},
		{"/ping", "Authorization: Basic " + token, 401, refused},
		{"/ping?_token=wrong", "", 401, refused},
	} {
		status, got, _ := s.exchange(t, "GET", c.path, "", c.header)
		if status != c.status || got != c.want {
			t.Errorf("%s %q: got %d %s, want %d %s", c.path, c.header, status, got, c.status, c.want)
		}
	}
}

// Without a token the server refuses every client.
func TestRESTWithoutToken(t *testing.T) {
	w := &recorder{header: http.Header{}}
	r, err := http.NewRequest("GET", "/ping", nil)
	if err != nil {
		t.Fatal(err)
	}
	server.New(server.Config{}).REST().ServeHTTP(w, r)
	if w.status != http.StatusUnauthorized {
		t.Errorf("a server without a token answers %d", w.status)
	}
}

type recorder struct {
	header http.Header
	status int
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(b []byte) (int, error) { return len(b), nil }

func TestRESTHeaders(t *testing.T) {
	s := serve(t, server.Config{})
	seen := map[string]bool{}
	for range 3 {
		_, _, h := s.exchange(t, "GET", "/ping", "", "Authorization: Bearer "+token, "Meowdis-Database: 5")
		sync := h.Get("Upstash-Sync-Token")
		if sync == "" || seen[sync] {
			t.Errorf("the sync token is %q again", sync)
		}
		seen[sync] = true
		if got := h.Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type is %s", got)
		}
		if got := h.Get("Meowdis-Database"); got != "5" {
			t.Errorf("Meowdis-Database is %s", got)
		}
	}
	_, _, h := s.exchange(t, "GET", "/ping", "", "Authorization: Bearer "+token, asRESP2)
	if got := h.Get("Content-Type"); got != "application/octet-stream" {
		t.Errorf("Content-Type of RESP2 is %s", got)
	}
	if status, _, h := s.exchange(t, "PATCH", "/ping", ""); status != 405 || h.Get("Allow") == "" {
		t.Errorf("PATCH is answered by %d, Allow %q", status, h.Get("Allow"))
	}
}
