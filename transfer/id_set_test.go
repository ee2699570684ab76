package transfer

import (
	"math"
	"testing"
)

// TestIDSet adds numbers at the edges of blocks and of the type, and finds these only.
func TestIDSet(t *testing.T) {
	var s idSet
	ids := []int64{0, 1, 63, 64, idBlock - 1, idBlock, 5*idBlock + 7, math.MaxInt64, -1, -idBlock, math.MinInt64}
	for i, id := range ids {
		for j, other := range ids {
			if s.has(other) != (j < i) {
				t.Errorf("has(%d) is %v before %d was added", other, s.has(other), id)
			}
		}
		s.add(id)
	}
}
