package keyspace

import (
	"fmt"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
)

// TestCallsOfManyKeys counts the allocations of a command for each of many keys: a move sends three for each key.
func TestCallsOfManyKeys(t *testing.T) {
	race.Skip(t)
	keys := make([]Key, 100)
	for i := range keys {
		keys[i].Name = fmt.Append(nil, "key", i)
	}
	var calls [][][]byte
	if n := testing.AllocsPerRun(10, func() { calls = callEach(keys, "OBJECT", "ENCODING") }); n > 5 {
		t.Errorf("%g allocations", n)
	}
	for i, args := range calls {
		if got := fmt.Sprintf("%s", args); got != fmt.Sprintf("[OBJECT ENCODING key%d]", i) || cap(args) != 3 {
			t.Errorf("call %d: %s", i, got)
		}
	}
}
