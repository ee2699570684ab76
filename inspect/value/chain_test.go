package value

import (
	"slices"
	"testing"

	"github.com/meowdis/meowdis/inspect/client"
)

// TestChainThatChanged follows the new pages if a page read again ends at another cursor.
func TestChainThatChanged(t *testing.T) {
	f := client.NewSeenNames()
	page := func(i int, names ...string) []string {
		c := &chunk{}
		for _, n := range names {
			c.rows = append(c.rows, record{n})
		}
		keepFirst(f, i, c)
		var left []string
		for _, r := range c.rows {
			left = append(left, r[0])
		}
		return left
	}
	for _, c := range []struct {
		page        int
		found, left []string
	}{
		{0, []string{"a", "b", "a"}, []string{"a", "b"}},
		{1, []string{"b", "c", "d"}, []string{"c", "d"}},
		{2, []string{"d", "e"}, []string{"e"}},
		{1, []string{"b", "c", "d"}, []string{"c", "d"}},
		{0, []string{"a", "b", "c"}, []string{"a", "b", "c"}},
	} {
		if got := page(c.page, c.found...); !slices.Equal(got, c.left) {
			t.Errorf("page %d shows %v of %v, not %v", c.page, got, c.found, c.left)
		}
	}
	f.Forget(0)
	if got := page(2, "d", "e", "c"); !slices.Equal(got, []string{"d", "e"}) {
		t.Errorf("after the pages after the first were forgotten: %v", got)
	}

	p := newTape(2, true, 3, 3, 3, 3)
	p.follows(lastLine)
	if p.diverges(1, &chunk{rows: make([]record, 3), next: "2"}) || !p.diverges(1, &chunk{next: "5"}) || !p.diverges(3, &chunk{next: "4"}) {
		t.Error("strays does not tell a chain that changed from one that did not")
	}
	p.forgetAfter(1)
	if n, read := p.lineCount(); read {
		t.Errorf("all %d lines of a chain are known whose end was forgotten", n)
	}
	p.lengths[2] = 1
	p.add(1, &chunk{rows: make([]record, 3), next: "2"})
	p.home()
	p.fill()
	p.follows(lastLine)
	if n, read := p.lineCount(); n != 10 || !read {
		t.Errorf("the chain has %d lines, %v", n, read)
	}
}
