package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/hostile"
	"github.com/meowdis/meowdis/internal/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/sweep"
	"github.com/meowdis/meowdis/translator"
)

// trimmed is LTRIM as its documentation says.
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

// TestTrimLongLists cuts lists as if they were long, at every place, pushes to what is left, and has a sweep
// delete the rest in between.
func TestTrimLongLists(t *testing.T) {
	defer func(n int64) { translator.LongList = n }(translator.LongList)
	translator.LongList = 7
	file, err := local.Open(t.TempDir()+"/db.sqlite", local.Options{SweepEvery: -1, Keep: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	other, err := hostile.Open()
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]engine.Store{"a file": file, "hostile": other} {
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
				storetest.Check(t, s)
				if start == stop {
					for n := 1; n > 0; {
						if n, err = sweep.Graves(context.Background(), s.Apply, 10); err != nil {
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
