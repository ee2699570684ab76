package inspect

import (
	"context"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestUserWhoMayLittle opens keys of every type by name, and reports each refusal once.
func TestUserWhoMayLittle(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	f.fake.options = nil
	s := browseOn(t, barred{f, []string{"SCAN", "KEYS", "DBSIZE", "INFO", "MEMORY", "OBJECT", "CONFIG", "TYPE"}}, f.fake, 100, 24)
	s.shows("SCAN is refused: o opens a key", "? keys", "✗ NOPERM")
	sent := len(s.model.Conn.Log.Entries())
	s.press("j", "k", "j")
	s.hides("✗")
	if n := len(s.model.Conn.Log.Entries()); n != sent {
		t.Errorf("what is refused was asked %d times again", n-sent)
	}
	for key, texts := range map[string][]string{
		"board":        {"zset · 3 members", "bob"},
		"cart":         {"hash · 3 fields", "pear"},
		"cache:list:0": {"list · ", "a"},
		"tags":         {"set · 3 members", "red"},
		"events":       {"stream · 2 entries", "kind=login"},
		"slots":        {"array · 3 values", "eight"},
		"doc":          {"json", `"city": "Bern"`},
		"config":       {"string · ", `"theme": "dark"`},
		"no such":      {"This key does not exist."},
	} {
		s.press("o")
		s.typing(key)
		s.press("enter")
		s.shows(texts...)
		s.hides("✗")
		s.press("esc")
	}
	s.press("o")
	s.typing("cart")
	s.press("enter", "i")
	s.shows("type      hash", "encoding  not permitted", "memory    not permitted")
	s.press("esc", "O")
	s.shows("? keys in /data/app.db")
	s.press("esc", "0")
	s.shows("? keys")
	s.press("esc")
}

// barred is a Client that refuses some commands.
type barred struct {
	keyspace.Client
	names []string
}

func (b barred) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	values, err := b.Client.Pipeline(ctx, calls)
	for i := range values {
		for _, name := range b.names {
			if string(calls[i][0]) == name {
				values[i] = resp.MakeError("NOPERM this user has no permissions to run the '" + strings.ToLower(name) + "' command or its subcommand")
			}
		}
	}
	return values, err
}

// TestKeysOfOthers lists readable keys among unreadable ones.
func TestKeysOfOthers(t *testing.T) {
	race.Skip(t)
	f := newFake().plain(3)
	s := browseOn(t, ownKeys{f}, f, 100, 24)
	s.choose("key:00001")
	s.shows("closed", "string", "value 1")
	s.press("j")
	s.shows("Not permitted to read this key.")
	s.hides("✗", "no expiry")
	sent := f.sent("")
	s.press("k", "j")
	if n := f.sent("") - sent; n > 12 {
		t.Errorf("%d commands to look at two keys", n)
	}
}

// ownKeys lets its user read only key:00001.
type ownKeys struct{ *fake }

func (o ownKeys) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	values, err := o.fake.Pipeline(ctx, calls)
	for i, call := range calls {
		if len(call) > 1 && string(call[0]) != "SCAN" && string(call[1]) != "key:00001" {
			values[i] = resp.MakeError("NOPERM this user has no permissions to access one of the keys used as arguments")
		}
	}
	return values, err
}

func TestErrorsSayWhatToDo(t *testing.T) {
	race.Skip(t)
	for reply, want := range map[string]string{
		"MOVED 866 10.0.0.7:7001":         "this server is one node of a cluster, and the key is on 10.0.0.7:7001",
		"LOADING Redis is loading":        "press R",
		"MASTERDOWN Link with MASTER":     "press R",
		"NOAUTH Authentication required.": "--token",
		"WRONGTYPE Operation":             "WRONGTYPE Operation",
	} {
		f := newFake().plain(3)
		f.refuse = map[string]string{"TYPE": reply}
		s := browse(t, f, 120, 24)
		s.shows("✗ ", want)
		f.refuse = nil
		s.press("R")
		s.hides("✗")
		s.shows("key:")
	}
}
