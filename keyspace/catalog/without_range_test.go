package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// before84 simulates a client of Redis before 8.4, without VRANGE.
type before84 struct{ keyspace.Client }

func (c before84) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	if string(args[0]) == "VRANGE" {
		return resp.MakeError("ERR unknown command 'VRANGE', with args beginning with: "), nil
	}
	return c.Client.Do(ctx, args...)
}

// TestVectorsWithoutRange lists a vector set of more than one page, on servers with and without
// VRANGE.
func TestVectorsWithoutRange(t *testing.T) {
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx, session := context.Background(), engine.New(file).Session()
	const many = 1234
	for i := range many {
		if v, err := session.Do(ctx, []byte("VADD"), []byte("vec"), []byte("VALUES"), []byte("1"), []byte("1"), fmt.Appendf(nil, "e%05d", i)); err != nil || v.IsError() {
			t.Fatal(err, v)
		}
	}
	key := keyspace.Key{Name: []byte("vec"), Type: keytype.VectorSet}
	for _, c := range []keyspace.Client{session, before84{session}} {
		var names []string
		if err := keyspace.Elements(ctx, c, key, "", func(parts [][]byte) error {
			names = append(names, string(parts[0]))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(names) != many || len(slices.Compact(slices.Sorted(slices.Values(names)))) != many {
			t.Errorf("%T: %d elements", c, len(names))
		}
		if first, err := keyspace.First(ctx, c, key, 2); err != nil || fmt.Sprintf("%s", first) != "[[e00000] [e00001]]" {
			t.Errorf("%T: %s, %v", c, first, err)
		}
	}
}
