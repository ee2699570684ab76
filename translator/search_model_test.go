package translator_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
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
	json   bool                           // documents are JSON; a field may have several values
	hashes map[string]map[string][]string // by key and field
	dies   map[string]int64
}

// searchSchema is the schema of the index in the model's terms and FT.CREATE's. JSON tags have no separator.
var searchSchema = query.Fields{
	{Name: "title", Type: query.Text, Weight: 2, IndexMissing: true}, {Name: "body", Type: query.Text, Weight: 1, NoStem: true},
	{Name: "kind", Type: query.TagField, Separator: ',', IndexMissing: true}, {Name: "price", Type: query.NumericField, IndexMissing: true},
	{Name: "at", Type: query.GeoField}, {Name: "v", Type: query.Vector, Dim: 2, ElementBytes: 4, VectorType: "FLOAT32", Metric: "L2"},
	{Name: "area", Type: query.GeoShapeField, IndexMissing: true}, {Name: "name", Type: query.Text, Weight: 1, Phonetic: true},
}

const (
	searchFields = "TEXT WEIGHT 2 INDEXMISSING,TEXT NOSTEM,TAG INDEXMISSING,NUMERIC INDEXMISSING,GEO,VECTOR FLAT 6 TYPE FLOAT32 DIM 2 DISTANCE_METRIC L2,GEOSHAPE FLAT INDEXMISSING,TEXT PHONETIC dm:en"
	searchPaths  = "$.title $.body[*] $..kind $.price $.at $.v $.area $.name"
)

// create returns the arguments of FT.CREATE.
func (m *searchModel) create() []string {
	args := strings.Fields("FT.CREATE idx ON HASH PREFIX 1 d: SCHEMA")
	if m.json {
		args[3] = "JSON"
	}
	for i, options := range strings.Split(searchFields, ",") {
		name := searchSchema[i].Name
		if m.json {
			name = strings.Fields(searchPaths)[i] + " AS " + name
		}
		args = append(append(args, strings.Fields(name)...), strings.Fields(options)...)
	}
	return args
}

var searchWords = strings.Fields("red blue green running runs runner shoes shoe hat the of dancing dance road long sun john jon rode read")

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
	case "title", "body", "name":
		return m.words(1 + m.random.IntN(5))
	case "kind":
		return []string{"a", "a,b", "B", " c , d", ""}[m.random.IntN(5)]
	case "price":
		return []string{"1", "2.5", "10", "-3", "1e2", "many"}[min(5, m.random.IntN(8))]
	case "area":
		x, y, side := m.random.IntN(6), m.random.IntN(6), 1+m.random.IntN(4)
		if side == 4 {
			return fmt.Sprintf("POINT(%d.5 %d.5)", x, y)
		}
		return square(x, y, side)
	case "at":
		return fmt.Sprintf("%d,%d", m.random.IntN(4), 40+m.random.IntN(4))
	}
	if m.random.IntN(10) == 0 {
		return "short"
	}
	return m.vector()
}

func square(x, y, side int) string {
	return fmt.Sprintf("POLYGON((%d %d,%d %d,%d %d,%d %d,%d %d))", x, y, x+side, y, x+side, y+side, x, y+side, x, y)
}

// values draws the values of a field. Only a field of JSON has several.
func (m *searchModel) values(field string) (all []string) {
	all = []string{m.value(field)}
	for m.json && field != "v" && field != "area" && m.random.IntN(3) == 0 {
		all = append(all, m.value(field))
	}
	return all
}

// write writes a document. Its fields in JSON are an array if they have several values, and sometimes if they have one.
func (m *searchModel) write(name, changed string) {
	if !m.json {
		m.do("HSET", name, changed, m.hashes[name][changed][0])
		return
	}
	var members []string
	for field, values := range m.hashes[name] {
		var list []string
		for _, v := range values {
			if _, err := strconv.ParseFloat(v, 64); field == "v" {
				v = vectorJSON(v)
			} else if field != "price" || err != nil {
				v = strconv.Quote(v)
			}
			list = append(list, v)
		}
		value := strings.Join(list, ",")
		if field != "v" && field != "area" && (len(list) > 1 || field == "body" || m.random.IntN(2) == 0) {
			value = "[" + value + "]"
		}
		members = append(members, strconv.Quote(field)+":"+value)
	}
	m.do("JSON.SET", name, "$", "{"+strings.Join(members, ",")+"}")
}

