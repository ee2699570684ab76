package engine_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// impatient is a context that ends when it has been asked a number of times.
type impatient struct {
	context.Context
	asked, patience int
}

func (c *impatient) Err() error {
	if c.asked++; c.asked > c.patience {
		return context.Canceled
	}
	return nil
}

// cuckooHead returns a header of CF.SCANDUMP.
func cuckooHead(items, buckets, filters uint64, bucketSize, iterations, expansion uint16) string {
	var out []byte
	for _, n := range []uint64{items, buckets, 0, filters} {
		out = binary.LittleEndian.AppendUint64(out, n)
	}
	for _, n := range []uint16{bucketSize, iterations, expansion} {
		out = binary.LittleEndian.AppendUint16(out, n)
	}
	return string(out)
}

// labelsPayload returns the payload of a series with n labels, whose names and values are empty.
func labelsPayload(n int) string {
	m := &rdb.Module{Name: "TSDB-TYPE", Version: 9}
	m.String([]byte("k"))
	m.Numbers(0, 4096, 2, 0)
	m.Double(0)
	m.Numbers(0, 1, 0, 0)
	m.Double(0)
	m.Numbers(uint64(n))
	for range 2 * n {
		m.String(nil)
	}
	m.Numbers(0, 0)
	return string(rdb.Dump(m, nil))
}

// series returns the calls that create a series with rules, and samples at 1,000 and 1,000,000,000.
func seriesWithRules(rules int) (calls [][]string) {
	calls = [][]string{{"TS.CREATE", "k"}}
	for i := range rules {
		target := fmt.Sprint("target", i)
		calls = append(calls, []string{"TS.CREATE", target}, []string{"TS.CREATERULE", "k", target, "AGGREGATION", "twa", "1"})
	}
	return append(calls, strings.Fields("TS.MADD k 1000 1 k 1000000000 1"))
}

