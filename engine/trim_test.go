package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/hostile"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store/sweep"
	"github.com/meowdis/meowdis/translator"
)

// trimmed returns the result of LTRIM as its documentation specifies it.
func trimmed(list []string, start, stop int) []string {
	n := len(list)
	if start < 0 {
		start = max(0, n+start)
	}
	if stop < 0 {
		stop = n + stop
	}
	if stop = min(stop, n-1); start > stop {
		return nil
	}
	return slices.Clone(list[start : stop+1])
}

// unswept returns a file and a hostile store that only the test sweeps.
func unswept(t *testing.T) map[string]engine.Store {
	file, err := local.Open(t.TempDir()+"/db.sqlite", local.Options{SweepEvery: -1, RowCacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	other, err := hostile.Open()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]engine.Store{"a file": file, "hostile": other}
}

// TestTrimLongLists trims lists as if they were long, at every position, pushes to the rest, and sweeps in
// between.
func TestTrimLongLists(t *testing.T) {
	race.Skip(t)
	defer func(n int64) { translator.LongList = n }(translator.LongList)
	translator.LongList = 7
	for name, s := range unswept(t) {
		c := storetest.NewClient(t, storetest.NewEngine(s, storetest.NewClock()))
		left := 0
		places := []int{-20, -13, -12, -11, -3, -1, 0, 1, 2, 5, 9, 11, 12, 40}
		for _, start := range places {
			for _, stop := range places {
				list := strings.Fields("a b c d e f g h i j k l")
				c.Do("RPUSH list " + strings.Join(list, " "))
				c.Do("PEXPIRE list 5000")
				c.Want(fmt.Sprintf("LTRIM list %d %d", start, stop), "OK")
				list = trimmed(list, start, stop)
				c.Want("PTTL list", map[bool]string{true: "(integer) 5000", false: "(integer) -2"}[len(list) > 0])
				c.Do("RPUSH list y")
				c.Do("LPUSH list x")
				list = append(append([]string{"x"}, list...), "y")
				want := ""
				for i, e := range list {
					want += fmt.Sprintf("\n%*d) %q", len(fmt.Sprint(len(list))), i+1, e)
				}
				if got := c.Do("LRANGE list 0 -1"); got != want[1:] {
					t.Errorf("%s: LTRIM %d %d:\n%s, want\n%s", name, start, stop, got, want[1:])
				}
				cutZSets(c, start, stop)
				popZSet(c, start)
				if start == stop {
					storetest.Check(t, s)
					for n := 1; n > 0; {
						var err error
						if n, err = sweep.PendingDeletes(context.Background(), s.Apply, 10); err != nil {
							t.Fatal(err)
						}
						left += n
					}
				}
				c.Do("DEL list ranks scores")
			}
		}
		if left == 0 {
			t.Errorf("%s: no list has left anything to a sweep", name)
		}
	}
}

// cutZSets removes ranges of two sorted sets whose scores are the ranks.
func cutZSets(c *storetest.Client, start, stop int) {
	c.Do("ZADD ranks 0 a 1 b 2 c 3 d 4 e 5 f 6 g 7 h 8 i 9 j 10 k 11 l")
	c.Do("COPY ranks scores")
	first, last := start, stop
	if first < 0 {
		first = max(0, 12+first)
	}
	if last < 0 {
		last += 12
	}
	var left []string
	removed := 0
	for i := range 12 {
		if i >= first && i <= last {
			removed++
			continue
		}
		left = append(left, string(rune('a'+i)))
	}
	c.Want(fmt.Sprintf("ZREMRANGEBYRANK ranks %d %d", start, stop), fmt.Sprintf("(integer) %d", removed))
	c.Want(fmt.Sprintf("ZREMRANGEBYSCORE scores %d (%d", first, last+1), fmt.Sprintf("(integer) %d", removed))
	for _, key := range []string{"ranks", "scores"} {
		want := "(empty array)"
		for i, m := range left {
			line := fmt.Sprintf("%*d) %q", len(fmt.Sprint(len(left))), i+1, m)
			if want += "\n" + line; i == 0 {
				want = line
			}
		}
		c.Want("ZRANGE "+key+" 0 -1", want)
		c.Want("ZCARD "+key, fmt.Sprintf("(integer) %d", len(left)))
		c.Want("ZADD "+key+" 3.5 new", "(integer) 1")
		if len(left) > 0 {
			c.Want("ZRANK "+key+" "+left[0], map[bool]string{true: "(integer) 1", false: "(integer) 0"}[left[0] > "d"])
		}
	}
}

// popZSet pops n members from either end of a sorted set, and n random members of a set.
func popZSet(c *storetest.Client, n int) {
	if n < 0 {
		return
	}
	c.Do("ZADD min 0 a 1 b 2 c 3 d 4 e 5 f 6 g 7 h 8 i 9 j 10 k 11 l")
	c.Do("COPY min max")
	c.Do("ZUNIONSTORE left 1 min")
	c.Do("SADD set a b c d e f g h i j k l")
	all := strings.Fields("a b c d e f g h i j k l")
	n = min(n, len(all))
	replies := func(command string) []string {
		r := strings.Fields(strings.NewReplacer(`"`, " ", ")", " ").Replace(c.Do(command)))
		return slices.DeleteFunc(r, func(word string) bool { return word[0] < 'a' || word[0] > 'l' || len(word) > 1 })
	}
	popped := replies(fmt.Sprintf("ZPOPMIN min %d", n))
	if n != 1 && !slices.Equal(popped, all[:n]) || !slices.Equal(replies("ZRANGE min 0 -1"), all[n:]) {
		c.Want("ZPOPMIN min", fmt.Sprintf("%d popped %q", n, popped))
	}
	popped = replies(fmt.Sprintf("ZPOPMAX max %d", n))
	slices.Reverse(popped)
	if !slices.Equal(popped, all[12-n:]) || !slices.Equal(replies("ZRANGE max 0 -1"), all[:12-n]) {
		c.Want("ZPOPMAX max", fmt.Sprintf("%d popped %q", n, popped))
	}
	popped = append(replies(fmt.Sprintf("SPOP set %d", n)), replies("SMEMBERS set")...)
	slices.Sort(popped)
	if !slices.Equal(popped, all) {
		c.Want("SPOP set", fmt.Sprintf("%d popped and left %q", n, popped))
	}
	for _, key := range []string{"min", "max", "set"} {
		want := map[bool]string{true: fmt.Sprintf("(integer) %d", 12-n), false: "(integer) 0"}[n < 12]
		c.Want(map[bool]string{true: "SCARD ", false: "ZCARD "}[key == "set"]+key, want)
	}
	c.Do("DEL min max set left")
}

// TestTrimLongStreams trims streams as if they were long, and copies of them directly: the results are equal,
// including their groups.
func TestTrimLongStreams(t *testing.T) {
	race.Skip(t)
	defer func(n int64) { translator.LongList = n }(translator.LongList)
	short := translator.LongList
	for name, s := range unswept(t) {
		e, left := storetest.NewEngine(s, storetest.NewClock()), 0
		limits := translator.DefaultLimits
		limits.NodeEntries = 3
		e.SetLimits(limits)
		c := storetest.NewClient(t, e)
		for _, options := range []string{"MAXLEN 0", "MAXLEN 1", "MAXLEN 4", "MAXLEN 5", "MAXLEN 12", "MAXLEN 40", "MAXLEN ~ 4 LIMIT 0", "MAXLEN ~ 5 LIMIT 0", "MAXLEN ~ 4",
			"MINID 0", "MINID 17", "MINID 18", "MINID 20", "MINID 99", "MINID ~ 18 LIMIT 0", "MINID 19-5", "MAXLEN 3 ACKED", "MAXLEN 3 DELREF"} {
			for _, line := range slices.Concat([]string{"DEL a b"}, each("XADD a %d-1 f v%d", 20), []string{
				"XDEL a 17-1", "XGROUP CREATE a g 0", "XGROUP CREATE a h 5", "XREADGROUP GROUP g tom COUNT 19 STREAMS a >",
				"XREADGROUP GROUP h kitty COUNT 2 STREAMS a >", "PEXPIRE a 5000", "COPY a b"}) {
				c.Do(line)
			}
			for _, command := range []string{"XTRIM %s " + options, "XADD %s " + options + " 30-1 f last"} {
				translator.LongList = 7
				got := c.Do(fmt.Sprintf(command, "a"))
				translator.LongList = short
				c.Want(fmt.Sprintf(command, "b"), got)
				for _, look := range []string{"XINFO STREAM %s FULL", "DUMP %s", "PTTL %s", "XRANGE %s - +"} {
					c.Want(fmt.Sprintf(look, "b"), c.Do(fmt.Sprintf(look, "a")))
				}
				if strings.HasPrefix(options, "MAXLEN") && strings.HasPrefix(command, "XTRIM") { // the XADD is about all of them
					c.Do("DEL a")
					for _, line := range slices.Concat(each("XADD a %d-1 f v%d", 20), []string{"COPY a b REPLACE"}) {
						c.Do(line)
					}
				}
			}
			storetest.Check(t, s)
			for n := 1; n > 0; left += n {
				var err error
				if n, err = sweep.PendingDeletes(context.Background(), s.Apply, 10); err != nil {
					t.Fatal(err)
				}
			}
		}
		if left == 0 {
			t.Errorf("%s: no stream has left anything to a sweep", name)
		}
	}
}
