package keyspace_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// poor simulates a server with few commands and its own reply formats.
type poor struct {
	session  *engine.Session
	has      string
	reshape  func(name string, v resp.Value) resp.Value
	forbid   func(args [][]byte, v resp.Value) resp.Value
	requests int
}

func (p *poor) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	replies, err := p.Pipeline(ctx, [][][]byte{args})
	if err != nil {
		return resp.Value{}, err
	}
	return replies[0], nil
}

func (p *poor) Pipeline(ctx context.Context, calls [][][]byte) (replies []resp.Value, err error) {
	if p.requests++; p.requests > 100 {
		return nil, fmt.Errorf("it asks for ever: %s", calls[0])
	}
	for _, args := range calls {
		name := string(args[0])
		if p.has != "" && !slices.Contains(strings.Fields(p.has), name) {
			replies = append(replies, resp.MakeError("ERR unknown command '"+name+"'"))
			continue
		}
		v, err := p.session.Do(ctx, args...)
		if err != nil {
			return nil, err
		}
		if p.reshape != nil {
			v = p.reshape(name, v)
		}
		if p.forbid != nil {
			v = p.forbid(args, v)
		}
		replies = append(replies, v)
	}
	return replies, nil
}

func openMemory(t *testing.T) *engine.Session {
	t.Helper()
	store, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return engine.New(store).Session()
}

func fill(t *testing.T, session *engine.Session, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if v, err := session.Do(context.Background(), keyspace.Call(strings.Fields(line)...)...); err != nil || v.IsError() {
			t.Fatalf("%s: %s %v", line, v.Str, err)
		}
	}
}

// TestPoorServers lists and describes the same keys on servers with fewer and fewer commands.
func TestPoorServers(t *testing.T) {
	session := openMemory(t)
	fill(t, session, "SET s value PX 60000", "RPUSH l a b", "SADD set a b c", "HSET h f v", "ZADD z 1 a", "SET other x")
	asText := func(name string, v resp.Value) resp.Value {
		if v.Kind == resp.Int {
			return resp.MakeString(string(keyspace.Text(v)))
		}
		return v
	}
	asNumber := func(name string, v resp.Value) resp.Value {
		if name == "SCAN" {
			if n, ok := keyspace.Integer(v.Elems[0]); ok {
				return resp.MakeArray(resp.MakeInt(n), v.Elems[1])
			}
		}
		return v
	}
	counted := "h hash 1, l list 2, other string 1, s string 5, set set 3, z zset 1"
	uncounted := "h hash -1, l list -1, other string -1, s string -1, set set -1, z zset -1"
	for _, c := range []struct {
		name, has string
		reshape   func(string, resp.Value) resp.Value
		expires   bool
		wants     string
	}{
		{"everything", "", nil, true, counted},
		{"numbers as text", "", asText, true, counted},
		{"cursors as numbers", "", asNumber, true, counted},
		{"no PTTL", "SCAN TYPE TTL STRLEN LLEN SCARD HLEN ZCARD", nil, true, counted},
		{"no expiry at all", "SCAN TYPE STRLEN LLEN SCARD HLEN ZCARD", nil, false, counted},
		{"no TYPE", "SCAN GET LRANGE HGETALL SMEMBERS ZRANGE PTTL STRLEN LLEN SCARD HLEN ZCARD", nil, true, counted},
		{"the first meowdis", "KEYS GET SET LRANGE HGETALL SMEMBERS ZRANGE", nil, false, uncounted},
	} {
		l := keyspace.Lister{Client: &poor{session: session, has: c.has, reshape: c.reshape}, Page: 2, Detail: keyspace.Described}
		var found []string
		if err := l.Keys(context.Background(), func(keys []keyspace.Key) error {
			for _, k := range keys {
				found = append(found, fmt.Sprintf("%s %s %d", k.Name, k.Type, k.Count))
				if string(k.Name) == "s" && k.TTL > 0 != c.expires {
					t.Errorf("%s: a TTL of %d", c.name, k.TTL)
				}
			}
			return nil
		}); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		slices.Sort(found)
		if got := strings.Join(found, ", "); got != c.wants {
			t.Errorf("%s: %s, want %s", c.name, got, c.wants)
		}
	}
}

