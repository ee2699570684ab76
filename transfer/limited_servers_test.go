package transfer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// poor simulates a server with some commands only; "" allows all.
type poor struct {
	*engine.Session
	has      string
	requests int
	t        *testing.T
}

func newPoor(t *testing.T, has string) *poor {
	t.Helper()
	store, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return &poor{Session: engine.New(store).Session(), has: has, t: t}
}

func (p *poor) fill(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		var args [][]byte
		for _, w := range strings.Fields(line) {
			args = append(args, []byte(w))
		}
		if v, err := p.Session.Do(context.Background(), args...); err != nil || v.IsError() {
			p.t.Fatalf("%s: %s %v", line, v.Str, err)
		}
	}
}

func (p *poor) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	replies, err := p.Pipeline(ctx, [][][]byte{args})
	if err != nil {
		return resp.Value{}, err
	}
	return replies[0], nil
}

func (p *poor) Pipeline(ctx context.Context, calls [][][]byte) (replies []resp.Value, err error) {
	if p.requests++; p.requests > 1000 {
		p.t.Fatalf("it asks for ever: %s", calls[0])
	}
	for _, args := range calls {
		v := resp.MakeError("ERR unknown command '" + string(args[0]) + "'")
		if p.has == "" || slices.Contains(strings.Fields(p.has), string(args[0])) {
			if v, err = p.Session.Do(ctx, args...); err != nil {
				return nil, err
			}
		}
		replies = append(replies, v)
	}
	return replies, nil
}

const firstMeowdis = "GET SET DEL KEYS HGETALL HSET LRANGE RPUSH SMEMBERS SADD ZRANGE ZADD"

// TestPoorServers moves keys from and to servers with few commands, and compares them.
func TestPoorServers(t *testing.T) {
	race.Skip(t)
	ctx := context.Background()
	keys := []string{"SET s value", "RPUSH l a b c", "HSET h f1 v1 f2 v2", "SADD set a b", "ZADD z 1 a 2.5 b"}
	for _, has := range []string{
		"", firstMeowdis,
		"SCAN TYPE GET STRLEN LRANGE LLEN SMEMBERS SCARD HGETALL HLEN ZRANGE ZCARD SET DEL EXISTS RPUSH SADD HSET ZADD TTL", // a Redka, say
	} {
		from, to, back := newPoor(t, has), newPoor(t, ""), newPoor(t, has)
		from.fill(keys...)
		for _, step := range [][2]*poor{{from, to}, {to, back}} {
			w := transfer.NewWriter(step[1], transfer.WriteOptions{Notify: func(k *transfer.Key, err error) { t.Errorf("%s: %s: %v", has, k, err) }})
			read := transfer.ReadOptions{Databases: []int{0}}
			if err := transfer.Run(ctx, transfer.FromSession(ctx, step[0], read), w, func(k *transfer.Key, err error) { t.Errorf("%s: %s: %v", has, k, err) }, func(transfer.Part) {}); err != nil {
				t.Fatalf("%s: %v", has, err)
			}
			if n := w.Written().Keys; n != int64(len(keys)) {
				t.Errorf("%s: %d keys written", has, n)
			}
		}
		for _, sides := range [][2]*poor{{from, back}, {to, back}, {back, to}} {
			n, err := transfer.Diff(ctx, sides[0], sides[1], transfer.DiffOptions{
				Read: transfer.ReadOptions{Databases: []int{0}}, Notify: func(k *transfer.Key, err error) { t.Errorf("%s: %s: %v", has, k, err) },
				Seen: func(transfer.Part) {}, Found: func(d transfer.Difference) { t.Errorf("%s: %s: %s: %s | %s", has, d.Key, d.What, d.A, d.B) },
			})
			if err != nil || n != int64(len(keys)) {
				t.Errorf("%s: %d keys compared, %v", has, n, err)
			}
		}
		back.fill("HSET h f2 other")
		found := 0
		if _, err := transfer.Diff(ctx, to, back, transfer.DiffOptions{
			Read: transfer.ReadOptions{Databases: []int{0}}, Notify: func(*transfer.Key, error) {}, Seen: func(transfer.Part) {},
			Found: func(transfer.Difference) { found++ },
		}); err != nil || found != 1 {
			t.Errorf("%s: %d differences, %v", has, found, err)
		}
	}
}

// TestPoorServerWithoutExpiry checks that keys whose TTL a server cannot store are reported.
func TestPoorServerWithoutExpiry(t *testing.T) {
	race.Skip(t)
	ctx := context.Background()
	from, to := newPoor(t, ""), newPoor(t, firstMeowdis)
	from.fill("RPUSH l a", "EXPIRE l 1000", "RPUSH stays a")
	var named []string
	w := transfer.NewWriter(to, transfer.WriteOptions{Notify: func(k *transfer.Key, err error) {
		var incomplete *transfer.Incomplete
		if !errors.As(err, &incomplete) {
			t.Errorf("%s was left out: %v", k, err)
		}
		named = append(named, k.String()+": "+err.Error())
	}})
	if err := transfer.Run(ctx, transfer.FromSession(ctx, from, transfer.ReadOptions{Databases: []int{0}}), w, func(*transfer.Key, error) {}, func(transfer.Part) {}); err != nil {
		t.Fatal(err)
	}
	if len(named) != 1 || !strings.Contains(named[0], `"l": it does not expire: `) {
		t.Errorf("%q", named)
	}
	if written := w.Written(); written.Keys != 2 || written.Failed != 0 {
		t.Errorf("%+v", written)
	}
}
