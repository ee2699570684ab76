package local

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestCoalescedWrites runs random pipelines of several clients as groups, in which a store coalesces writes, and one
// command after the other on another store: the replies and the keys must be the same.
func TestCoalescedWrites(t *testing.T) {
	ctx := context.Background()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	now := int64(1_900_000_000_000)
	open := func() (*Store, *engine.Engine) {
		st, err := Open(t.TempDir()+"/file", Options{SweepEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		st.clock = func() time.Time { return time.Time{} } // so that no pipeline takes long, which would change the order
		t.Cleanup(func() { st.Close() })
		return st, engine.New(st, engine.WithClock(func() int64 { return now }))
	}
	st, grouped := open()
	_, alone := open()
	one := alone.Session()
	sessions := []*engine.Session{grouped.Session(), grouped.Session(), grouped.Session()}
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	line := func(key string) string {
		switch random.IntN(20) {
		case 0:
			return pick("DEL "+key, "SADD "+key+" m1 m2 m3")
		case 1:
			return pick("SET "+key+" x", "PEXPIRE "+key+" 7", "RPUSH "+key+" a b c", "LTRIM "+key+" 0 9", "LPUSHX "+key+" x")
		case 2:
			return "RPUSH " + key + " " + strings.Repeat("long", 300)
		}
		return ""
	}
	for round := range 400 {
		now += int64(random.IntN(4))
		var pipelines [][][][]byte
		usual, key := "", ""
		for range sessions {
			var calls [][][]byte
			for range 1 + random.IntN(20) {
				if usual == "" || random.IntN(8) == 0 {
					usual, key = pick("LPUSH", "RPUSH", "LPOP", "RPOP"), pick("a", "b")
				}
				text := line(key)
				switch {
				case text != "":
				case strings.HasSuffix(usual, "POP"):
					text = usual + " " + key
				default:
					text = fmt.Sprintf("%s %s m%d", usual, key, random.IntN(30))
				}
				calls = append(calls, args(text))
			}
			pipelines = append(pipelines, calls)
		}
		got := applyTogether(t, sessions, grouped, pipelines)
		for i, calls := range pipelines {
			for j, call := range calls {
				want, err := one.Do(ctx, call...)
				if err != nil {
					t.Fatal(err)
				}
				if differ(got[i][j], want) {
					t.Fatalf("seed %d, round %d, %.60q: %q, want %q", seed, round, call, wire(got[i][j]), wire(want))
				}
			}
		}
		for _, text := range []string{"TYPE a", "TYPE b", "LRANGE a 0 -1", "LRANGE b 0 -1", "SMEMBERS a", "SMEMBERS b", "PTTL a", "PTTL b"} {
			is, _ := sessions[0].Do(ctx, args(text)...)
			want, _ := one.Do(ctx, args(text)...)
			if differ(is, want) {
				t.Fatalf("seed %d, round %d, %s: %q, want %q", seed, round, text, wire(is), wire(want))
			}
		}
	}
	storetest.Check(t, st)
}

// TestStepsOfPipeline bounds the programs of SQLite's virtual machine that a pipeline of 16 commands on one list takes.
func TestStepsOfPipeline(t *testing.T) {
	race.Skip(t)
	s, err := Open(t.TempDir()+"/steps", Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session := engine.New(s).Session()
	if _, err := session.Do(context.Background(), args("RPUSH l"+strings.Repeat(" x", 100))...); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"RPUSH l x", "LPUSH l x", "LPOP l", "RPOP l"} {
		var programs, steps int
		for range 2 { // the first time prepares the statements
			pipeline := slices.Repeat([][][]byte{args(line)}, 16)
			count := func() {
				err = s.withWriter(func(c *conn) error {
					programs, steps = c.work(1)
					return nil
				})
			}
			count()
			if _, err := session.Pipeline(context.Background(), pipeline); err != nil {
				t.Fatal(err)
			}
			count()
			if err != nil {
				t.Fatal(err)
			}
		}
		if programs > 5 || steps > 820 {
			t.Errorf("16 × %s: %d programs with %d steps, want at most 5 and 820", line, programs, steps)
		}
	}
}

// applyTogether plans the pipeline of each session, applies the pipelines together, and returns their replies.
func applyTogether(t *testing.T, sessions []*engine.Session, e *engine.Engine, pipelines [][][][]byte) [][]resp.Value {
	t.Helper()
	plans := make([]*engine.PlannedPipeline, len(sessions))
	for i, s := range sessions {
		if plans[i] = (&engine.PlannedPipeline{}); !s.Plan(pipelines[i], plans[i]) {
			t.Fatalf("%q is not planned", pipelines[i])
		}
	}
	var applied sync.WaitGroup
	applied.Add(len(plans))
	for rest := plans; len(rest) > 0; {
		rest = rest[e.ApplyGroup(rest, func(int) { applied.Done() }):]
	}
	applied.Wait()
	replies := make([][]resp.Value, len(plans))
	for i, p := range plans {
		err := p.Finish(context.Background(), func(some []resp.Value) error {
			replies[i] = append(replies[i], some...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return replies
}

func args(line string) (words [][]byte) {
	for _, word := range strings.Fields(line) {
		words = append(words, []byte(word))
	}
	return words
}

func wire(v resp.Value) string { return string(resp.Append3(nil, v)) }

func differ(a, b resp.Value) bool { return wire(a) != wire(b) }
