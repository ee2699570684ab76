package translator_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/search/model"
	"github.com/meowdis/meowdis/redis/search/query"
	"github.com/meowdis/meowdis/redis/search/score"
	"github.com/meowdis/meowdis/redis/search/text"
	"github.com/meowdis/meowdis/store/sweep"
)

// searchModel holds what an index should have, and draws commands and queries.
type searchModel struct {
	*client
	random *rand.Rand
	index  *model.Index
	hashes map[string]map[string]string
	dies   map[string]int64
}

// searchSchema is the schema of the index in the model's terms and FT.CREATE's.
var searchSchema = query.Fields{
	{Name: "title", Type: query.Text, Weight: 2, IndexMissing: true}, {Name: "body", Type: query.Text, Weight: 1, NoStem: true},
	{Name: "kind", Type: query.TagField, Separator: ',', IndexMissing: true}, {Name: "price", Type: query.NumericField, IndexMissing: true},
	{Name: "at", Type: query.GeoField}, {Name: "v", Type: query.Vector, Dim: 2, ElementBytes: 4, VectorType: "FLOAT32", Metric: "L2"},
}

const searchCreate = "FT.CREATE idx PREFIX 1 d: SCHEMA title TEXT WEIGHT 2 INDEXMISSING body TEXT NOSTEM kind TAG INDEXMISSING price NUMERIC INDEXMISSING at GEO v VECTOR FLAT 6 TYPE FLOAT32 DIM 2 DISTANCE_METRIC L2"

var searchWords = strings.Fields("red blue green running runs runner shoes shoe hat the of dancing dance road long sun")

func (m *searchModel) words(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = searchWords[m.random.IntN(len(searchWords))]
	}
	return strings.Join(all, " ")
}

func (m *searchModel) vector() string {
	var b []byte
	for range 2 {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(m.random.IntN(4))))
	}
	return string(b)
}

// value draws the value of a field. A few do not suit it.
func (m *searchModel) value(field string) string {
	switch field {
	case "title", "body":
		return m.words(1 + m.random.IntN(5))
	case "kind":
		return []string{"a", "a,b", "B", " c , d", ""}[m.random.IntN(5)]
	case "price":
		return []string{"1", "2.5", "10", "-3", "1e2", "many"}[min(5, m.random.IntN(8))]
	case "at":
		return fmt.Sprintf("%d,%d", m.random.IntN(4), 40+m.random.IntN(4))
	}
	if m.random.IntN(10) == 0 {
		return "short"
	}
	return m.vector()
}

// change changes a key, in the store and in the model.
func (m *searchModel) change() {
	name := fmt.Sprint([]string{"d:", "d:", "d:", "other:"}[m.random.IntN(4)], m.random.IntN(25))
	m.expire()
	switch m.random.IntN(12) {
	case 0:
		m.do("DEL", name)
		delete(m.hashes, name)
	case 1:
		to := fmt.Sprint("d:", m.random.IntN(25))
		if m.hashes[name] != nil && to != name {
			m.do("RENAME", name, to)
			m.hashes[to], m.dies[to] = m.hashes[name], m.dies[name]
			delete(m.hashes, name)
		}
	case 2:
		if m.hashes[name] != nil {
			m.do("PEXPIREAT", name, strconv.FormatInt(m.now+50, 10))
			m.dies[name] = m.now + 50
		}
	case 3:
		m.now += 20
	case 4:
		m.do("SET", name, "string")
		delete(m.hashes, name)
	default:
		if m.hashes[name] == nil {
			m.do("DEL", name)
			m.hashes[name], m.dies[name] = map[string]string{}, 0
		}
		field := searchSchema[m.random.IntN(len(searchSchema))].Name
		if m.random.IntN(6) == 0 {
			m.do("HDEL", name, field)
			if delete(m.hashes[name], field); len(m.hashes[name]) == 0 {
				delete(m.hashes, name)
			}
			return
		}
		v := m.value(field)
		m.do("HSET", name, field, v)
		m.hashes[name][field] = v
	}
}

// expire removes expired keys from the model.
func (m *searchModel) expire() {
	for name, at := range m.dies {
		if m.hashes[name] != nil && at > 0 && at <= m.now {
			delete(m.hashes, name)
		}
	}
}

// query draws a query.
func (m *searchModel) query(depth int) string {
	if depth > 0 && m.random.IntN(2) == 0 {
		a, b := m.query(depth-1), m.query(depth-1)
		return []string{"(" + a + ") (" + b + ")", "(" + a + ")|(" + b + ")", "-(" + a + ")", "(" + a + ") ~(" + b + ")"}[m.random.IntN(4)]
	}
	word := searchWords[m.random.IntN(len(searchWords))]
	return []string{
		word, word, "@title:" + word, "@body:(" + m.words(2) + ")", `"` + word + " " + searchWords[m.random.IntN(10)] + `"`, word[:2] + "*", "*" + word[1:], "%" + word[1:] + "%",
		"w'" + word[:1] + "*'", "@kind:{a}", "@kind:{b|c}", "@kind:{a*}", "@price:[1 10]", "@price:[(1 +inf]", "@price:[-inf (2.5]", "@at:[1 41 150 km]",
		"ismissing(@kind)", "ismissing(@title)", "*", "@v:[VECTOR_RANGE 2 $v]", "(" + m.words(3) + ")=>{$slop: 2; $inorder: true}", "(" + m.words(2) + ")=>{$weight: 3}",
	}[m.random.IntN(22)]
}

