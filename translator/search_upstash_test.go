package translator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/search/model"
	"github.com/meowdis/meowdis/redis/search/query"
	"github.com/meowdis/meowdis/redis/search/text"
	"github.com/meowdis/meowdis/redis/search/upstash"
	"github.com/meowdis/meowdis/store/sweep"
)

// upstashModel holds what an index of SEARCH.CREATE should have, and draws commands and filters.
type upstashModel struct {
	*client
	random     *rand.Rand
	definition *upstash.Definition
	documents  map[string]map[string]string
}

const upstashSchema = "PREFIX 1 d: SCHEMA title TEXT plain TEXT NOSTEM FROM title kind KEYWORD price F64 FAST"

// change changes a key, in the store and in the model.
func (m *upstashModel) change() {
	name := fmt.Sprint([]string{"d:", "d:", "d:", "other:"}[m.random.IntN(4)], m.random.IntN(20))
	if m.random.IntN(8) == 0 {
		m.do("DEL", name)
		delete(m.documents, name)
		return
	}
	d := map[string]string{}
	for _, field := range []string{"title", "kind", "price"} {
		values := map[string][]string{"kind": {"a", "B", "b c"}, "price": {"1", "2.5", "10", "-3", "many"}}[field]
		switch {
		case m.random.IntN(5) == 0:
		case values == nil:
			d[field] = m.words(1 + m.random.IntN(5))
		default:
			d[field] = values[m.random.IntN(len(values))]
		}
	}
	m.do("DEL", name)
	delete(m.documents, name)
	if len(d) == 0 {
		return
	}
	m.documents[name] = d
	if m.definition.Type == "HASH" {
		args := []string{"HSET", name}
		for field, value := range d {
			args = append(args, field, value)
		}
		m.do(args...)
		return
	}
	values := map[string]any{}
	for field, value := range d {
		values[field] = value
		if _, ok := upstash.Number(upstash.F64, value); ok {
			values[field] = json.Number(value)
		}
	}
	encoded, err := json.Marshal(values)
	if err != nil {
		m.t.Fatal(err)
	}
	m.do("SET", name, string(encoded))
}

func (m *upstashModel) words(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = searchWords[m.random.IntN(len(searchWords))]
	}
	return strings.Join(all, " ")
}

// filter draws a filter.
func (m *upstashModel) filter(depth int) map[string]any {
	type o = map[string]any
	if depth > 0 && m.random.IntN(2) == 0 {
		list := []any{m.filter(depth - 1), m.filter(depth - 1)}
		return []o{{"$must": list}, {"$should": list}, {"$or": list}, {"$must": list[:1], "$mustNot": list[1:]}, {"$must": list[:1], "$should": list[1:]}}[m.random.IntN(5)]
	}
	word := m.words(1)
	return []o{
		{}, {"title": word}, {"title": m.words(2)}, {"title": o{"$eq": m.words(2)}}, {"plain": o{"$eq": word}}, {"plain": o{"$in": []string{word, m.words(1)}}},
		{"title": o{"$phrase": o{"value": m.words(2), "slop": 2}}}, {"plain": o{"$phrase": o{"value": m.words(1) + " " + word[:2], "prefix": true}}},
		{"plain": o{"$fuzzy": word[1:]}}, {"plain": o{"$fuzzy": o{"value": word[:2], "distance": 1, "prefix": true}}}, {"plain": o{"$regex": word[:2] + ".*"}},
		{"kind": "a"}, {"kind": o{"$in": []string{"B", "b c"}}}, {"kind": o{"$gt": "B", "$lte": "b c"}}, {"kind": o{"$lt": "a"}},
		{"price": 10}, {"price": o{"$gt": 1, "$lte": 10}}, {"price": o{"$lt": 2.5}, "kind": o{"$gte": "a"}},
	}[m.random.IntN(18)]
}

// want returns the keys that a filter selects.
func (m *upstashModel) want(filter string) []string {
	tree, err := upstash.ParseFilter(filter, m.definition)
	if err != nil {
		m.t.Fatal(err)
	}
	index := &model.Index{Schema: query.Fields{{Name: "title", Type: query.Text}, {Name: "plain", Type: query.Text}, {Name: "kind", Type: query.TagField, CaseSensitive: true}, {Name: "price", Type: query.NumericField}}}
	found := []string{}
	for name, document := range m.documents {
		values, words := map[string][]string{}, text.Document{Postings: map[string]*text.Posting{}}
		for i, f := range m.definition.Fields {
			value, ok := document[f.Source()]
			if _, suits := f.Value(value); !ok || !suits {
				continue
			}
			if f.Type != upstash.Text {
				values[f.Name] = []string{value}
				continue
			}
			for _, token := range upstash.Tokens(value, f, "english") {
				p := words.Postings[token.Term]
				if p == nil {
					p = &text.Posting{}
					words.Postings[token.Term] = p
				}
				p.Occurrences = append(p.Occurrences, text.Occurrence{Field: i, Position: token.Position})
			}
		}
		d, err := index.Analyze(values, "")
		if err != nil {
			m.t.Fatal(err)
		}
		d.Terms = words
		if _, ok := d.Match(tree, model.Options{Slop: -1}); ok && strings.HasPrefix(name, "d:") && len(values)+len(words.Postings) > 0 {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// TestUpstashModel compares filters with a model that looks at each document, while slices of indexing and removal happen
// at any time between changes.
func TestUpstashModel(t *testing.T) {
	for seed := range uint64(4) {
		typ := []string{"HASH", "STRING"}[seed%2]
		words := strings.Fields("idx ON " + typ + " " + upstashSchema)
		d, err := upstash.ParseCreate(words)
		if err != nil {
			t.Fatal(err)
		}
		m := &upstashModel{client: newClient(t), random: rand.New(rand.NewPCG(seed, 2)), definition: d, documents: map[string]map[string]string{}}
		for range 20 {
			m.change()
		}
		m.do(append([]string{"SEARCH.CREATE"}, words...)...)
		for step := range 200 {
			m.change()
			switch m.random.IntN(4) {
			case 0:
				if _, err := sweep.Slice(context.Background(), m.store.Apply, m.now, 1+m.random.IntN(20)); err != nil {
					t.Fatal(err)
				}
			case 1:
				if m.random.IntN(8) == 0 {
					m.exec(`UPDATE search_indexes SET deleted = deleted + 2000`) // so that rows of deleted documents are removed
				}
				m.do([]string{"SEARCH.WAITINDEXING", "SEARCH.REINDEX"}[min(1, m.random.IntN(6))], "idx")
			default:
				filter, _ := json.Marshal(m.filter(2))
				want, got := m.want(string(filter)), map[string]bool{}
				v := m.do("SEARCH.QUERY", "idx", string(filter), "NOCONTENT", "LIMIT", "1000")
				for _, hit := range v.Elems {
					got[string(hit.Elems[0].Str)] = true
				}
				count := m.do("SEARCH.COUNT", "idx", string(filter))
				if all := slices.Sorted(maps.Keys(got)); v.IsError() || len(v.Elems) != len(all) || !slices.Equal(all, want) || count.Int != int64(len(want)) {
					t.Fatalf("seed %d, step %d: %s finds %q %s and counts %d, want %q", seed, step, filter, all, v.Str, count.Int, want)
				}
			}
		}
	}
}