// TestRoundTrips lists, describes and measures keys in one round trip per page, plus a few for
// the first and last pages.
func TestRoundTrips(t *testing.T) {
	ctx := context.Background()
	session := openMemory(t)
	const keys, size = 1000, 50
	for i := range keys {
		fill(t, session, fmt.Sprintf("SADD set:%d a b", i))
	}
	for _, c := range []struct {
		detail keyspace.Detail
		typ    string
		trips  int // beyond one per page
	}{
		{keyspace.Names, "", 0}, {keyspace.Names, "set", 0}, {keyspace.Described, "", 2}, {keyspace.Measured, "", 2}, {keyspace.Expiries, "", 1},
	} {
		server := &poor{session: session}
		l := keyspace.Lister{Client: server, Page: size, Detail: c.detail, Type: c.typ}
		found := map[string]bool{}
		if err := l.Keys(ctx, func(page []keyspace.Key) error {
			if len(page) > size {
				t.Errorf("a page of %d keys", len(page))
			}
			for _, k := range page {
				found[string(k.Name)] = true
				if wanted := c.detail&keyspace.Counts != 0; (k.Count == 2) != wanted || c.detail != keyspace.Names && k.Type != "set" {
					t.Errorf("%v: %+v", c.detail, k)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(found) != keys || server.requests > keys/size+c.trips {
			t.Errorf("%v: %d keys in %d round trips", c.detail, len(found), server.requests)
		}
	}
}

// TestNoListing checks the error for a server that cannot list keys.
func TestNoListing(t *testing.T) {
	l := keyspace.Lister{Client: &poor{has: "GET"}}
	if err := l.Keys(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "unknown command 'KEYS'") {
		t.Errorf("%v", err)
	}
}

// TestProbe finds types without TYPE, and reports the keys whose type stays unknown.
func TestProbe(t *testing.T) {
	session := openMemory(t)
	fill(t, session, "SET s v", "RPUSH l a", "JSON.SET doc $ {}", "SET own x", "SADD other x")
	forbid := func(args [][]byte, v resp.Value) resp.Value {
		switch {
		case string(args[0]) == "TYPE":
			return resp.MakeError("NOPERM this user has no permissions to run the 'type' command")
		case string(args[1]) == "other":
			return resp.MakeError("NOPERM this user has no permissions to access one of the keys used as arguments")
		}
		return v
	}
	server := &poor{session: session, forbid: forbid}
	l := keyspace.Lister{Client: server}
	names := keyspace.Call("s", "l", "doc", "own", "other", "missing")
	found, err := l.DescribeAll(context.Background(), names)
	if err != nil || !strings.Contains(fmt.Sprint(found[0].Err), "'type' command") {
		t.Errorf("%+v, %v", found, err)
	}
	if err := l.Probe(context.Background(), found); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range found {
		got = append(got, fmt.Sprintf("%s %s %.10v", k.Name, k.Type, k.Err))
	}
	want := "s string <nil>, l list <nil>, doc ReJSON-RL <nil>, own string <nil>, other  NOPERM thi, missing none <nil>"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s, want %s", text, want)
	}

	// Commands in the shared refusals are not sent again.
	l.Refusals.Record(keyspace.Call("TYPE"), forbid(keyspace.Call("TYPE"), resp.Nil))
	server.requests = 0
	if again, err := l.DescribeAll(context.Background(), names[:1]); err != nil || server.requests != 0 || again[0].Err == nil {
		t.Errorf("%d round trips for %+v, %v", server.requests, again, err)
	}
}
