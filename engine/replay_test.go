package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/hostile"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/store"
)

// interrupted is a store that calls a function after the n-th call.
type interrupted struct {
	engine.Store
	visits, after int
	happens       func()
}

func (s *interrupted) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	results, err := s.Store.Apply(ctx, batches)
	s.visits++
	if s.visits == s.after {
		s.happens()
	}
	return results, err
}

func openHostile(t *testing.T) *hostile.Store {
	t.Helper()
	s, err := hostile.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestReplayIsOneMoment lets another client change the keys of a transaction between any two calls of a store
// without transactions: the replies must show one point in time, before the change or after it.
func TestReplayIsOneMoment(t *testing.T) {
	race.Skip(t)
	for _, test := range []struct {
		before, other string
		queue         []string
	}{
		{"SET a old", "SET a new", []string{"SETNX a mine", "GET a"}},
		{"SET a old", "SET a old2 PXAT 1", []string{"SETNX a mine", "GET a"}},
		{"SET a old PXAT 1", "SET a new", []string{"SET a mine XX", "GET a"}},
		{"SET a old", "SET a 1", []string{"INCR a", "GET a"}},
		{"SET a old", "SET a 1", []string{"INCR a", "SET a 2 XX GET", "INCR a"}},
		{"SET a old", "SET a new", []string{"SET a mine NX GET", "GET a"}},
		{"SET a old", "SET a new", []string{"SET a mine XX GET", "SET b 1 NX GET", "SETNX a x", "GET a"}},
		// The names of these keys come out of the elements.
		{"MSET w_1 5 w_2 1", "MSET w_1 1 w_2 9", []string{"RPUSH l 1 2", "SORT l BY w_* GET w_* GET #"}},
		{"SET w_1 5", "SET w_2 9", []string{"RPUSH l 1 2", "SORT l BY w_* GET w_* STORE out", "SORT out", "LRANGE out 0 -1"}},
		{"HSET w_1 f 5", "HSET w_1 f 6", []string{"RPUSH l 1 2", "SORT l GET w_*->f", "SORT l GET w_*->f DESC"}},
		{"SET b old", "SET b 1", []string{"SET a 1 NX GET", "INCR b", "INCR a", "INCRBY b 2"}},
	} {
		moment := func(first string) string {
			c := storetest.NewClient(t, storetest.NewEngine(openHostile(t), storetest.NewClock()))
			c.Do(test.before)
			if first != "" {
				c.Do(first)
			}
			return transaction(c, test.queue)
		}
		before, after := moment(""), moment(test.other)
		for n := 1; ; n++ {
			s := openHostile(t)
			other := storetest.NewClient(t, storetest.NewEngine(s, storetest.NewClock()))
			other.Do(test.before)
			between := &interrupted{Store: s, after: n, happens: func() { other.Do(test.other) }}
			got := transaction(storetest.NewClient(t, storetest.NewEngine(between, storetest.NewClock())), test.queue)
			if got != before && got != after {
				t.Errorf("%s, then %q, and %s after visit %d:\n%s\nwant\n%s\nor\n%s", test.before, test.queue, test.other, n, got, before, after)
			}
			storetest.Check(t, s)
			if between.visits < n {
				break
			}
		}
	}
}

// transaction runs the lines in MULTI and returns EXEC's reply.
func transaction(c *storetest.Client, lines []string) string {
	c.Want("MULTI", "OK")
	for _, line := range lines {
		c.Want(line, "QUEUED")
	}
	return c.Do("EXEC")
}

// TestReplayOfManyRefusals limits the work for a transaction of refused commands.
func TestReplayOfManyRefusals(t *testing.T) {
	s := &interrupted{Store: openHostile(t)}
	c := storetest.NewClient(t, storetest.NewEngine(s, storetest.NewClock()))
	c.Do("SET a text")
	const n = 30
	var lines []string
	for i := range n {
		lines = append(lines, "INCR a", fmt.Sprintf("INCR n%d", i))
	}
	s.visits = 0
	transaction(c, lines)
	c.Want("GET n29", `"1"`)
	if s.visits > 4*n {
		t.Errorf("%d refusals took %d visits to the store", n, s.visits)
	}
}