// TestHostileSizes makes small calls about large structures. Memory is charged before it is allocated, and a computation
// ends with its client.
func TestHostileSizes(t *testing.T) {
	race.Skip(t)
	long := strings.Repeat("x", 100_000)
	many := func(command string, n int, element string) []string {
		words := strings.Fields(command)
		for i := range n {
			words = append(words, strings.Fields(fmt.Sprintf(element, i))...)
		}
		return words
	}
	for _, test := range []struct {
		before [][]string
		call   []string
		ends   bool // with the client, and not with the memory
	}{
		{[][]string{{"CMS.INITBYDIM", "k", "1", "10000000"}}, []string{"CMS.QUERY", "k", "x"}, true},
		{[][]string{{"CMS.INITBYDIM", "k", "1", "10000000"}}, []string{"CMS.INCRBY", "k", "x", "1"}, true},
		{[][]string{{"CMS.INITBYDIM", "k", "1", "300"}}, []string{"CMS.INCRBY", "k", long, "1"}, true},
		{[][]string{{"CMS.INITBYDIM", "k", "1", "100000000"}}, []string{"CMS.MERGE", "k", "1", "k"}, false},
		{[][]string{{"CMS.INITBYDIM", "k", "1", "100000000"}}, []string{"DUMP", "k"}, false},
		{[][]string{{"TOPK.RESERVE", "k", "1", "1", "10000000", "0.9"}}, []string{"TOPK.ADD", "k", "x"}, true},
		{[][]string{{"TOPK.RESERVE", "k", "1", "1", "300", "0.9"}}, []string{"TOPK.COUNT", "k", long}, true},
		{[][]string{{"TOPK.RESERVE", "k", "20000000"}}, []string{"DUMP", "k"}, false},
		{[][]string{{"CF.LOADCHUNK", "k", "1", cuckooHead(1, 1, 1<<16, 255, 1, 1)}}, []string{"CF.EXISTS", "k", "x"}, true},
		{[][]string{{"CF.LOADCHUNK", "k", "1", cuckooHead(1, 1<<21, 1<<16, 255, 1, 1)}, {"CF.LOADCHUNK", "k", "4242", strings.Repeat("\x01", 4000)}},
			[]string{"CF.COMPACT", "k"}, false},
		// Deleting an item compacts the filter, which has 2^34 bytes.
		{[][]string{{"CF.LOADCHUNK", "k", "1", cuckooHead(1, 1<<21, 31, 255, 1, 1)}, {"CF.ADD", "k", "x"}}, []string{"CF.DEL", "k", "x"}, false},
		// Each filter is full, so that an item moves others.
		{[][]string{{"CF.LOADCHUNK", "k", "1", cuckooHead(1, 1, 1, 255, 65535, 0)}, {"CF.LOADCHUNK", "k", "256", strings.Repeat("\x01", 255)}},
			[]string{"CF.ADD", "k", "x"}, true},
		{[][]string{{"BF.RESERVE", "k", "0.01", "100000000", "NONSCALING"}}, many("BF.MADD k", 100_000, "m%d"), false},
		{nil, many("BF.MEXISTS k", 400_000, "m%d"), false},
		{[][]string{{"TDIGEST.CREATE", "k", "COMPRESSION", "1000000"}, many("TDIGEST.ADD k", 200_000, "%d")}, many("TDIGEST.CDF k", 100, "%d"), true},
		{nil, []string{"RESTORE", "k", "0", labelsPayload(500_000)}, false},
		{nil, []string{"TS.QUERYINDEX", "a=(" + strings.Repeat("v,", 400_000) + "v)"}, false},
		{nil, many("TS.MADD", 200_000, "k%d 1 1"), false},
		{seriesWithRules(20), many("TS.MADD", 2_000, "k %d 1"), false},
	} {
		name := fmt.Sprintf("%.60s after %.100s", strings.Join(test.call, " "), fmt.Sprint(test.before))
		s := inMemory(t).Session()
		s.Bound(store.NewBudget(nil, 1<<30, 0))
		do := func(ctx context.Context, words []string) (resp.Value, error) {
			call := make([][]byte, len(words))
			for i, word := range words {
				call[i] = []byte(word)
			}
			return s.Do(ctx, call...)
		}
		for _, words := range test.before {
			if v, err := do(context.Background(), words); err != nil || v.IsError() {
				t.Fatalf("%s: %q, %v", name, v.Str, err)
			}
		}
		s.Bound(store.NewBudget(nil, 64<<20, 0))
		ctx := &impatient{Context: context.Background(), patience: 1000}
		if test.ends {
			ctx.patience = 25
		}
		v, err := do(ctx, test.call)
		switch {
		case test.ends && !errors.Is(err, context.Canceled):
			t.Errorf("%s does not end with its client: %.100q, %v", name, v.Str, err)
		case !test.ends && !strings.Contains(string(v.Str), "request memory limit"):
			t.Errorf("%s is not refused: %.100q, %v", name, v.Str, err)
		}
	}
}

// TestManyClosedBuckets adds samples that each close buckets: the steps grow with their number, not with its square.
func TestManyClosedBuckets(t *testing.T) {
	const samples = 4000
	s := inMemory(t).Session()
	for _, words := range seriesWithRules(1) {
		if v, err := s.Do(context.Background(), split(t, []string{strings.Join(words, " ")})[0]...); err != nil || v.HasError() {
			t.Fatal(v, err)
		}
	}
	line := "TS.MADD"
	for i := range samples {
		line += fmt.Sprintf(" k %d 1", 10_000+2*i)
	}
	ctx := &impatient{Context: context.Background(), patience: 1 << 30}
	if v, err := s.Do(ctx, split(t, []string{line})[0]...); err != nil || v.HasError() {
		t.Fatal(v, err)
	}
	if most := 30; ctx.asked > most {
		t.Errorf("%d samples take %d checks of %d steps, want at most %d", samples, ctx.asked, store.StepsPerCheck, most)
	}
	v, err := s.Do(context.Background(), split(t, []string{"TS.RANGE target0 10000 10010"})[0]...)
	if err != nil || len(v.Elems) != 6 {
		t.Errorf("the target has %v, %v", v, err)
	}
}