// vectorJSON returns a vector as JSON. A text that is not one is an array of the wrong length.
func vectorJSON(v string) string {
	if len(v) != 8 {
		return "[1]"
	}
	at := func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32([]byte(v[i:]))) }
	return fmt.Sprintf("[%g,%g]", at(0), at(4))
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
			m.hashes[name], m.dies[name] = map[string][]string{}, 0
		}
		field := searchSchema[m.random.IntN(len(searchSchema))].Name
		if m.random.IntN(6) == 0 {
			delete(m.hashes[name], field)
			switch {
			case len(m.hashes[name]) == 0:
				m.do("DEL", name)
				delete(m.hashes, name)
			case m.json:
				m.write(name, "")
			default:
				m.do("HDEL", name, field)
			}
			return
		}
		m.hashes[name][field] = m.values(field)
		m.write(name, field)
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
		"ismissing(@kind)", "ismissing(@title)", "*", "@v:[VECTOR_RANGE 2 $v]", "@area:[WITHIN $a]", "@area:[CONTAINS $p]", "@area:[INTERSECTS $a]", "@area:[DISJOINT $a]", "ismissing(@area)",
		"@name:" + word, "@name:(" + m.words(2) + ")", "@name|body:" + word, "(" + m.words(3) + ")=>{$slop: 2; $inorder: true}", "(" + m.words(2) + ")=>{$weight: 3}",
	}[m.random.IntN(30)]
}

