package cmd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/foreignfile"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// journey is a data set on its way from place to place.
type journey struct {
	mover
	version oracle.Version
}

// same compares two places, which must hold the same.
func (j journey) same(a, b string, more ...string) {
	j.t.Helper()
	c, said := j.command(append([]string{"diff", a, b}, more...)...)
	if err := c.Run(); err != nil || said.Len() > 0 {
		j.t.Errorf("%s and %s: %v\n%s", a, b, err, said)
	}
}

// leaves runs a move that cannot take some keys, and must name them: each with its reason, and at
// the end how many.
func (j journey) leaves(reasons map[string]string, end string, args ...string) {
	j.t.Helper()
	said := j.run(3, args...)
	for name, reason := range reasons {
		if !strings.Contains(said, "meowdis: "+name+" was left out: "+reason) {
			j.t.Errorf("meowdis %q does not say of %s %q:\n%s", args, name, reason, said)
		}
	}
	if n := strings.Count(said, " was left out: "); n != len(reasons) || !strings.HasSuffix(strings.TrimSpace(said), end) {
		j.t.Errorf("meowdis %q names %d keys and not %d:\n%s", args, n, len(reasons), said)
	}
}

// digest is what a server says of all that it holds: nothing of what is tested has a hand in
// it. It leaves out what streams have beside entries.
func digest(t *testing.T, c *oracle.Conn) string { return string(tell(t, c, "DEBUG DIGEST").Str) }

// TestJourney sends all that a server can hold through every form that we have, and back into
// a server. What a form cannot hold must be named when it is left out.
func TestJourney(t *testing.T) {
	t.Parallel()
	origin := oracle.Start(t)
	home := origin.Dial(t)
	j := journey{mover{t, t.TempDir()}, home.Version()}
	tell(t, home, belongings(j.version)...)
	packLarge(t, home, *largeElement)
	before, vectors := digest(t, home), !j.version.Before("8.0")
	tell(t, home, "SELECT 0")
	if vectors {
		tell(t, home, vectorBelongings()...)
	}
	from := "unix://" + origin.Socket

	j.run(0, "copy", from, "one.sqlite", "--verify")
	j.same(from, "one.sqlite")
	j.run(0, "dump", "-t", "one.sqlite", "keys.archive")
	j.run(0, "restore", "-t", "two.sqlite", "keys.archive")
	j.same("one.sqlite", "two.sqlite")
	j.same(from, "two.sqlite")

	// A file of ours may hold what a dump file of Redis cannot.
	j.run(0, "exec", "-t", "two.sqlite", "-n", "15", "ARSET", "arr", "3", "v")
	stay := map[string]string{`"arr" in database 15`: "a Redis dump file cannot contain this type"}
	j.leaves(stay, fmt.Sprintf(", %d left out", len(stay)), "export", "-t", "two.sqlite", "moved.rdb")

	arrived := oracle.Start(t, "--dir", j.dir, "--dbfilename", "moved.rdb")
	there := arrived.Dial(t)
	loaded(t, there)
	to := "unix://" + arrived.Socket
	j.same(from, to)
	if vectors { // of which a file rounds the last bits
		tell(t, there, "SELECT 7", "DEL v:q8", "SELECT 0", "DEL v:attributes v:q8 v:bin v:reduced")
	}
	if after := digest(t, there); after != before {
		t.Errorf("the servers differ: %s and %s", before, after)
	}
	if vectors {
		j.run(0, "copy", "two.sqlite", to, "--type", "vectorset")
		j.same(from, to)
	}

	// The dump file that a server writes.
	tell(t, there, "SAVE")
	j.run(0, "import", "-t", "three.sqlite", "moved.rdb")
	j.same(from, "three.sqlite")
	j.poorer(to)
	j.redka("three.sqlite")
}

