package translator_test

import (
	"strconv"
	"strings"
	"testing"
)

// TestSearchLengths scores the same documents by their lengths, which one index looks up one by one, since few documents
// have the word, and the other reads from its list of all documents, since it has scores of its own.
func TestSearchLengths(t *testing.T) {
	c := newClient(t)
	c.expect("FT.CREATE short SCHEMA t TEXT", "+OK", "FT.CREATE long SCORE_FIELD weight SCHEMA t TEXT", "+OK")
	for i := range 900 {
		text := strings.Repeat("filler ", i%7)
		if i%450 == 3 {
			text += "rare"
		}
		c.do("HSET", "d:"+strconv.Itoa(i), "t", text)
	}
	c.sweep()
	for _, key := range []string{"d:3", "d:453"} {
		c.do("HSET", key, "t", "rare and now longer") // waits to be indexed
		for _, query := range []string{"rare", "rare filler", "rare|none"} {
			a, b := c.show("FT.SEARCH short "+query+" WITHSCORES NOCONTENT"), c.show("FT.SEARCH long "+query+" WITHSCORES NOCONTENT")
			if a != b {
				t.Errorf("%s: %s by lengths that are looked up, %s by the list", query, a, b)
			}
		}
		c.sweep()
	}
}
