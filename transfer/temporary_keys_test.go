package transfer_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// watchful is a session that checks that every temporary key has an expiry, after each command
// that might be the last.
type watchful struct {
	keyspace.Session
	t     *testing.T
	multi bool
	seen  int
}

func (w *watchful) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	v, err := w.Session.Do(ctx, args...)
	switch string(args[0]) {
	case "MULTI":
		w.multi = true
	case "EXEC":
		w.multi = false
	}
	return v, err
}

func (w *watchful) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	var replies []resp.Value
	for i, args := range calls {
		v, err := w.Do(ctx, args...)
		if err != nil {
			return nil, err
		}
		replies = append(replies, v)
		// A kill can happen between two requests or two commands. The command that creates a
		// temporary key and its PEXPIRE are sent together.
		if w.multi || i+1 < len(calls) && string(calls[i+1][0]) == "PEXPIRE" {
			continue
		}
		for _, name := range do(w.t, w.Session, []byte("KEYS"), []byte(transfer.TemporaryPrefix+"*")).Elems {
			w.seen++
			if ttl := do(w.t, w.Session, []byte("PTTL"), name.Str).Int; ttl <= 0 {
				w.t.Fatalf("%s does not expire after %s", name.Str, bytes.Join(args[:2], []byte(" ")))
			}
		}
	}
	return replies, nil
}

func TestTemporaryNamesExpire(t *testing.T) {
	race.Skip(t)
	from, _ := openLocal(t)
	run(t, from, "SET s v", "RPUSH l a", many("RPUSH long", 3_000, "e#"), "HSET h f v", fmt.Sprintf("PEXPIREAT h %d", later), "XADD x 1-1 a b")
	to, _ := openLocal(t)
	w := &watchful{Session: to, t: t}
	if written, told, err := move(t, from, w, transfer.WriteOptions{}); err != nil || len(told) > 0 || written.Keys != 5 {
		t.Fatal(written, told, err)
	}
	if w.seen == 0 {
		t.Error("no temporary name was seen")
	}
	same(t, contents(t, to, 0), contents(t, from, 0))
}

// shared is a session with commands of other clients between any two requests.
type shared struct{ keyspace.Session }

func (s shared) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	replies, err := s.Pipeline(ctx, [][][]byte{args})
	if err != nil {
		return resp.Value{}, err
	}
	return replies[0], nil
}

func (s shared) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	if _, err := s.Session.Do(ctx, []byte("DBSIZE")); err != nil {
		return nil, err
	}
	return s.Session.Pipeline(ctx, calls)
}

// TestSharedSession checks that written keys are counted while the inspector reads on the same
// session.
func TestSharedSession(t *testing.T) {
	race.Skip(t)
	from, _ := openLocal(t)
	run(t, from, "SET s v", "RPUSH l a", "HSET h f v", fmt.Sprintf("PEXPIREAT h %d", later))
	to, _ := openLocal(t)
	if written, told, err := move(t, from, shared{to}, transfer.WriteOptions{}); err != nil || len(told) > 0 || written.Keys != 3 {
		t.Fatal(written, told, err)
	}
	same(t, contents(t, to, 0), contents(t, from, 0))
}

// TestLeftovers checks that a transfer deletes the leftovers of killed transfers, except keys
// of a running one, and copies none of them.
func TestLeftovers(t *testing.T) {
	race.Skip(t)
	redis := oracle.Start(t)
	redis.Dial(t)
	left := []string{
		"RPUSH meowdis:moving:dead:1 a", "SET meowdis:moving:old:7 v PX 5000", // not touched for almost an hour
		"SET meowdis:moving:live:7 v PX 3599000", "SET k v",
	}
	local, _ := openLocal(t)
	for name, place := range map[string]keyspace.Session{"redis": openRedis(t, redis.Socket), "file": local} {
		run(t, place, left...)
		var out bytes.Buffer
		dumpTo(t, place, transfer.NewJSONWriter(&out))
		if text := out.String(); strings.Contains(text, "moving") || !strings.Contains(text, `"k"`) {
			t.Errorf("%s: %s", name, text)
		}
		empty, _ := openLocal(t)
		run(t, empty, "SET k v")
		if found := differences(t, place, empty); len(found) > 0 {
			t.Errorf("%s: %q", name, found)
		}
		run(t, empty, "SET new v")
		if _, _, err := move(t, empty, place, transfer.WriteOptions{Existing: transfer.Skip, RunEnded: func(run string) bool { return run == "dead" }}); err != nil {
			t.Fatal(err)
		}
		if keys := fmt.Sprint(len(do(t, place, []byte("KEYS"), []byte("*")).Elems), do(t, place, []byte("EXISTS"), []byte("meowdis:moving:live:7")).Int); keys != "3 1" {
			t.Errorf("%s: %s", name, keys)
		}
	}
	// Older archives may hold temporary keys.
	to, _ := openLocal(t)
	in := `{"key":"meowdis:moving:x:1","type":"string","value":"v"}` + "\n" + `{"key":"k","type":"string","value":"v"}` + "\n"
	if _, err := into(t, transfer.FromJSONLines(strings.NewReader(in)), to); err != nil {
		t.Fatal(err)
	}
	if n := do(t, to, []byte("DBSIZE")).Int; n != 1 {
		t.Errorf("%d keys", n)
	}
}
