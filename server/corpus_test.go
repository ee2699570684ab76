package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/internal/corpus"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/rest"
	"github.com/meowdis/meowdis/server"
)

func transcripts(t *testing.T) []corpus.Transcript {
	t.Helper()
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCorpusRESP runs every transcript over a connection, and sweeps one key or field
// before each command. The store is a file, as it is in use: so the race detector sees each
// command go through all of its goroutines.
func TestCorpusRESP(t *testing.T) {
	for _, tr := range transcripts(t) {
		t.Run(tr.Name, func(t *testing.T) {
			s := serveFile(t, t.TempDir()+"/corpus.sqlite", server.Config{})
			clients := []*peer{s.dial(t), s.dial(t)}
			for _, step := range tr.Steps {
				s.clock.Add(step.Clock)
				if _, err := s.store.Sweep(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				c := clients[step.Client-1]
				c.send(string(resp.AppendCommand(nil, step.Args...)))
				check(t, tr, step, c.reply())
			}
		})
	}
}

func check(t *testing.T, tr corpus.Transcript, step corpus.Step, got resp.Value) {
	t.Helper()
	if !step.Matches(got) {
		t.Errorf("%s.txt:%d: %q\nserver:     %s\ntranscript: %s", tr.Name, step.Line, step.Args, corpus.Show(got), step.Want)
	}
}

// TestCorpusREST runs the transcripts that need no connection over REST. The ways to send a
// command differ in how they read its arguments: those beside the body have one transcript of
// each group.
func TestCorpusREST(t *testing.T) {
	ways := map[string]func(*caller, [][]byte) (resp.Value, error){
		"body":     (*caller).body,
		"path":     (*caller).path,
		"pipeline": (*caller).pipeline,
	}
	for way, send := range ways {
		t.Run(way, func(t *testing.T) {
			ran := 0
			groups := map[string]bool{}
			for _, tr := range transcripts(t) {
				group, _, _ := strings.Cut(tr.Name, "_")
				if needsConnection(tr) || way != "body" && groups[group] {
					continue
				}
				groups[group] = true
				ran++
				t.Run(tr.Name, func(t *testing.T) { playREST(t, tr, send) })
			}
			if ran == 0 {
				t.Error("no transcript can do without a connection")
			}
		})
	}
}

func playREST(t *testing.T, tr corpus.Transcript, send func(*caller, [][]byte) (resp.Value, error)) {
	s := serve(t, server.Config{})
	clients := []*caller{{served: s}, {served: s}}
	for i := 0; i < len(tr.Steps); i++ {
		step := tr.Steps[i]
		s.clock.Add(step.Clock)
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
		check(t, tr, step, got)
		if name(step) == "SELECT" && !got.IsError() {
			c.db, _ = strconv.Atoi(string(step.Args[1]))
		}
	}
}

func name(s corpus.Step) string { return strings.ToUpper(string(s.Args[0])) }

// queued is the distance from a MULTI to its EXEC when /multi-exec means the
// same: everything between is queued, by one client, at one time.
func queued(steps []corpus.Step) int {
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

// needsConnection reports whether a transcript has a command that acts on its
// connection, other than a transaction that /multi-exec can do.
func needsConnection(tr corpus.Transcript) bool {
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

// caller is a REST client that asks for RESP2, the exact form.
type caller struct {
	served *served
	db     int
}

func (c *caller) body(args [][]byte) (resp.Value, error) {
	return c.post("/", appendJSON(nil, args))
}

func (c *caller) pipeline(args [][]byte) (resp.Value, error) {
	return c.post("/pipeline", append(appendJSON([]byte("["), args), ']'))
}

// path sends the last argument as the body when it is not empty: an empty body
// is none.
func (c *caller) path(args [][]byte) (resp.Value, error) {
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

func (c *caller) post(path string, body []byte) (resp.Value, error) {
	raw, err := c.request(path, body, "Upstash-Response-Format", "resp2")
	if err != nil {
		return resp.Value{}, err
	}
	return resp.NewReader(bytes.NewReader(raw)).ReadReply()
}

func (c *caller) request(path string, body []byte, header, value string) ([]byte, error) {
	r, err := http.NewRequest(http.MethodPost, c.served.rest+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set(rest.DatabaseHeader, strconv.Itoa(c.db))
	r.Header.Set(header, value)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

// transaction runs queued commands by /multi-exec, whose JSON has the same
// form for a status and a string: so the comparison does not either.
func (c *caller) transaction(t *testing.T, tr corpus.Transcript, steps []corpus.Step, exec corpus.Step) {
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

// plain is a reply as it comes out of JSON.
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
