package transfer_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/meowdis/meowdis/internal/oracle"
	"github.com/meowdis/meowdis/rdb"
	"github.com/meowdis/meowdis/transfer"
)

// TestTrimmedPending moves streams whose pending entries are not there any more, between two
// real servers and by way of a file: what DEBUG DIGEST sees, delivery times included, stays.
func TestTrimmedPending(t *testing.T) {
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
	run(t, from, "XTRIM trimmed MAXLEN 4", "XTRIM emptied MAXLEN 0", "XDEL deleted 1-1 5-1 7-1", "XDEL mixed 6-1", "XTRIM mixed MAXLEN 5")
	file, _ := openLocal(t)
	ctx := context.Background()
	for _, step := range [][2]transfer.Session{{from, to}, {from, file}, {file, to}} {
		run(t, step[1], "FLUSHALL")
		if _, told, err := move(t, step[0], step[1], transfer.WriteOptions{}); err != nil || len(told) > 0 {
			t.Fatal(err, told)
		}
		if found := differences(t, from, step[1]); len(found) > 0 {
			t.Errorf("%q", found)
		}
		for _, key := range []string{"trimmed", "emptied", "deleted", "mixed"} {
			var was, is []string
			for p, err := range transfer.FromKeys(ctx, from, []byte(key)) {
				was = append(was, fmt.Sprintf("%+v %v", pendingOf(p), err))
			}
			for p, err := range transfer.FromKeys(ctx, step[1], []byte(key)) {
				is = append(is, fmt.Sprintf("%+v %v", pendingOf(p), err))
			}
			if fmt.Sprint(was) != fmt.Sprint(is) {
				t.Errorf("%s:\n%s\nwas\n%s", key, is, was)
			}
		}
	}
}

func pendingOf(p transfer.Part) (lines []string) {
	s := p.Value.(*rdb.Stream)
	lines = append(lines, fmt.Sprint(s.Last, s.Deleted, s.Added))
	for _, g := range s.Groups {
		for _, c := range g.Consumers {
			lines = append(lines, fmt.Sprintf("%s %+v", c.Name, c.Pending))
		}
	}
	return lines
}
