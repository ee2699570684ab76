package translator_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/sweep"
	"github.com/meowdis/meowdis/translator"
)

// checkIndexes compares each index with its keys.
func (c *client) checkIndexes() (found []string) {
	c.t.Helper()
	plan := translator.CheckIndexes(c.now, func(name []byte, how string) { found = append(found, string(name)+": "+how) })
	for plan.Then != nil {
		results, err := c.store.Apply(context.Background(), []store.Batch{plan.Batch})
		if err != nil {
			c.t.Fatal(err)
		}
		plan = plan.Then(&results[0])
	}
	return found
}

// TestSearchSegments indexes keys in slices, so that segments of many pages are merged in small steps, while keys change
// and deleted documents are removed. After each slice the rows match the keys, and queries find all documents of a word.
func TestSearchSegments(t *testing.T) {
	c, random := newClient(t), rand.New(rand.NewPCG(5, 6))
	slice := func(limit int) int {
		n, err := sweep.Index(context.Background(), c.store.Apply, c.now, limit)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	c.expect("FT.CREATE i SCHEMA a TEXT NOSTEM kind TAG", "+OK")
	texts := map[string]string{}
	moves, cleans := 0, 0
	for step := range 90 {
		for range 3 {
			key := fmt.Sprint("k", random.IntN(90))
			if random.IntN(6) == 0 {
				c.do("DEL", key)
				delete(texts, key)
				continue
			}
			var text []string
			for range 100 {
				text = append(text, fmt.Sprintf("%c%05d", 'a'+random.IntN(26), int(random.ExpFloat64()*300)))
			}
			texts[key] = strings.Join(text, " ")
			c.do("HSET", key, "a", texts[key], "kind", text[0])
		}
		if step%30 == 29 {
			c.exec(`UPDATE search_indexes SET deleted = deleted + 2000`) // so that rows of deleted documents are removed
		}
		slice(1 + random.IntN(6))
		if rows := c.exec(`SELECT (SELECT count(*) FROM search_segments WHERE target = segment AND EXISTS (SELECT 1 FROM search_pages p WHERE p.segment = search_segments.segment)),
			(SELECT count(*) FROM search_indexes WHERE clean_segment > 0)`)[0]; rows[0].Int() > 0 {
			moves++
		} else if rows[1].Int() > 0 {
			cleans++
		}
		if step%20 == 0 {
			if found := c.checkIndexes(); found != nil {
				t.Fatalf("step %d: %s", step, found)
			}
		}
		word := fmt.Sprintf("%c%05d", 'a'+random.IntN(26), random.IntN(200))
		for _, ask := range []struct {
			query, prefix string
			words         int // of each text
		}{{word, word, 100}, {word[:5] + "*", word[:5], 100}, {"@kind:{" + word[:4] + "*}", word[:4], 1}} {
			want := int64(0)
			for _, text := range texts {
				if slices.ContainsFunc(strings.Fields(text)[:ask.words], func(w string) bool { return strings.HasPrefix(w, ask.prefix) }) {
					want++
				}
			}
			if v := c.do("FT.SEARCH", "i", ask.query, "LIMIT", "0", "0", "DIALECT", "2"); v.IsError() || v.Elems[0].Int != want {
				t.Fatalf("step %d: %s finds %v, want %d", step, ask.query, v, want)
			}
		}
	}
	c.exec(`UPDATE search_indexes SET deleted = (SELECT count(*) FROM search_deleted)`)
	for slice(5) > 0 {
	}
	if moves == 0 || cleans == 0 {
		t.Errorf("merges ended in one step or did not happen, or pages were not cleaned: %d %d", moves, cleans)
	}
	if found := c.checkIndexes(); found != nil {
		t.Error(found)
	}
	if n := c.exec(`SELECT count(*) FROM search_segments`)[0][0].Int(); n > 40 {
		t.Errorf("%d segments are left", n)
	}
	if n := c.exec(`SELECT count(*) FROM search_segments WHERE target IS NOT NULL`)[0][0].Int(); n > 0 {
		t.Errorf("%d segments are being merged", n)
	}
}
