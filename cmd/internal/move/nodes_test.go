package move

import (
	"fmt"
	"testing"
)

// TestNodes counts keys by node, in words for a line of a terminal.
func TestNodes(t *testing.T) {
	for _, c := range []struct {
		masters int
		want    string
	}{
		{2, "copying (4 of a, 1 of b)"},
		{5, "copying from 5 nodes (1 of b to 4 of a)"},
	} {
		r := Report{}
		r.ByNode("copying", func(name []byte) string { return string(name[:1]) })
		for i := range c.masters {
			r.addToNode(fmt.Appendf(nil, "%c%d", 'a'+i, i))
		}
		for range 3 {
			r.addToNode([]byte("a"))
		}
		if got := r.nodes.text(); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
	var none Report
	none.addToNode([]byte("a"))
	if all := none.nodes.list(); all != nil {
		t.Error(all)
	}
}
