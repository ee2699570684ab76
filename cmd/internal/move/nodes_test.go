package move

import (
	"slices"
	"testing"
)

// TestNodes counts keys by node, in texts for lines of a terminal.
func TestNodes(t *testing.T) {
	r := Report{}
	r.ByNode("copying", func(name []byte) string { return string(name[:1]) })
	for _, name := range []string{"a1", "b1", "c1", "a2", "a3", "c2"} {
		r.Read([]byte(name))
	}
	want := []string{"copying (3 of a, 1 of b, 2 of c)", "copying from 3 nodes (1 of b to 3 of a)", "copying from 3 nodes (1 to 3)"}
	if got := r.nodes.texts(); !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	var none Report
	none.Read([]byte("a"))
	if all := none.nodes.list(); all != nil {
		t.Error(all)
	}
}
