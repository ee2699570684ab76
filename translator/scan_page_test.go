package translator

import (
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// TestScanRefusesDisorder expects an error if a damaged index returns keys before the cursor.
func TestScanRefusesDisorder(t *testing.T) {
	for next, refused := range map[int64]bool{0: false, 8: false, 7: true, 6: true} {
		if v := (scanOptions{cursor: 7}).page(next, resp.EmptyArray); v.IsError() != refused {
			t.Errorf("from 7 to %d: %v", next, v)
		}
	}
}
