package translator_test

import (
	"strconv"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// TestNils distinguishes the two nils of RESP2, which print the same.
func TestNils(t *testing.T) {
	c := newClient(t)
	c.do("RPUSH", "l", "a")
	for _, test := range []struct {
		want resp.Kind
		args []string
	}{
		{resp.Null, []string{"LPOP", "none"}},
		{resp.NullArray, []string{"LPOP", "none", "1"}},
		{resp.NullArray, []string{"RPOP", "none", "0"}},
		{resp.Array, []string{"RPOP", "l", "0"}},
		{resp.NullArray, []string{"LMPOP", "2", "none", "none2", "LEFT"}},
		{resp.Null, []string{"LMOVE", "none", "l", "LEFT", "LEFT"}},
		{resp.Null, []string{"LPOS", "l", "none"}},
		{resp.Null, []string{"LPOS", "none", "a"}},
		{resp.Array, []string{"LPOS", "none", "a", "COUNT", "1"}},
		{resp.Null, []string{"LINDEX", "l", "5"}},
		{resp.Null, []string{"GETDEL", "none"}},
		{resp.Null, []string{"GETEX", "none"}},
		{resp.Map, []string{"LCS", "none", "none", "IDX"}},
	} {
		if got := c.do(test.args...); got.Kind != test.want {
			t.Errorf("%q: kind %d, not %d", test.args, got.Kind, test.want)
		}
	}
}

// TestLongList reads elements from both ends of a list longer than any in the transcripts.
func TestLongList(t *testing.T) {
	const n = 1000
	c := newClient(t)
	words := []string{"RPUSH", "l"}
	for i := range n {
		words = append(words, string(rune('a'+i%7)))
	}
	c.do(words...)
	list := words[2:]
	for i := range n {
		for _, index := range []int{i, i - n} {
			if got := c.do("LINDEX", "l", strconv.Itoa(index)); string(got.Str) != list[i] {
				t.Fatalf("LINDEX %d is %q, not %q", index, got.Str, list[i])
			}
		}
	}
	for _, from := range []int{0, 1, 499, 500, 501, 998, 999} {
		for _, to := range []int{0, 1, 499, 500, 501, 998, 999} {
			got := c.do("LRANGE", "l", strconv.Itoa(from), strconv.Itoa(to)).Elems
			if len(got) != max(0, to-from+1) {
				t.Fatalf("LRANGE %d %d returns %d elements", from, to, len(got))
			}
			for i, e := range got {
				if string(e.Str) != list[from+i] {
					t.Fatalf("LRANGE %d %d: element %d is %q", from, to, i, e.Str)
				}
			}
		}
	}
}
