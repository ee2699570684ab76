package translator_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// The sizes select the ways to draw: by rank in a small collection, from a random hash in a big one.
var drawnFrom = []int{10, 5000}

// TestDraws checks the number of drawn elements, their membership, and that they differ where they must.
func TestDraws(t *testing.T) {
	for command, add := range map[string]string{"SRANDMEMBER": "SADD", "HRANDFIELD": "HSET"} {
		for _, size := range drawnFrom {
			c := newClient(t)
			c.fill(add, "k", size)
			for _, count := range []int{1, 2, size / 100, size/16 - 1, size / 2, size - 1, size, size + 1, -1, -7, -size / 50, -3 * size} {
				elems := c.do(command, "k", strconv.Itoa(count)).Elems
				if want := min(max(count, -count), max(size, -count)); len(elems) != want {
					t.Errorf("%s of %d: %d elements for %d", command, size, len(elems), count)
				}
				if distinct := len(names(t, elems, size)); count > 0 && distinct != len(elems) {
					t.Errorf("%s of %d: only %d different ones of %d", command, size, distinct, count)
				}
			}
		}
	}
}

// names counts the drawn elements, which must be numbers below size.
func names(t *testing.T, elems []resp.Value, size int) map[int]int {
	t.Helper()
	times := map[int]int{}
	for _, e := range elems {
		n, err := strconv.Atoi(string(e.Str))
		if err != nil || n < 0 || n >= size {
			t.Fatalf("%q was never added", e.Str)
		}
		times[n]++
	}
	return times
}

// TestDrawsAreFair checks that each of 10 elements is drawn about as often as the others, and each part of a big
// collection, too.
func TestDrawsAreFair(t *testing.T) {
	for command, add := range map[string]string{"SRANDMEMBER": "SADD", "HRANDFIELD": "HSET"} {
		for _, size := range drawnFrom {
			c := newClient(t)
			c.fill(add, "k", size)
			single := make([]resp.Value, 2000)
			for i := range single {
				single[i] = c.do(command, "k")
			}
			var few []resp.Value
			for range 500 {
				few = append(few, c.do(command, "k", "4").Elems...)
			}
			for way, elems := range map[string][]resp.Value{
				"one by one": single, "four at a time": few, "with repetitions": c.do(command, "k", "-2000").Elems,
			} {
				parts := make([]int, 10)
				for n, times := range names(t, elems, size) {
					parts[n*10/size] += times
				}
				// 200 are expected, with a deviation of 13.
				if slices.Min(parts) < 130 || slices.Max(parts) > 270 {
					t.Errorf("%s of %d, %s: %v", command, size, way, parts)
				}
			}
		}
	}
}

// TestPops checks that SPOP removes exactly the elements that it returns.
func TestPops(t *testing.T) {
	for _, size := range drawnFrom {
		c := newClient(t)
		c.fill("SADD", "k", size)
		left := size
		for _, count := range []string{"", "1", "3", "0", strconv.Itoa(size / 4)} {
			args := []string{"SPOP", "k"}
			if count != "" {
				args = append(args, count)
			}
			v := c.do(args...)
			elems := v.Elems
			if count == "" {
				elems = []resp.Value{v}
			}
			left -= len(names(t, elems, size))
			for _, e := range elems {
				if c.do("SISMEMBER", "k", string(e.Str)).Int != 0 {
					t.Errorf("%s is still there", e.Str)
				}
			}
			if got := c.do("SCARD", "k").Int; got != int64(left) {
				t.Errorf("%d are left, not %d", got, left)
			}
		}
		if n := len(c.do("SPOP", "k", strconv.Itoa(size)).Elems); n != left {
			t.Errorf("the last pop returns %d of %d", n, left)
		}
		c.expect("EXISTS k", ":0")
	}
}

// TestPopsOneByOne empties a set, which is big at first and small in the end.
func TestPopsOneByOne(t *testing.T) {
	c := newClient(t)
	c.fill("SADD", "k", 1500)
	var all []resp.Value
	for range 1500 {
		all = append(all, c.do("SPOP", "k"))
	}
	if n := len(names(t, all, 1500)); n != 1500 {
		t.Errorf("%d different members", n)
	}
	c.expect("SPOP k", "_", "EXISTS k", ":0")
}

// TestDrawsAtTheEdge checks that the elements of a big collection with the least hashes are drawn as often as others:
// few random hashes precede them.
func TestDrawsAtTheEdge(t *testing.T) {
	for command, add := range map[string]string{"SRANDMEMBER": "SADD", "HRANDFIELD": "HSET"} {
		c := newClient(t)
		c.fill(add, "k", 5000)
		sql := `SELECT member FROM sets ORDER BY hash LIMIT 32`
		if add == "HSET" {
			sql = `SELECT field FROM hashes ORDER BY hash LIMIT 32`
		}
		edge := map[string]bool{}
		for _, row := range c.exec(sql) {
			edge[string(row[0].Bytes())] = true
		}
		times := 0
		for range 10000 {
			if edge[string(c.do(command, "k").Str)] {
				times++
			}
		}
		// 64 are expected, with a deviation of 8, and hashes are not evenly distributed.
		if times < 32 || times > 110 {
			t.Errorf("%s: %d", command, times)
		}
	}
}
