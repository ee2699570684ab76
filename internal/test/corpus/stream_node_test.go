package corpus_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator"
)

// Trimming with ~ removes whole nodes, whose bounds depend on all that was added and
// deleted before. Random histories must trim what Redis trims.
func TestStreamNodes(t *testing.T) {
	defer func(n int64) { translator.LongList = n }(translator.LongList)
	redis := oracle.Start(t).Dial(t)
	s, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := int64(start)
	e := newEngine(s, &now)
	session := e.Session()
	for seed := range uint64(6) {
		h := streamHistory{Rand: rand.New(rand.NewPCG(seed, 1))}
		limits := translator.DefaultLimits
		e.SetLimits(limits)
		translator.LongList = []int64{0, 20, 2000}[seed%3]
		redis.Do(words("CONFIG SET stream-node-max-entries 100 stream-node-max-bytes 4096")...)
		var said []string
		both := func(call [][]byte) {
			t.Helper()
			want := redis.Do(call...)
			got, err := session.Do(context.Background(), call...)
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, fmt.Sprintf("%.60q", call))
			if g, w := resp.Append2(nil, got), resp.Append2(nil, want); !bytes.Equal(g, w) {
				t.Fatalf("seed %d: %.80q, redis-server %.80q, after\n%s", seed, g, w, strings.Join(said[max(0, len(said)-60):], "\n"))
			}
		}
		both(words("FLUSHALL"))
		for range 250 {
			if h.IntN(60) == 0 {
				limits.NodeEntries, limits.NodeBytes = []int64{0, 1, 2, 3, 10, 100, 200}[h.IntN(7)], []int64{0, 1, 64, 200, 4096}[h.IntN(5)]
				e.SetLimits(limits)
				redis.Do(words(fmt.Sprintf("CONFIG SET stream-node-max-entries %d stream-node-max-bytes %d", limits.NodeEntries, limits.NodeBytes))...)
			}
			for _, call := range h.next() {
				both(call)
			}
			both(words("XLEN s"))
		}
		both(words("XRANGE s - +"))
		both(words("XRANGE t - +"))
		storetest.Check(t, s)
	}
}

func words(line string) (call [][]byte) {
	for _, w := range strings.Fields(line) {
		call = append(call, []byte(w))
	}
	return call
}

// streamHistory makes random calls on the streams s and t.
type streamHistory struct {
	*rand.Rand
	ms, seq uint64
	ids     []string
}

func (h *streamHistory) next() (calls [][][]byte) {
	switch n := h.IntN(40); {
	case n < 22:
		for range 1 + h.IntN(40) {
			calls = append(calls, h.add(""))
		}
	case n < 25:
		calls = append(calls, h.add(" "+h.trim()))
	case n < 32:
		call := "XDEL s"
		for range 1 + h.IntN(60) {
			call += " " + h.anyID()
		}
		calls = append(calls, words(call))
	case n < 38:
		calls = append(calls, words("XTRIM s "+h.trim()))
	case n == 38:
		calls = append(calls, words([]string{"COPY s t REPLACE", "COPY t s REPLACE"}[h.IntN(2)]))
	default:
		calls = append(calls, words([]string{"DEL s", "COPY s t", "RENAME s t", "XTRIM s MAXLEN 0", "SET s x", "DEL s"}[h.IntN(6)]), words("DEL s"))
	}
	return calls
}

func (h *streamHistory) add(options string) [][]byte {
	switch h.IntN(6) {
	case 0:
		h.ms += h.Uint64N(1 << h.IntN(40))
		h.seq = h.Uint64N(1 << h.IntN(40))
	case 1:
		h.seq += h.Uint64N(300)
	}
	h.seq++
	id := fmt.Sprintf("%d-%d", h.ms, h.seq)
	h.ids = append(h.ids, id)
	names := []string{"a b", "a b", "a b", "b a", "a", "77 " + strings.Repeat("n", h.IntN(80))}[h.IntN(6)]
	call := "XADD s" + options + " " + id
	for _, name := range strings.Fields(names) {
		value := []string{"1", "-4096", "70000", "9223372036854775807", "007", "v", strings.Repeat("x", 1+h.IntN(1<<h.IntN(13)))}[h.IntN(7)]
		call += " " + name + " " + value
	}
	return words(call)
}

func (h *streamHistory) anyID() string {
	if len(h.ids) == 0 || h.IntN(20) == 0 {
		return "5-5"
	}
	return h.ids[max(0, len(h.ids)-1-h.IntN(1<<h.IntN(11)))]
}

func (h *streamHistory) trim() string {
	how, limit := "~", ""
	if h.IntN(4) == 0 {
		how = "="
	} else if h.IntN(2) == 0 {
		limit = fmt.Sprintf(" LIMIT %d", h.IntN(1<<h.IntN(10)))
	}
	if h.IntN(2) == 0 {
		return "MINID " + how + " " + h.anyID() + limit
	}
	return fmt.Sprintf("MAXLEN %s %d%s", how, h.IntN(1<<h.IntN(11)), limit)
}
