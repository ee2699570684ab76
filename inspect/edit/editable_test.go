package edit

import (
	"bytes"
	"testing"

	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/store/keytype"
)

// TestElementsAreSaved checks the commands that save an element of each type. A field with
// an empty name keeps its TTL, too.
func TestElementsAreSaved(t *testing.T) {
	for _, c := range []struct {
		kind string
		row  []string
		want string
	}{
		{keytype.Hash, []string{"f", ""}, "HSET k f new"},
		{keytype.Hash, []string{"", "1700000090000"}, "HSET k  new; HPEXPIREAT k 1700000090000 FIELDS 1 "},
		{keytype.List, []string{"3"}, "LSET k 3 new"},
		{keytype.Array, []string{"3"}, "ARSET k 3 new"},
		{keytype.Set, []string{"m"}, "SREM k m; SADD k new"},
		{keytype.ZSet, []string{"1", "2", "m"}, "ZADD k XX new m"},
		{keytype.VectorSet, []string{"e"}, "VSETATTR k e new"},
	} {
		var calls [][]byte
		for _, call := range editElement(ui.Selection{Key: "k", Type: c.kind}, c.row, "old").save("new") {
			calls = append(calls, bytes.Join(call, []byte(" ")))
		}
		if got := string(bytes.Join(calls, []byte("; "))); got != c.want {
			t.Errorf("%s %q: %s, not %s", c.kind, c.row, got, c.want)
		}
	}
}
