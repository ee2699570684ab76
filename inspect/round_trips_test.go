package inspect

import (
	"context"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// trips is a Client that counts round trips.
type trips struct {
	keyspace.Client
	n int
}

func (c *trips) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	c.n++
	return c.Client.Pipeline(ctx, calls)
}

// TestScanInOneTripAPage sorts a server's keys by a fact that each key must be asked for.
func TestScanInOneTripAPage(t *testing.T) {
	race.Skip(t)
	const keys, pages = 10_000, 11 // pages of 500 keys, then of 1000
	f := newFake().plain(keys)
	client := &trips{Client: f}
	s := browseOn(t, client, f, 100, 24)
	before := client.n
	s.press("s", "t", "enter")
	s.shows("TTL")
	// The first page takes two more, and so do the facts on the screen.
	if n := client.n - before; n < pages || n > pages+5 {
		t.Errorf("%d round trips for %d pages", n, pages)
	}
}
