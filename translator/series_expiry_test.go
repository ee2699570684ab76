package translator_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestExpiredSamples expires 5000 samples at once, by a shorter retention or a later sample. Each write deletes at most 1000
// of them, and no command shows the others, even after a longer retention or the deletion of the last sample.
func TestExpiredSamples(t *testing.T) {
	fill := func(c *client, more string) {
		c.expect("TS.CREATE t"+more, "+OK")
		words := []string{"TS.MADD"}
		for i := range 5000 {
			words = append(words, "t", fmt.Sprint(1000+i), "1")
		}
		c.do(words...)
	}
	for name, expire := range map[string][2]string{
		"alter": {"", "TS.ALTER t RETENTION 9"},
		"later": {" RETENTION 4999", "TS.ADD t 20000 1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t)
			stored := func() int { return len(c.exec(`SELECT 1 FROM samples`)) }
			shown := func(want int) {
				t.Helper()
				if v := c.do("TS.RANGE", "t", "-", "+"); len(v.Elems) != want {
					t.Errorf("TS.RANGE shows %d samples, want %d", len(v.Elems), want)
				}
				if total := c.do("TS.INFO", "t").Elems[1]; total.Int != int64(want) {
					t.Errorf("TS.INFO counts %d samples, want %d", total.Int, want)
				}
			}
			fill(c, expire[0])
			visible := map[string]int{"alter": 10, "later": 1}[name]
			c.do(strings.Fields(expire[1])...)
			if n := stored(); n != 4000 && n != 4001 {
				t.Fatalf("%d samples are stored after the first write", n)
			}
			shown(visible)
			c.do("TS.ADD", "t", "20001", "1")
			if n := stored(); n != 3001 && n != 3002 {
				t.Errorf("%d samples are stored after the second write", n)
			}
			c.do("TS.ALTER", "t", "RETENTION", "0")
			if n, all := stored(), len(c.do("TS.RANGE", "t", "-", "+").Elems); n != all || n > 12 {
				t.Errorf("%d samples are stored, and %d shown after a longer retention", n, all)
			}
		})
	}
	t.Run("last", func(t *testing.T) {
		c := newClient(t)
		fill(c, "")
		c.do("TS.ALTER", "t", "RETENTION", "9")
		c.expect("TS.DEL t - +", ":10", "TS.RANGE t - +", "*0", "TS.GET t", "*0")
		if n := len(c.exec(`SELECT 1 FROM samples`)); n > 0 {
			t.Errorf("%d samples are stored", n)
		}
		if count := c.exec(`SELECT count FROM keys`); count[0][0].Int() != 0 {
			t.Errorf("the key counts %d samples", count[0][0].Int())
		}
	})
}
