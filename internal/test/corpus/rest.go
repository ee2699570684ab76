package corpus

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// REST is a client of an endpoint that speaks Upstash's protocol. It asks for RESP2, the exact form.
type REST struct {
	URL, Token string
	Header     http.Header // of each request, too
	db         int
}

// Way is a way to send a command.
type Way func(c *REST, args [][]byte) (resp.Value, error)

// PlayREST runs the transcript over REST, by a client for each of its own. advance moves the clock
// of the endpoint.
func (tr Transcript) PlayREST(t testing.TB, advance func(ms int64), send Way, clients []*REST) {
	t.Helper()
	for i := 0; i < len(tr.Steps); i++ {
		step := tr.Steps[i]
		if step.Clock != 0 {
			advance(step.Clock)
		}
		c := clients[step.Client-1]
		if n := queued(tr.Steps[i:]); n > 0 {
			c.transaction(t, tr, tr.Steps[i+1:i+n], tr.Steps[i+n])
			i += n
			continue
		}
		got, err := send(c, step.Args)
		if err != nil {
			t.Fatalf("%s.txt:%d: %q: %v", tr.Name, step.Line, step.Args, err)
		}
		if !step.Matches(got) {
			t.Errorf("%s.txt:%d: %q\nover REST:  %s\ntranscript: %s", tr.Name, step.Line, step.Args, Show(got), step.Want)
		}
		if name(step) == "SELECT" && !got.IsError() {
			c.db, _ = strconv.Atoi(string(step.Args[1]))
		}
	}
}

func name(s Step) string { return strings.ToUpper(string(s.Args[0])) }

// queued returns the distance from MULTI to its EXEC if /multi-exec is equivalent: one client
// queues all steps between, and the clock stands still.
func queued(steps []Step) int {
	if name(steps[0]) != "MULTI" || steps[0].Want != "OK" {
		return 0
	}
	for n, s := range steps[1:] {
		switch {
		case s.Client != steps[0].Client || s.Clock != 0:
			return 0
		case name(s) == "EXEC" && n > 0:
			return n + 1
		case s.Want != "QUEUED" || name(s) == "SELECT":
			return 0
		}
	}
	return 0
}

// NeedsConnection reports whether the transcript has a command that acts on its
// connection, other than a transaction that /multi-exec can do.
func (tr Transcript) NeedsConnection() bool {
	for i := 0; i < len(tr.Steps); i++ {
		if n := queued(tr.Steps[i:]); n > 0 {
			i += n
			continue
		}
		switch s := tr.Steps[i]; name(s) {
		case "AUTH", "CLIENT", "HELLO", "RESET", "QUIT", "MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH":
			return true
		default:
			if cmd := commands.Lookup(name(s)); cmd != nil && cmd.Flags&commands.Blocking != 0 {
				return true
			}
		}
	}
	return false
}

// Body sends a command as the body.
func (c *REST) Body(args [][]byte) (resp.Value, error) {
	return c.post("/", appendJSON(nil, args))
}

// Pipeline sends a command as a pipeline of one.
func (c *REST) Pipeline(args [][]byte) (resp.Value, error) {
	return c.post("/pipeline", append(appendJSON([]byte("["), args), ']'))
}

// Path sends a command in the path, and its last argument, if not empty, as the body: an empty
// body means no body.
func (c *REST) Path(args [][]byte) (resp.Value, error) {
	var last []byte
	if n := len(args) - 1; n > 0 && len(args[n]) > 0 {
		args, last = args[:n], args[n]
	}
	var path strings.Builder
	for _, arg := range args {
		path.WriteString("/" + url.PathEscape(string(arg)))
	}
	return c.post(path.String(), last)
}

func (c *REST) post(path string, body []byte) (resp.Value, error) {
	raw, err := c.request(path, body, "Upstash-Response-Format", "resp2")
	if err != nil {
		return resp.Value{}, err
	}
	return resp.NewReader(bytes.NewReader(raw)).ReadReply()
}

func (c *REST) request(path string, body []byte, header, value string) ([]byte, error) {
	r, err := http.NewRequest(http.MethodPost, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	maps.Copy(r.Header, c.Header)
	r.Header.Set("Authorization", "Bearer "+c.Token)
	r.Header.Set("Meowdis-Database", strconv.Itoa(c.db))
	r.Header.Set("Meowdis-Rules", "redis")
	r.Header.Set(header, value)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

// transaction runs queued commands by /multi-exec. Its JSON has the same form for statuses and
// strings, so the comparison ignores that difference.
func (c *REST) transaction(t testing.TB, tr Transcript, steps []Step, exec Step) {
	t.Helper()
	body := []byte("[")
	for i, s := range steps {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendJSON(body, s.Args)
	}
	raw, err := c.request("/multi-exec", append(body, ']'), "Accept", "application/json")
	if err != nil {
		t.Fatal(err)
	}
	want, err := exec.Reply()
	if err != nil {
		t.Fatal(err)
	}
	var items []any
	for _, e := range want.Elems {
		key := "result"
		if e.IsError() {
			key = "error"
		}
		items = append(items, map[string]any{key: plain(e)})
	}
	var got any
	if err := json.Unmarshal(raw, &got); err != nil || !reflect.DeepEqual(got, any(items)) {
		t.Errorf("%s.txt:%d: /multi-exec answers %s, the transcript %s", tr.Name, exec.Line, raw, exec.Want)
	}
}

// plain returns a reply as decoded from JSON.
func plain(v resp.Value) any {
	switch v.Kind {
	case resp.Null, resp.NullArray:
		return nil
	case resp.Int:
		return float64(v.Int)
	case resp.Array:
		elems := make([]any, len(v.Elems))
		for i, e := range v.Elems {
			elems[i] = plain(e)
		}
		return elems
	}
	return string([]rune(string(v.Str))) // a U+FFFD for each byte that is not UTF-8
}

// appendJSON appends a command as a JSON array whose strings hold the
// arguments' bytes as they are.
func appendJSON(out []byte, args [][]byte) []byte {
	for i, arg := range args {
		out = append(out, "[,"[min(i, 1)], '"')
		for _, b := range arg {
			switch {
			case b < ' ':
				out = append(out, `\u00`...)
				out = append(out, "01"[b>>4], "0123456789abcdef"[b&15])
			case b == '"' || b == '\\':
				out = append(out, '\\', b)
			default:
				out = append(out, b)
			}
		}
		out = append(out, '"')
	}
	return append(out, ']')
}