// want returns the keys that a query selects, with their scores.
func (m *searchModel) want(q string, params map[string]string) (map[string]float64, bool) {
	tree, err := query.Parse(q, query.Options{Dialect: 2, Schema: searchSchema, IsStopWord: m.index.IsStopWord, Params: params})
	if err != nil {
		return nil, false
	}
	tree = query.Expand(tree, func(t *query.Term) (all []*query.Term) {
		of := map[string][]string{} // title and name are stemmed; only name has phonetic codes
		for _, f := range []string{"title", "name"} {
			for _, extra := range text.Expansions(t.Text, text.Analysis{Language: "english", Phonetic: f == "name"}) {
				if t.Fields == nil || slices.Contains(t.Fields, f) {
					of[extra] = append(of[extra], f)
				}
			}
		}
		for extra, fields := range of {
			all = append(all, &query.Term{Text: extra, Base: query.Base{Fields: fields}})
		}
		return all
	})
	docs, collection, df := map[string]*model.Document{}, score.Collection{}, map[string]int{}
	total := 0
	for name, hash := range m.hashes {
		if d, err := m.index.Analyze(hash, ""); err == nil && strings.HasPrefix(name, "d:") {
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
	q, params := m.query(2), map[string]string{"v": m.vector(), "a": square(m.random.IntN(6), m.random.IntN(6), 3), "p": "POINT(3.5 3.5)"}
	want, ok := m.want(q, params)
	find := func(options ...string) resp.Value {
		return m.do(append([]string{"FT.SEARCH", "idx", q, "NOCONTENT", "WITHSCORES", "PARAMS", "6", "v", params["v"], "a", params["a"], "p", params["p"], "DIALECT", "2", "LIMIT"}, options...)...)
	}
	v := find("0", "1000")
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
		m.t.Errorf("seed %d, step %d: %s %v finds %v, want %v", seed, step, q, params, show(got), show(want))
	}
	offset := m.random.IntN(5)
	count := m.random.IntN(5)
	if offset > 0 { // LIMIT 1 0 is refused
		count++
	}
	explained := find(strconv.Itoa(offset), strconv.Itoa(count), "EXPLAINSCORE")
	for i := 2; i < len(explained.Elems); i += 2 {
		explained.Elems[i] = explained.Elems[i].Elems[0]
	}
	first := min(1+2*offset, len(v.Elems))
	page := append(v.Elems[:1:1], v.Elems[first:min(first+2*count, len(v.Elems))]...)
	for way, got := range map[string]resp.Value{"the best hits": find(strconv.Itoa(offset), strconv.Itoa(count)), "explained": explained} {
		if !slices.EqualFunc(got.Elems, page, func(a, b resp.Value) bool {
			return string(a.Str) == string(b.Str) && a.Int == b.Int && a.Float == b.Float
		}) {
			m.t.Errorf("seed %d, step %d: %s, %s from %d, at most %d: %v, not %v", seed, step, q, way, offset, count, got.Elems, page)
			return false
		}
	}
	return same && m.checkGroups(seed, step, q, params, want)
}

// checkGroups compares FT.AGGREGATE, which groups the documents of a query by price, with the documents found.
func (m *searchModel) checkGroups(seed uint64, step int, q string, params map[string]string, found map[string]float64) bool {
	want, got := map[string][]string{}, map[string][]string{}
	for name := range found {
		price := formatNumbers(cmp.Or(strings.Join(m.hashes[name]["price"], ","), "none"))
		want[price] = append(want[price], name)
	}
	v := m.do("FT.AGGREGATE", "idx", q, "LOAD", "1", "@__key", "GROUPBY", "1", "@price", "REDUCE", "COUNT", "0", "AS", "n",
		"REDUCE", "TOLIST", "1", "@__key", "AS", "keys", "APPLY", "@n * 2", "AS", "twice", "FILTER", "@twice > 0", "PARAMS", "6", "v", params["v"], "a", params["a"], "p", params["p"], "DIALECT", "2")
	same := !v.IsError()
	for i := 1; i < len(v.Elems); i++ {
		row := map[string]resp.Value{}
		for j := 0; j+1 < len(v.Elems[i].Elems); j += 2 {
			row[string(v.Elems[i].Elems[j].Str)] = v.Elems[i].Elems[j+1]
		}
		price := "none"
		if !row["price"].IsNull() {
			price = formatNumbers(strings.Trim(string(row["price"].Str), "[]")) // an array is grouped by its text
		}
		n := len(row["keys"].Elems)
		same = same && string(row["n"].Str) == strconv.Itoa(n) && string(row["twice"].Str) == strconv.Itoa(2*n)
		for _, key := range row["keys"].Elems {
			got[price] = append(got[price], string(key.Str))
		}
	}
	for price := range want {
		slices.Sort(want[price])
		slices.Sort(got[price])
	}
	same = same && maps.EqualFunc(want, got, slices.Equal)
	if !same {
		m.t.Errorf("seed %d, step %d: FT.AGGREGATE %s %v groups %v %s, want %v", seed, step, q, params, got, v.Str, want)
	}
	return same
}

// formatNumbers formats the numbers of a list.
func formatNumbers(list string) string {
	all := strings.Split(list, ",")
	for i, s := range all {
		if v, err := strconv.ParseFloat(s, 64); err == nil {
			all[i] = text.FormatNumber(v)
		}
	}
	return strings.Join(all, ",")
}

func show(found map[string]float64) (all []string) {
	for name, s := range found {
		all = append(all, fmt.Sprintf("%s %.4f", name, s))
	}
	slices.Sort(all)
	return all
}

var searchSeed = flag.Uint64("search-seed", 0, "the first of eight histories of TestSearchModel")

// TestSearchModel compares queries with a model that looks at each document, while slices of indexing and removal happen
// at any time between changes.
func TestSearchModel(t *testing.T) {
	for seed := *searchSeed; seed < *searchSeed+8; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { searchHistory(t, seed) })
	}
}

func searchHistory(t *testing.T, seed uint64) {
	m := &searchModel{client: newClient(t), random: rand.New(rand.NewPCG(seed, 1)), hashes: map[string]map[string][]string{}, dies: map[string]int64{}, json: seed%2 == 1,
		index: &model.Index{Schema: slices.Clone(searchSchema), Language: "english", IsStopWord: text.StopWords(text.DefaultStopWords)}}
	if m.json {
		m.index.Schema[2].Separator = 0
	}
	for range 30 {
		m.change()
	}
	if v := m.do(m.create()...); v.IsError() {
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

// TestSearchInTransaction finds what the same transaction has written.
func TestSearchInTransaction(t *testing.T) {
	c := newClient(t)
	c.expect("FT.CREATE idx SCHEMA a TEXT", "+OK", "MULTI", "+OK", "HSET one a word", "+QUEUED", "FT.SEARCH idx word NOCONTENT LIMIT 0 0", "+QUEUED")
	if v := c.do("EXEC"); len(v.Elems) != 2 || len(v.Elems[1].Elems) == 0 || v.Elems[1].Elems[0].Int != 1 {
		t.Errorf("EXEC replies %v", v)
	}
}
