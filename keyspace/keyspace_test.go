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
	"github.com/meowdis/meowdis/resp"
)

// poor is a server that has some commands only, and answers in a form of its own.
type poor struct {
	session  *engine.Session
	has      string
	reshape  func(name string, v resp.Value) resp.Value
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
		replies = append(replies, v)
	}
	return replies, nil
}

// TestPoorServers lists and describes the same keys on servers that have less and less.
func TestPoorServers(t *testing.T) {
	store, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	session := engine.New(store).Session()
	for _, line := range []string{
		"SET s value PX 60000", "RPUSH l a b", "SADD set a b c", "HSET h f v", "ZADD z 1 a", "SET other x",
	} {
		if v, err := session.Do(context.Background(), keyspace.Call(strings.Fields(line)...)...); err != nil || v.IsError() {
			t.Fatalf("%s: %s %v", line, v.Str, err)
		}
	}
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
		l := keyspace.Lister{Client: &poor{session: session, has: c.has, reshape: c.reshape}, Page: 2}
		var found []string
		for cursor := "0"; ; {
			names, next, err := l.Scan(context.Background(), cursor)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			keys, err := l.Describe(context.Background(), names)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for _, k := range keys {
				found = append(found, fmt.Sprintf("%s %s %d", k.Name, k.Type, k.Count))
				if string(k.Name) == "s" && k.TTL > 0 != c.expires || k.Err != nil {
					t.Errorf("%s: a TTL of %d, %v", c.name, k.TTL, k.Err)
				}
			}
			if cursor = next; cursor == "0" {
				break
			}
		}
		slices.Sort(found)
		if got := strings.Join(found, ", "); got != c.wants {
			t.Errorf("%s: %s, want %s", c.name, got, c.wants)
		}
	}
}

// TestNoListing says what a server refuses that lists nothing at all.
func TestNoListing(t *testing.T) {
	l := keyspace.Lister{Client: &poor{has: "GET"}}
	if _, _, err := l.Scan(context.Background(), "0"); err == nil || !strings.Contains(err.Error(), "unknown command 'KEYS'") {
		t.Errorf("%v", err)
	}
}
