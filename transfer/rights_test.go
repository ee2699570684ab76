package transfer_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/transfer"
)

// as returns a session on a real Redis for a user with the given rights.
func as(t *testing.T, redis *oracle.Server, rights string) keyspace.Session {
	t.Helper()
	run(t, openRedis(t, redis.Socket), "ACL SETUSER tom reset on nopass "+rights)
	s, err := remote.OpenRedis(context.Background(), "unix://"+redis.Socket, false, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	run(t, s, "AUTH tom any")
	return s
}

// TestFewRights moves keys as users with few rights. Every key is either moved or reported.
func TestFewRights(t *testing.T) {
	race.Skip(t)
	redis := oracle.Start(t)
	redis.Dial(t)
	admin := openRedis(t, redis.Socket)
	run(t, admin, "SET cat:a 1", "SET dog:a 1", "HSET cat:h f v", "XADD cat:x 1-1 a b", "XGROUP CREATE cat:x g 0", "XREADGROUP GROUP g c STREAMS cat:x >",
		"SELECT 3", "SET cat:b 1", "SELECT 15", "RPUSH cat:c 1 2", "SELECT 0")
	const all = 6
	for _, test := range []struct {
		rights string
		keys   int
		says   string // expected report, "" for none
	}{
		{"~* +@all", all, ""},
		{"~* +@all -@dangerous", all, ""},
		{"~* +@all -info", all, ""},
		{"~* +@all -info -config", all, ""},
		{"~* +@all -info -dbsize", all, ""},
		{"~* +@all -select -info", 0, "cannot be seen"},
		{"~* +@all -select", 0, "database 3: NOPERM"},
		{"~cat:* +@all -@dangerous", all - 1, `"dog:a": NOPERM`},
		{"~* +@all -xpending", all - 1, `"cat:x": NOPERM`},
		{"~* +@all -xinfo", all - 1, `"cat:x": NOPERM`},
		{"~* +@all -hgetall", all - 1, `"cat:h": NOPERM`},
		{"~* +@all -time -dbsize -@dangerous", all, ""},
	} {
		t.Run(test.rights, func(t *testing.T) {
			tom := as(t, redis, test.rights)
			to, _ := openLocal(t)
			written, told, err := move(t, tom, to, transfer.WriteOptions{Existing: transfer.Replace})
			said := strings.Join(append(told, fmt.Sprint(err)), "\n")
			if test.says == "" && said != "<nil>" || !strings.Contains(said, test.says) {
				t.Errorf("it says %s", said)
			}
			if test.keys > 0 && written.Keys != int64(test.keys) {
				t.Errorf("%d keys, want %d", written.Keys, test.keys)
			}
			if tom.DB() != 0 && test.keys == all {
				run(t, tom, "SELECT 0")
			}
		})
	}
}

// TestDiffWithFewRights compares the visible keys and reports the others.
func TestDiffWithFewRights(t *testing.T) {
	race.Skip(t)
	redis := oracle.Start(t)
	redis.Dial(t)
	admin := openRedis(t, redis.Socket)
	file, _ := openLocal(t)
	for _, s := range []keyspace.Session{admin, file} {
		run(t, s, "SET cat:a 1", "SET dog:a 1", "SELECT 3", "SET cat:b 1", "SELECT 0")
	}
	run(t, file, "SELECT 3", "SET cat:b 2", "SELECT 0")
	tom := as(t, redis, "~cat:* +@all -@dangerous")
	for _, sides := range [][2]keyspace.Session{{tom, file}, {file, tom}} {
		var told problems
		var found []string
		_, err := transfer.Diff(context.Background(), sides[0], sides[1], transfer.DiffOptions{
			Notify: told.add, Seen: func(transfer.Part) {}, Found: func(d transfer.Difference) { found = append(found, d.Key.String()+" "+d.What) },
		})
		if !slices.Equal(found, []string{`"cat:b" in database 3 value`}) {
			t.Errorf("%q differ", found)
		}
		if said := strings.Join(append(told, fmt.Sprint(err)), "\n"); !strings.Contains(said, "NOPERM") {
			t.Errorf("it says %s", said)
		}
	}
}

// TestDatabasesWithoutInfo probes servers that refuse INFO.
func TestDatabasesWithoutInfo(t *testing.T) {
	race.Skip(t)
	for name, test := range map[string]struct {
		selects, want string
	}{
		"any number":   {"+OK", "[0]"},
		"one database": {"-ERR unknown command 'SELECT'", "[0]"},
		"a cluster":    {"-ERR SELECT is not allowed in cluster mode", "[0]"},
		"refused":      {"-NOPERM no", `[] which databases hold keys cannot be seen: INFO was answered with "ERR unknown command", and SELECT with "NOPERM no"; choose the database with -n`},
	} {
		got, err := transfer.Databases(context.Background(), &mute{selects: test.selects})
		said := fmt.Sprint(got)
		if err != nil {
			said += " " + err.Error()
		}
		if said != test.want {
			t.Errorf("%s: %s, want %s", name, said, test.want)
		}
	}
}

// mute simulates a server without INFO and with scripted replies to SELECT.
type mute struct {
	keyspace.Session
	selects string
	db      int
}

func (m *mute) DB() int { return m.db }

func (m *mute) Do(_ context.Context, args ...[]byte) (resp.Value, error) {
	if string(args[0]) != "SELECT" {
		return resp.MakeError("ERR unknown command"), nil
	}
	if text, refused := strings.CutPrefix(m.selects, "-"); refused {
		return resp.MakeError(text), nil
	}
	m.db, _ = strconv.Atoi(string(args[1]))
	return resp.OK, nil
}
