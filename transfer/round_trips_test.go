package transfer_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// counting is a session that counts round trips.
type counting struct {
	keyspace.Session
	trips int
}

func (c *counting) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	c.trips++
	return c.Session.Do(ctx, args...)
}

func (c *counting) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	c.trips++
	return c.Session.Pipeline(ctx, calls)
}

// TestRoundTrips reads small keys of all types in one round trip per page. Each position is
// reported only after all keys before it were yielded.
func TestRoundTrips(t *testing.T) {
	const keys, page, more = 8000, 512, 9 // more: databases, first and last pages, and the small initial batches
	from, _ := openLocal(t)
	var calls [][][]byte
	for i := range keys {
		line := []string{"SET k%d v", "RPUSH k%d a b", "SADD k%d a b", "HSET k%d f v g w", "ZADD k%d 1 a", "XADD k%d 1-1 f v", "ARSET k%d 7 x", "JSON.SET k%d $ {}"}[i%8]
		args, _ := resp.SplitLine(fmt.Sprintf(line, i))
		calls = append(calls, args)
		if i%16 == 3 {
			args, _ = resp.SplitLine(fmt.Sprintf("HPEXPIREAT k%d %d FIELDS 1 g", i, later))
			calls = append(calls, args)
		}
	}
	if _, err := from.Pipeline(context.Background(), calls); err != nil {
		t.Fatal(err)
	}
	for _, o := range []transfer.ReadOptions{{}, {Databases: []int{0}, Type: transfer.HashType}} {
		session := &counting{Session: from}
		yielded, positions := map[string]bool{}, 0
		want := keys
		if o.Type != "" {
			want /= 8
		}
		o.Reached = func(_ context.Context, at transfer.Position) error {
			if positions++; positions%5 != 1 {
				return nil
			}
			all := maps.Clone(yielded)
			for p, err := range transfer.FromSession(context.Background(), from, transfer.ReadOptions{Databases: []int{0}, Type: o.Type, From: at}) {
				if err != nil {
					return err
				}
				all[string(p.Key.Name)] = true
			}
			if len(all) != want {
				t.Errorf("%d keys are before %s or after it, not %d", len(all), at, want)
			}
			return nil
		}
		expiring := 0
		for p, err := range transfer.FromSession(context.Background(), session, o) {
			if err != nil || p.Err != nil || !p.First || !p.Last || yielded[string(p.Key.Name)] {
				t.Fatal(p, err)
			}
			yielded[string(p.Key.Name)] = true
			if h, ok := p.Value.(rdb.Hash); ok && h[1].ExpiresAt == later {
				expiring++
			}
		}
		if pages := keys / page; len(yielded) != want || expiring != keys/16 || session.trips > pages+more || positions < pages-1 {
			t.Errorf("%d keys, %d of fields that expire, in %d round trips, with %d positions, of %d pages", len(yielded), expiring, session.trips, positions, pages)
		}
	}
}
