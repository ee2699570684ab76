package transfer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/transfer"
)

// TestTrimmedPending moves streams with pending entries that were trimmed, between two real
// servers and through a file. DEBUG DIGEST, which includes delivery times, must not change.
func TestTrimmedPending(t *testing.T) {
	race.Skip(t)
	oneGoroutine(t)
	one, two := oracle.Start(t), oracle.Start(t)
	one.Dial(t)
	two.Dial(t)
	from, to := openRedis(t, one.Socket), openRedis(t, two.Socket)
	for _, key := range []string{"trimmed", "emptied", "deleted", "mixed"} {
		for i := range 9 {
			run(t, from, fmt.Sprintf("XADD %s %d-1 f v", key, i+1))
		}
		run(t, from, "XGROUP CREATE "+key+" g 0", "XREADGROUP GROUP g c COUNT 7 STREAMS "+key+" >", "XREADGROUP GROUP g d COUNT 1 STREAMS "+key+" >")
	}
	// Enough entries for more than one part.
	for i := range 6000 {
		run(t, from, fmt.Sprintf("XADD long %d-1 f v", i+1), fmt.Sprintf("XADD gone %d-1 f v", i+1))
	}
	run(t, from, "XGROUP CREATE long g 0", "XREADGROUP GROUP g c COUNT 5990 STREAMS long >", "XGROUP CREATE long h 3-1", "XREADGROUP GROUP h c COUNT 9 STREAMS long >",
		"XGROUP CREATE gone g 0", "XREADGROUP GROUP g c COUNT 6000 STREAMS gone >", "XTRIM gone MAXLEN 5000", "XDEL gone 6000-1 5999-1",
		"XDEL long 4500-1 1000-1 1-1 2-1 5-1 6000-1")
	run(t, from, "XTRIM trimmed MAXLEN 4", "XTRIM emptied MAXLEN 0", "XDEL deleted 1-1 5-1 7-1", "XDEL mixed 6-1", "XTRIM mixed MAXLEN 5")
	file, _ := openLocal(t)
	for _, step := range [][2]keyspace.Session{{from, to}, {from, file}, {file, to}} {
		run(t, step[1], "FLUSHALL")
		if _, told, err := move(t, step[0], step[1], transfer.WriteOptions{}); err != nil || len(told) > 0 {
			t.Fatal(err, told)
		}
		if found := differences(t, from, step[1]); len(found) > 0 {
			t.Errorf("%q", found)
		}
		for _, key := range []string{"trimmed", "emptied", "deleted", "mixed", "long", "gone"} {
			if was, is := pendingIn(t, from, key), pendingIn(t, step[1], key); was != is {
				t.Errorf("%s:\n%.2000s\nwas\n%.2000s", key, is, was)
			}
		}
	}
}

// pendingIn returns the metadata of a stream.
func pendingIn(t *testing.T, session keyspace.Session, key string) string {
	t.Helper()
	var lines []string
	for p, err := range transfer.FromKeys(context.Background(), session, []byte(key)) {
		if err != nil || p.Err != nil {
			t.Fatal(err, p.Err)
		}
		if p.Last {
			s := p.Value.(*rdb.Stream)
			lines = append(lines, fmt.Sprint(s.Last, s.Deleted, s.Added))
			for _, g := range s.Groups {
				for _, c := range g.Consumers {
					lines = append(lines, fmt.Sprintf("%s %s %d %+v", g.Name, c.Name, len(c.Pending), c.Pending))
				}
			}
		}
	}
	return strings.Join(lines, "\n")
}