// want returns the keys that a query selects, with their scores.
func (m *searchModel) want(q string, params map[string]string) (map[string]float64, bool) {
	tree, err := query.Parse(q, query.Options{Dialect: 2, Schema: searchSchema, IsStopWord: m.index.IsStopWord, Params: params})
	if err != nil {
		return nil, false
	}
	tree = query.Expand(tree, func(t *query.Term) []*query.Term {
		var all []*query.Term
		for _, extra := range text.Expansions(t.Text, text.Analysis{Language: "english"}) {
			if t.Fields == nil || slices.Contains(t.Fields, "title") { // body is not stemmed
				all = append(all, &query.Term{Text: extra, Base: query.Base{Fields: []string{"title"}}})
			}
		}
		return all
	})
	docs, collection, df := map[string]*model.Document{}, score.Collection{}, map[string]int{}
	total := 0
	for name, hash := range m.hashes {
		values := map[string][]string{}
		for field, v := range hash {
			values[field] = []string{v}
		}
		if d, err := m.index.Analyze(values, ""); err == nil && strings.HasPrefix(name, "d:") {
			docs[name] = d
			total += d.Terms.Length
			for term := range d.Terms.Postings {
				df[term]++
			}
		}
	}
	if collection.Docs = len(docs); collection.Docs > 0 {
		collection.AverageLength = float64(total) / float64(collection.Docs)
	}
	found := map[string]float64{}
	for name, d := range docs {
		if match, ok := d.Match(tree, model.Options{Slop: -1, Docs: func(term string) int { return df[term] }}); ok {
			found[name], _ = score.Scorer{Name: score.Default}.Score(match, collection, score.Document{Score: 1, Length: d.Terms.Length, MaxFreq: d.Terms.MaxFreq})
		}
	}
	return found, true
}

// check compares a query with the model.
func (m *searchModel) check(seed uint64, step int) bool {
	m.expire()
	q, params := m.query(2), map[string]string{"v": m.vector()}
	want, ok := m.want(q, params)
	v := m.do("FT.SEARCH", "idx", q, "NOCONTENT", "WITHSCORES", "LIMIT", "0", "1000", "PARAMS", "2", "v", params["v"], "DIALECT", "2")
	if v.IsError() {
		if ok {
			m.t.Errorf("seed %d, step %d: %s: %s", seed, step, q, v.Str)
		}
		return !ok
	}
	got := map[string]float64{}
	for i := 1; i+1 < len(v.Elems); i += 2 {
		got[string(v.Elems[i].Str)] = v.Elems[i+1].Float
	}
	same := ok && len(got) == len(want) && v.Elems[0].Int == int64(len(want))
	for name, s := range want {
		g, has := got[name]
		same = same && has && math.Abs(g-s) < 1e-9
	}
	if !same {
		m.t.Errorf("seed %d, step %d: %s finds %v, want %v", seed, step, q, show(got), show(want))
	}
	return same
}

func show(found map[string]float64) (all []string) {
	for name, s := range found {
		all = append(all, fmt.Sprintf("%s %.4f", name, s))
	}
	slices.Sort(all)
	return all
}

// TestSearchModel compares queries with a model that looks at each document, while slices of indexing and removal happen
// at any time between changes.
func TestSearchModel(t *testing.T) {
	for seed := range uint64(8) {
		m := &searchModel{client: newClient(t), random: rand.New(rand.NewPCG(seed, 1)), hashes: map[string]map[string]string{}, dies: map[string]int64{},
			index: &model.Index{Schema: searchSchema, Language: "english", IsStopWord: text.StopWords(text.DefaultStopWords)}}
		for range 30 {
			m.change()
		}
		if v := m.do(strings.Fields(searchCreate)...); v.IsError() {
			t.Fatalf("%s", v.Str)
		}
		for step := range 300 {
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
			default:
				if !m.check(seed, step) {
					return
				}
			}
		}
	}
}

// TestSearchInTransaction finds what the same transaction has written.
func TestSearchInTransaction(t *testing.T) {
	c := newClient(t)
	c.expect("FT.CREATE idx SCHEMA a TEXT", "+OK", "MULTI", "+OK", "HSET one a word", "+QUEUED", "FT.SEARCH idx word NOCONTENT LIMIT 0 0", "+QUEUED")
	if v := c.do("EXEC"); len(v.Elems) != 2 || len(v.Elems[1].Elems) == 0 || v.Elems[1].Elems[0].Int != 1 {
		t.Errorf("EXEC replies %v", v)
	}
}
