package keys

import (
	"fmt"
	"testing"

	"github.com/meowdis/meowdis/keyspace/catalog"
)

func TestSampleIsEven(t *testing.T) {
	for _, n := range []int{0, 1, 499, 500, 501, 914, 999, 5000} {
		g := newGathered(catalog.Query{})
		for i := range n {
			g.add([]catalog.Entry{{Name: fmt.Sprintf("key:%05d", i)}})
		}
		names := g.sample(500)
		if len(names) != min(n, 500) {
			t.Errorf("%d names of %d", len(names), n)
		}
		for i, name := range names {
			if want := fmt.Sprintf("key:%05d", i*n/len(names)); name != want {
				t.Errorf("of %d keys, name %d is %s, not %s", n, i, name, want)
				break
			}
		}
	}
}