// loaded waits until a server has read its dump file.
func loaded(t *testing.T, c *oracle.Conn) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		v := c.Do([]byte("PING"))
		if !v.IsError() {
			return
		}
		if !strings.HasPrefix(string(v.Str), "LOADING") || time.Now().After(deadline) {
			t.Fatalf("the server does not load its dump: %s", v.Str)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// The commands of servers that have few.
const (
	firstCommands = "GET SET DEL KEYS EXPIRE HGETALL HSET LRANGE RPUSH SMEMBERS SADD"
	redkaCommands = "GET MGET SET STRLEN LINDEX LLEN LRANGE RPUSH LPUSH SADD SCARD SMEMBERS SSCAN HGETALL HLEN HMGET HSCAN HSET ZADD ZCARD ZRANGE ZSCAN " +
		"DBSIZE DEL EXISTS EXPIRE EXPIREAT KEYS PERSIST PEXPIRE PEXPIREAT RENAME RENAMENX SCAN TTL TYPE MULTI EXEC DISCARD PING SELECT"
)

// poorer sends a database to servers that have few commands and types, and back from there.
func (j journey) poorer(from string) {
	few := newFew(j.t, redkaCommands)
	j.detour(from, hostileRedis(j.t, func(call []string) string { return string(resp.Append2(nil, few.do(call))) }), "redka.sqlite")
	j.detour(from, jsonOnly(j.t, newFew(j.t, firstCommands)), "first.sqlite", "--match", "*s*")
}

var (
	leftOut   = regexp.MustCompile(`(?m)^meowdis: ("(?:[^"\\]|\\.)*") (?:was left out|is incomplete): \S`)
	different = regexp.MustCompile(`(?m)^("(?:[^"\\]|\\.)*"): `)
)

// detour copies a database to a place that cannot hold all of it, and from there to a file. What
// is not there, or otherwise, must have been named, and nothing else.
func (j journey) detour(from, place, file string, some ...string) {
	j.t.Helper()
	said := j.run(3, append([]string{"copy", "-n", "0", from, place}, some...)...)
	j.run(0, "copy", "-n", "0", place, file)
	differences := j.run(1, append([]string{"diff", "-n", "0", from, file}, some...)...)
	named, found := firsts(leftOut, said), firsts(different, differences)
	if !slices.Equal(named, found) || len(named) == 0 {
		j.t.Errorf("%s: what differs is %q, and what was named\n%s\n%s", place, found, said, differences)
	}
	if n := strings.Count(said, " was left out: "); !strings.Contains(said, fmt.Sprintf(", %d left out\n", n)) || !strings.Contains(said, "copied ") {
		j.t.Errorf("%s: %s", place, said)
	}
}

// firsts are the first groups of what matches, in their order.
func firsts(what *regexp.Regexp, text string) (all []string) {
	for _, m := range what.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return all
}

// few is a server that has few commands.
type few struct {
	mu      sync.Mutex
	t       *testing.T
	session *engine.Session
	has     []string
}

func newFew(t *testing.T, has string) *few {
	store, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return &few{t: t, session: engine.New(store).Session(), has: strings.Fields(has)}
}

func (f *few) do(call []string) resp.Value {
	if !slices.Contains(f.has, strings.ToUpper(call[0])) {
		return resp.MakeError("ERR unknown command '" + call[0] + "'")
	}
	var args [][]byte
	for _, word := range call {
		args = append(args, []byte(word))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	v, err := f.session.Do(f.t.Context(), args...)
	if err != nil {
		return resp.MakeError("ERR " + err.Error())
	}
	return v
}

// jsonOnly is an endpoint that knows no encoding of bytes, and no transactions.
func jsonOnly(t *testing.T, f *few) string {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := func(call []string) map[string]any {
			v := f.do(call)
			if v.IsError() {
				return map[string]any{"error": string(v.Str)}
			}
			return map[string]any{"result": asJSON(resp.Downgrade(v))}
		}
		var call []string
		var calls [][]string
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		out := json.NewEncoder(w)
		switch {
		case r.URL.Path == "/pipeline" && json.Unmarshal(body, &calls) == nil:
			all := []map[string]any{}
			for _, call := range calls {
				all = append(all, one(call))
			}
			out.Encode(all)
		case r.URL.Path == "/" && json.Unmarshal(body, &call) == nil && len(call) > 0:
			answer := one(call)
			if answer["error"] != nil {
				w.WriteHeader(http.StatusBadRequest)
			}
			out.Encode(answer)
		default:
			w.WriteHeader(http.StatusBadRequest)
			out.Encode(map[string]any{"error": "Invalid request"})
		}
	}))
	t.Cleanup(web.Close)
	return web.URL
}

// asJSON is a reply as encoding/json takes it, which replaces what is not UTF-8.
func asJSON(v resp.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Kind == resp.Int:
		return v.Int
	case v.Kind == resp.Array:
		all := []any{}
		for _, e := range v.Elems {
			all = append(all, asJSON(e))
		}
		return all
	}
	return string(v.Str)
}

// redkaFile makes a file of Redka of a database of ours.
const redkaFile = `ATTACH 'three.sqlite' AS ours;
DELETE FROM rkey; DELETE FROM rstring; DELETE FROM rlist; DELETE FROM rset; DELETE FROM rhash; DELETE FROM rzset;
INSERT INTO rkey SELECT id, CAST(key AS TEXT), CASE type WHEN 'string' THEN 1 WHEN 'list' THEN 2 WHEN 'set' THEN 3 WHEN 'hash' THEN 4 ELSE 5 END,
	1, expires_at, 1, iif(type = 'string', NULL, count)
	FROM ours.keys WHERE db = 0 AND type IN ('string', 'list', 'set', 'hash', 'zset');
INSERT INTO rstring SELECT k.id, iif(count = 0, value,
	CAST((SELECT group_concat(value, '') FROM (SELECT value FROM ours.string_parts WHERE key_id = k.id ORDER BY part)) AS BLOB))
	FROM ours.keys k JOIN rkey r ON r.id = k.id WHERE k.type = 'string';
INSERT INTO rlist SELECT key_id, pos, value FROM ours.lists JOIN rkey ON id = key_id;
INSERT INTO rset SELECT key_id, member FROM ours.sets JOIN rkey ON id = key_id;
INSERT INTO rhash SELECT key_id, CAST(field AS TEXT), value FROM ours.hashes JOIN rkey ON id = key_id;
INSERT INTO rzset SELECT key_id, member, score FROM ours.zsets JOIN rkey ON id = key_id;
`

// redka imports a file of Redka, of what Redka can hold.
func (j journey) redka(from string) {
	path := filepath.Join(j.dir, "redka.db")
	if err := foreignfile.Make("redka", path, strings.Replace(redkaFile, "three.sqlite", filepath.Join(j.dir, from), 1)); err != nil {
		j.t.Fatal(err)
	}
	j.run(0, "import", "redka.db", "-t", "last.sqlite")
	j.same("redka.db", "last.sqlite")
	for _, kind := range []string{"string", "list", "set", "zset"} {
		j.same(from, "last.sqlite", "-n", "0", "--type", kind)
	}
	j.same(from, "last.sqlite", "-n", "0", "--match", "hash")
}
