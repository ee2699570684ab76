package transfer_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/transfer"
)

// differences lists the differences between two sessions.
func differences(t testing.TB, a, b keyspace.Session) (lines []string) {
	t.Helper()
	var told problems
	_, err := transfer.Diff(context.Background(), a, b, transfer.DiffOptions{
		Tolerance: time.Second, Notify: told.add, Seen: func(transfer.Part) {},
		Found: func(d transfer.Difference) {
			lines = append(lines, fmt.Sprintf("%s: %s: %s | %s", d.Key, d.What, d.A, d.B))
		},
	})
	if err != nil || len(told) > 0 {
		t.Fatal(err, told)
	}
	slices.Sort(lines)
	return lines
}

// TestDiffAcross compares a file with the same keys on other kinds of sessions.
func TestDiffAcross(t *testing.T) {
	redis := oracle.Start(t)
	redis.Dial(t)
	file, _ := openLocal(t)
	run(t, file, sample()...)
	for name, place := range map[string]keyspace.Session{"redis": openRedis(t, redis.Socket), "rest": openREST(t)} {
		if _, _, err := move(t, file, place, transfer.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		run(t, place, "SELECT 0")
		run(t, file, "SELECT 0")
		if lines := append(differences(t, file, place), differences(t, place, file)...); len(lines) > 0 {
			t.Errorf("%s: %q", name, lines)
		}
	}
}

// TestDiffOfLargeKeys finds one differing element among many.
func TestDiffOfLargeKeys(t *testing.T) {
	race.Skip(t)
	for _, c := range []struct{ make, change, want string }{
		{many("HSET k", 6_000, "f# v#"), "HSET k f5998 x", `"k": value: field "f5998": "v5998" | "x"`},
		{many("HSET k", 6_000, "f# v#"), fmt.Sprintf("HPEXPIREAT k %d FIELDS 1 f5998", later), fmt.Sprintf(
			`"k": value: field "f5998" expires never | %s`, time.UnixMilli(later).UTC().Format("2006-01-02T15:04:05.000Z"))},
		{many("SADD k", 6_000, "m#") + " a", "SREM k a", `"k": value: length 6001 | 6000`},
		{many("ZADD k", 6_000, "# m#"), "ZADD k 0.5 m5000", `"k": value: score of "m5000": 5000 | 0.5`},
		{many("RPUSH k", 6_000, "e#"), "LSET k 5000 x", `"k": value: [5000] "e5000" | "x"`},
		{"SETRANGE k 20000000 x", "SETRANGE k 19999999 y", `"k": value: from byte 19999999 on "\x00x" | "yx"`},
		{many("ARMSET k", 6_000, "5# v#"), "ARSET k 55000 x", `"k": value: [55000] "v5000" | "x"`},
		{many("ARMSET k", 6_000, "5# v#"), "ARSEEK k 9", `"k": value: goes on at [0] | [9]`},
	} {
		a, _ := openLocal(t)
		b, _ := openLocal(t)
		run(t, a, c.make)
		run(t, b, c.make)
		if lines := differences(t, a, b); len(lines) > 0 {
			t.Errorf("%.20s differs from itself: %q", c.make, lines)
		}
		run(t, b, c.change)
		if lines := differences(t, a, b); len(lines) != 1 || lines[0] != c.want {
			t.Errorf("%s: %q\nwant %s", c.change, lines, c.want)
		}
	}
}
