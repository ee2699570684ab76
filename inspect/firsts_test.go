package inspect

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/resp"
)

// rehashing answers as a server whose table grows while it is scanned: each page
// begins with the last elements of the page before, and an empty page ends it.
type rehashing struct{ *fake }

func (r rehashing) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	values, err := r.fake.Pipeline(ctx, calls)
	for i, call := range calls {
		name := string(call[0])
		cells := map[string]int{"SCAN": 1, "SSCAN": 1, "HSCAN": 2}[name]
		if err != nil || cells == 0 || values[i].IsError() {
			continue
		}
		words := call[1:] // a cursor, COUNT and a number
		if name != "SCAN" {
			words = call[2:]
		}
		from, count := atoi(string(words[0])), atoi(string(words[2]))
		all := r.elements(name, string(call[1]))
		to := min(from+cells*count, len(all))
		next := fmt.Sprint(to)
		if from == len(all) {
			next = "0"
		}
		values[i] = resp.MakeArray(resp.MakeString(next), bulks(all[max(from-7*cells, 0):to]))
	}
	return values, err
}

func (r rehashing) elements(name, key string) (all []string) {
	if name != "SCAN" {
		return r.find(key).elems
	}
	for _, v := range r.dbs[r.db] {
		all = append(all, v.key)
	}
	return all
}

// TestRepeatedElements lists each element once, whichever way the person goes.
func TestRepeatedElements(t *testing.T) {
	f := newFake()
	var fields, members []string
	for i := range 1000 {
		fields = append(fields, fmt.Sprintf("field%04d", i), "v")
		members = append(members, fmt.Sprintf("member%04d", i))
	}
	f.add(fakeValue{key: "hash", kind: "hash", elems: fields}, fakeValue{key: "set", kind: "set", elems: members})
	s := browseOn(t, rehashing{f}, f, 80, 24)
	for key, element := range map[string]string{"hash": "field", "set": "member"} {
		s.choose(key)
		s.press("enter", "end")
		s.shows("1,000 of 1,000", "▌ "+element+"0999")
		s.press("home")
		s.shows("1 of 1,000", "▌ "+element+"0000")
		s.press("end")
		for n := 999; n > 0; n-- {
			s.send(namedKeys["up"])
			row, _, _ := s.model.value.sheet().element()
			if want := fmt.Sprintf("%s%04d", element, n-1); row == nil || row[0] != want {
				t.Fatalf("%v is before row %d, not %s", row, n, want)
			}
		}
		s.press("home", "/")
		s.typing("0399")
		s.press("enter")
		s.shows("▌ " + element + "0399")
		s.press("n")
		s.shows("No other 0399")
		s.press("esc")
	}
}

// TestRepeatedKeys lists and counts each key once.
func TestRepeatedKeys(t *testing.T) {
	f := newFake().plain(3000)
	s := browseOn(t, rehashing{f}, f, 80, 24)
	s.shows("▾ key:", "3,000 keys")
	s.press("v", "end")
	s.shows("3,000 of 3,000", "▌ key:02999")
	count := int64(0)
	err := s.model.visitFolder(context.Background(), 0, "key:", func(names []string) error {
		count += int64(len(names))
		return nil
	})
	if err != nil || count != 3000 {
		t.Errorf("a folder of 3000 keys has %d, %v", count, err)
	}
}

// TestChainThatChanged follows the new pages when one that is read again leads
// elsewhere than before.
func TestChainThatChanged(t *testing.T) {
	f := newFirsts()
	page := func(i int, names ...string) []string {
		c := &chunk{}
		for _, n := range names {
			c.rows = append(c.rows, record{n})
		}
		f.keep(i, c)
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
	f.forget(0)
	if got := page(2, "d", "e", "c"); !slices.Equal(got, []string{"d", "e"}) {
		t.Errorf("after the pages behind the first were forgotten: %v", got)
	}

	p := newTape(2, true, 3, 3, 3, 3)
	p.follows(ending)
	if p.strays(1, &chunk{rows: make([]record, 3), next: "2"}) || !p.strays(1, &chunk{next: "5"}) || !p.strays(3, &chunk{next: "4"}) {
		t.Error("strays does not tell a chain that changed from one that did not")
	}
	p.forget(1)
	if n, read := p.all(); read {
		t.Errorf("all %d lines of a chain are known whose end was forgotten", n)
	}
	p.lengths[2] = 1
	p.add(1, &chunk{rows: make([]record, 3), next: "2"})
	p.home()
	p.fill()
	p.follows(ending)
	if n, read := p.all(); n != 10 || !read {
		t.Errorf("the chain has %d lines, %v", n, read)
	}
}
