package inspect

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// fakeValue is a value of the fake. The kind determines which field is set.
type fakeValue struct {
	key     string
	kind    string
	str     string
	elems   []string // elements of a list or set; fields and values, or members and scores, alternating
	expires int64
}

// fake answers the browser's commands from memory, with keys in the order they were added.
type fake struct {
	keyspace.Client
	mu      sync.Mutex
	clock   *clock
	options func(*Options) // changes the options of the browser; nil: the defaults
	dbs     [client.MostDatabases][]fakeValue
	db      int
	calls   []string
	refuse  map[string]string                  // maps a command to its error reply
	answers map[string]resp.Value              // maps the start of a call to its reply
	broken  error                              // the error that Pipeline returns
	gate    chan struct{}                      // if set, Pipeline waits for it or the context
	bytes   func(from, to int64) ([]byte, int) // a string too big for memory: returns a part and the full size
}

func (f *fake) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	if f.gate != nil {
		select {
		case <-f.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken != nil {
		return nil, f.broken
	}
	values := make([]resp.Value, len(calls))
	for i, call := range calls {
		words := make([]string, len(call))
		for j, w := range call {
			words[j] = string(w)
		}
		f.calls = append(f.calls, strings.Join(words, " "))
		values[i] = f.do(words)
	}
	return values, nil
}

func (f *fake) do(words []string) resp.Value {
	name := words[0]
	if v, ok := f.answers[strings.Join(words[:min(len(words), 2)], " ")]; ok {
		return v
	}
	if msg := f.refuse[name]; msg != "" {
		return resp.MakeError(msg)
	}
	switch name {
	case "SELECT":
		f.db = atoi(words[1])
		return resp.OK
	case "DBSIZE":
		return resp.MakeInt(f.dbsize())
	case "SCAN":
		return f.scan(words)
	case "INFO":
		return resp.MakeString("# Server\r\nredis_version:7.0.15\r\nused_memory_human:1.50M\r\n")
	}
	v := f.find(words[1])
	switch name {
	case "TYPE":
		return resp.MakeStatus(v.kind)
	case "PTTL":
		if v.expires == 0 {
			return resp.MakeInt(-1)
		}
		return resp.MakeInt(v.expires - f.clock.now)
	case "STRLEN", "LLEN", "SCARD", "HLEN", "ZCARD", "XLEN":
		return resp.MakeInt(f.size(v))
	}
	return f.part(v, words)
}

func (f *fake) part(v fakeValue, words []string) resp.Value {
	switch words[0] {
	case "GETRANGE":
		from, to := atoi(words[2]), atoi(words[3])+1
		if f.bytes != nil && v.str == "" {
			part, _ := f.bytes(int64(from), int64(to))
			return resp.MakeBulk(part)
		}
		from, to = min(from, len(v.str)), min(to, len(v.str))
		return resp.MakeString(v.str[from:to])
	case "LRANGE":
		return bulks(window2(v.elems, atoi(words[2]), atoi(words[3])+1))
	case "ZRANGE":
		return bulks(window2(v.elems, 2*atoi(words[2]), 2*atoi(words[3])+2))
	case "HSCAN":
		return scanReply(v.elems, atoi(words[2]), 2*atoi(words[4]))
	case "SSCAN":
		return scanReply(v.elems, atoi(words[2]), atoi(words[4]))
	}
	return resp.MakeError("ERR unknown command '" + words[0] + "'")
}

func (f *fake) size(v fakeValue) int64 {
	switch {
	case v.kind == "string" && v.str == "" && f.bytes != nil:
		_, n := f.bytes(0, 0)
		return int64(n)
	case v.kind == "string":
		return int64(len(v.str))
	case v.kind == "hash" || v.kind == "zset":
		return int64(len(v.elems) / 2)
	}
	return int64(len(v.elems))
}

func (f *fake) lives(v *fakeValue) bool { return v.expires == 0 || v.expires > f.clock.now }

func (f *fake) dbsize() (n int64) {
	for i := range f.dbs[f.db] {
		if f.lives(&f.dbs[f.db][i]) {
			n++
		}
	}
	return n
}

func (f *fake) find(key string) fakeValue {
	for i := range f.dbs[f.db] {
		if v := &f.dbs[f.db][i]; v.key == key && f.lives(v) {
			return *v
		}
	}
	return fakeValue{kind: "none"}
}

func (f *fake) scan(words []string) resp.Value {
	var match, kind string
	for i := 4; i+1 < len(words); i += 2 {
		if words[i] == "MATCH" {
			match = words[i+1]
		} else {
			kind = words[i+1]
		}
	}
	all := f.dbs[f.db]
	from := atoi(words[1])
	to := min(from+atoi(words[3]), len(all))
	var keys []string
	for _, v := range all[from:to] {
		if f.lives(&v) && (kind == "" || kind == v.kind) && globbed(match, v.key) {
			keys = append(keys, v.key)
		}
	}
	next := strconv.Itoa(to)
	if to == len(all) {
		next = "0"
	}
	return resp.MakeArray(resp.MakeString(next), bulks(keys))
}

// globbed matches patterns; it supports only *.
func globbed(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if pattern == "" {
		return true
	}
	if len(parts) == 1 || !strings.HasPrefix(s, parts[0]) {
		return pattern == s
	}
	for _, p := range parts[:len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}

func scanReply(elems []string, from, n int) resp.Value {
	to := min(from+n, len(elems))
	next := "0"
	if to < len(elems) {
		next = strconv.Itoa(to)
	}
	return resp.MakeArray(resp.MakeString(next), bulks(elems[from:to]))
}

func window2(elems []string, from, to int) []string {
	return elems[min(from, len(elems)):min(to, len(elems))]
}

func bulks(words []string) resp.Value {
	v := resp.Value{Kind: resp.Array}
	for _, w := range words {
		v.Elems = append(v.Elems, resp.MakeString(w))
	}
	return v
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func (f *fake) add(v ...fakeValue) { f.dbs[0] = append(f.dbs[0], v...) }

// sent returns the number of calls that start with prefix.
func (f *fake) sent(prefix string) int {
	n := 0
	for _, c := range f.calls {
		if strings.HasPrefix(c, prefix) {
			n++
		}
	}
	return n
}

var errBroken = errors.New("connection refused")

// plain adds n strings, from key:00000.
func (f *fake) plain(n int) *fake {
	for i := range n {
		f.add(fakeValue{key: fmt.Sprintf("key:%05d", i), kind: "string", str: "value " + strconv.Itoa(i)})
	}
	return f
}

// zoo adds a key of each kind, and keys that are hard to display.
func (f *fake) zoo() *fake {
	jobs := make([]string, 250)
	scores := make([]string, 500)
	for i := range jobs {
		jobs[i] = fmt.Sprintf(`{"id":%d,"to":"ann%d@example.com"}`, i, i)
		scores[2*i], scores[2*i+1] = fmt.Sprintf("player:%d", i), strconv.FormatFloat(float64(i)*1.5, 'g', 17, 64)
	}
	f.add(
		fakeValue{key: "user:1", kind: "hash", elems: []string{"name", "Ann", "city", "東京", "bio", strings.Repeat("long walks, ", 20), "bin", "\x00\x01"}},
		fakeValue{key: "session:1", kind: "string", str: "token-1", expires: f.clock.now + 75_000},
		fakeValue{key: "session:2", kind: "string", str: "token-2", expires: f.clock.now + 3_000},
		fakeValue{key: "queue:jobs", kind: "list", elems: jobs},
		fakeValue{key: "tags", kind: "set", elems: []string{"red", "green", "blue"}},
		fakeValue{key: "board", kind: "zset", elems: scores},
		fakeValue{key: "events", kind: "stream", elems: []string{"1-1", "2-1"}},
		fakeValue{key: "page", kind: "string", str: "<p>\n\tHello, wörld\r\n\x1b[31m日本語</p>\n"},
		fakeValue{key: "blob", kind: "string", str: "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\xfe and some text"},
		fakeValue{key: "empty", kind: "string"},
		fakeValue{key: "doc", kind: "ReJSON-RL"},
		fakeValue{key: "k\x00ey\xff\n\"q\"", kind: "string", str: "1"},
		fakeValue{key: "cache:東京タワー/とても長い名前/" + strings.Repeat("segment/", 10), kind: "string", str: "x", expires: f.clock.now + 26*3600_000},
	)
	f.dbs[3] = []fakeValue{{key: "three", kind: "string", str: "3"}}
	return f
}
