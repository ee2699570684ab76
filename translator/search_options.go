//go:build !wasip1 || search

package translator

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/search/query"
	scoring "github.com/meowdis/meowdis/redis/search/score"
	"github.com/meowdis/meowdis/redis/search/text"
	"github.com/meowdis/meowdis/translator/inverted"
)

// searchOptions holds what the commands that search have in common.
type searchOptions struct {
	query   string
	dialect int
	params  map[string]string
	analysisOptions
	scorerOptions
	inverted.CompileOptions
	restriction
	expand    bool // FORMAT EXPAND
	withCount bool
	timeout   int64 // ms, 0 for none
	failsLate bool  // a query that takes longer fails
}

// analysisOptions says which terms a word of the query matches.
type analysisOptions struct {
	verbatim, noStopWords bool
	language, expander    string
}

type scorerOptions struct {
	scorer     string
	tanhFactor float64
	payload    string
}

// restriction holds the options that select documents beside the query.
type restriction struct {
	inKeys    [][]byte
	hasInKeys bool
	inFields  []string
	filters   []query.Node
}

func newSearchOptions(text []byte, s *searchSettings) searchOptions {
	return searchOptions{query: string(text), dialect: s.dialect, scorerOptions: scorerOptions{scorer: s.scorer, tanhFactor: float64(s.tanhFactor)},
		CompileOptions: inverted.CompileOptions{Slop: -1}, withCount: true, timeout: s.timeout, failsLate: s.failsLate}
}

// The limits of options.
const (
	maxSearchResults = 1_000_000
	maxTanhFactor    = 10_000
)

func badArgument(option, why string) string { return "Bad arguments for " + option + ": " + why }

const (
	noArgument    = "Expected an argument, but none provided"
	wrongArgument = "Could not convert argument to expected type"
	outOfBounds   = "Value is outside acceptable bounds"
)

// option parses an option that several commands have, and reports whether the next word is one.
func (o *searchOptions) option(d *definition, s *inverted.Schema) (taken bool, bad string) {
	at := d.at
	word := strings.ToUpper(string(d.next()))
	flag := map[string]*bool{"VERBATIM": &o.verbatim, "NOSTOPWORDS": &o.noStopWords, "INORDER": &o.InOrder, "WITHCOUNT": &o.withCount}[word]
	if flag != nil {
		*flag = true
		return true, ""
	}
	str := map[string]*string{"LANGUAGE": &o.language, "EXPANDER": &o.expander, "SCORER": &o.scorer, "PAYLOAD": &o.payload}[word]
	if str != nil {
		if !d.more() {
			return true, badArgument(word, noArgument)
		}
		*str = string(d.next())
		return true, o.checkName(word)
	}
	switch word {
	case "WITHOUTCOUNT":
		o.withCount = false
	case "SLOP", "TIMEOUT", "BM25STD_TANH_FACTOR", "DIALECT":
		return true, o.number(word, d)
	case "PARAMS":
		return true, o.parseParams(d)
	case "INKEYS":
		o.inKeys, bad = d.counted(word)
		o.hasInKeys = true
		return true, bad
	case "INFIELDS":
		list, bad := d.counted(word)
		o.inFields = []string{}
		for _, f := range list {
			o.inFields = append(o.inFields, string(f))
		}
		return true, bad
	case "FORMAT":
		switch strings.ToUpper(string(d.next())) {
		case "STRING":
		case "EXPAND":
			o.expand = true
		default:
			return true, "FORMAT is not valid"
		}
	case "FILTER":
		return true, o.numericFilter(d, s)
	case "GEOFILTER":
		return true, o.geoFilter(d, s)
	default:
		d.at = at
		return false, ""
	}
	return true, ""
}

func (o *searchOptions) checkName(option string) string {
	switch option {
	case "LANGUAGE":
		if o.language = strings.ToLower(o.language); !text.IsLanguage(o.language) {
			return "No such language"
		}
	case "SCORER":
		if !scoring.Known(o.scorer) {
			return "No such scorer " + o.scorer
		}
	}
	return ""
}

func (o *searchOptions) number(word string, d *definition) string {
	if !d.more() {
		if word == "DIALECT" {
			return "Need an argument for DIALECT"
		}
		return badArgument(word, noArgument)
	}
	arg := d.next()
	n, ok := parseInt(arg)
	switch {
	case word == "DIALECT":
		if !ok || n < 1 || n > 4 {
			return "DIALECT requires a non negative integer >=1 and <= 4"
		}
		o.dialect = int(n)
	case !ok:
		return badArgument(word, wrongArgument)
	case word == "SLOP":
		o.Slop = int(max(-1, min(n, math.MaxInt32)))
	case word == "TIMEOUT":
		if n < 0 {
			return "TIMEOUT requires a non negative integer."
		}
		o.timeout = n
	default:
		if n < 1 || n > maxTanhFactor {
			return badArgument(word, outOfBounds)
		}
		o.tanhFactor = float64(n)
	}
	return ""
}

func (o *searchOptions) parseParams(d *definition) string {
	list, bad := d.counted("PARAMS")
	if bad != "" {
		return bad
	}
	if len(list) == 0 || len(list)%2 != 0 {
		return "Parameters must be specified in PARAM VALUE pairs"
	}
	if o.params == nil {
		o.params = map[string]string{}
	}
	for i := 0; i < len(list); i += 2 {
		if _, twice := o.params[string(list[i])]; twice {
			return fmt.Sprintf("Duplicate parameter `%s`", list[i])
		}
		o.params[string(list[i])] = string(list[i+1])
	}
	return ""
}

// rangeEnd parses an end of a range: a number, inf, or "(" and a number.
func rangeEnd(b []byte) (f float64, exclusive, ok bool) {
	s := string(b)
	if exclusive = strings.HasPrefix(s, "("); exclusive {
		s = s[1:]
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, exclusive, err == nil && !math.IsNaN(f)
}

func (o *searchOptions) numericFilter(d *definition, s *inverted.Schema) string {
	if len(d.words)-d.at < 3 {
		return "FILTER requires 3 arguments"
	}
	n := &query.Numeric{Base: query.Base{Weight: 1}, Field: string(d.next())}
	lowArg, highArg := d.next(), d.next()
	var low, high bool
	n.Min, n.MinExclusive, low = rangeEnd(lowArg)
	n.Max, n.MaxExclusive, high = rangeEnd(highArg)
	switch {
	case !low:
		return fmt.Sprintf("Bad lower range: %s", lowArg)
	case !high:
		return fmt.Sprintf("Bad upper range: %s", highArg)
	}
	if f := s.Field(n.Field); f == nil || f.Type != inverted.Numeric {
		return "Unknown Field '" + n.Field + "'"
	}
	o.filters = append(o.filters, n)
	return ""
}

func (o *searchOptions) geoFilter(d *definition, s *inverted.Schema) string {
	if len(d.words)-d.at < 5 {
		return "GEOFILTER requires 5 arguments"
	}
	n := &query.Geo{Base: query.Base{Weight: 1}, Field: string(d.next())}
	var ok [3]bool
	for i, to := range []*float64{&n.Lon, &n.Lat, &n.Radius} {
		*to, ok[i] = parseFloat(d.next())
	}
	n.Unit = strings.ToLower(string(d.next()))
	for i, name := range []string{"<lon>", "<lat>", "<radius>"} {
		if !ok[i] {
			return "Bad arguments for " + name + ": " + wrongArgument
		}
	}
	invalid := n.Invalid()
	if invalid == query.UnknownUnit {
		return "Unknown distance unit " + n.Unit
	}
	if f := s.Field(n.Field); f == nil || f.Type != inverted.Geo {
		return "Unknown Field '" + n.Field + "'"
	}
	if invalid != "" {
		return invalid
	}
	o.filters = append(o.filters, n)
	return ""
}

// parseSearchLimit parses the two numbers of LIMIT.
func parseSearchLimit(d *definition, most int64) (offset, n int64, bad string) {
	if len(d.words)-d.at < 2 {
		return 0, 0, "LIMIT requires two arguments"
	}
	offset, ok := parseInt(d.next())
	n, ok2 := parseInt(d.next())
	switch {
	case !ok || !ok2 || offset < 0 || n < 0:
		return 0, 0, "LIMIT needs two numeric arguments"
	case n == 0 && offset != 0:
		return 0, 0, "The `offset` of the LIMIT must be 0 when `num` is 0"
	case n > most:
		return 0, 0, fmt.Sprintf("LIMIT exceeds maximum of %d", most)
	case offset > most:
		return 0, 0, fmt.Sprintf("OFFSET exceeds maximum of %d", most)
	}
	return offset, n, ""
}

// querySchema shows a schema to the parser of queries.
type querySchema struct{ s *inverted.Schema }

func (q querySchema) Field(name string) (query.Field, bool) {
	f := q.s.Field(name)
	if f == nil {
		return query.Field{}, false
	}
	v := query.Field{Name: f.Name, Type: query.FieldType(f.Type), NoStem: f.NoStem, Phonetic: f.Phonetic != "", CaseSensitive: f.CaseSensitive, NoIndex: f.NoIndex,
		IndexEmpty: f.IndexEmpty, IndexMissing: f.IndexMissing, SuffixTrie: f.Suffixes, Spherical: !f.Flat, Separator: f.Separator, Weight: f.Weight, Dim: f.Vector.Dim}
	if f.Type == inverted.Vector {
		v.ElementBytes = f.Vector.Size() / f.Vector.Dim
	}
	return v, true
}

// parse parses the query for an index. bad is the text of an error, "" for none.
func (o *searchOptions) parse(c *Call, ix *searchIndex) (tree query.Node, bad string) {
	switch {
	case !o.expand:
	case c.Env.Reply.RESP2:
		return nil, "EXPAND format is only supported with RESP3"
	case !ix.schema.JSON:
		return nil, "EXPAND format is only supported with JSON"
	case o.dialect < 3:
		return nil, "EXPAND format requires dialect 3 or greater"
	}
	options := query.Options{Dialect: o.dialect, Params: o.params, Schema: querySchema{ix.schema}, Verbatim: o.verbatim, Fields: o.inFields}
	if !o.noStopWords {
		options.IsStopWord = ix.schema.IsStopWord
	}
	tree, err := query.Parse(o.query, options)
	if err != nil {
		return nil, err.Error()
	}
	if bad := unsupported(tree, ix.schema); bad != "" {
		return nil, bad
	}
	if !o.verbatim {
		tree = query.Expand(tree, func(t *query.Term) []*query.Term { return o.extras(ix, t) })
	}
	if len(o.filters) > 0 {
		tree = withFilters(tree, o.filters)
	}
	return tree, ""
}

// unsupported returns the error of a clause that its TEXT fields do not support, or "".
func unsupported(tree query.Node, s *inverted.Schema) (bad string) {
	some := func(fields []string, is func(f *inverted.Field) bool) bool {
		return slices.ContainsFunc(s.Fields, func(f *inverted.Field) bool {
			return f.Type == inverted.Text && (fields == nil || slices.Contains(fields, f.Name)) && is(f)
		})
	}
	suffixes := some(nil, func(f *inverted.Field) bool { return f.Suffixes })
	query.Walk(tree, func(n query.Node) {
		base := n.Common()
		if base.Phonetic != nil && *base.Phonetic && !some(base.Fields, func(f *inverted.Field) bool { return f.Phonetic != "" }) {
			bad = "field does not support phonetics"
		}
		if a, is := n.(*query.Affix); is && a.Kind != query.Prefix && suffixes && a.Fields != nil && some(a.Fields, func(f *inverted.Field) bool { return !f.Suffixes }) {
			bad = "Contains query on fields without WITHSUFFIXTRIE support"
		}
	})
	return bad
}

// extras returns the terms that a term of the query matches beside itself. Fields that are not stemmed, or have no phonetic
// codes, do not match theirs.
func (o *searchOptions) extras(ix *searchIndex, t *query.Term) (all []*query.Term) {
	language := o.language
	if language == "" {
		language = ix.schema.Language
	}
	fields := map[string][]string{}
	var order []string
	for _, f := range ix.schema.Fields {
		if f.Type != inverted.Text || t.Fields != nil && !slices.Contains(t.Fields, f.Name) {
			continue
		}
		analysis := ix.schema.Analysis(f, language, ix.synonyms)
		analysis.Phonetic = analysis.Phonetic && (t.Phonetic == nil || *t.Phonetic)
		o.onlyExpander(&analysis)
		for _, extra := range text.Expansions(t.Text, analysis) {
			if fields[extra] == nil {
				order = append(order, extra)
			}
			fields[extra] = append(fields[extra], f.Name)
		}
	}
	for _, extra := range order {
		added := &query.Term{Text: extra}
		if len(fields[extra]) < ix.schema.TextFields() {
			added.Fields = fields[extra]
		}
		all = append(all, added)
	}
	return all
}

// onlyExpander removes the terms of other expanders from an analysis if EXPANDER names one.
func (o *searchOptions) onlyExpander(a *text.Analysis) {
	switch name := strings.ToUpper(o.expander); name {
	case "SBSTEM", "SYNONYM", "PHONETIC":
		a.NoStem = a.NoStem || name != "SBSTEM"
		a.Phonetic = a.Phonetic && name == "PHONETIC"
		if name != "SYNONYM" {
			a.Synonyms = nil
		}
	}
}

// withFilters restricts a tree to documents that the filters select.
func withFilters(tree query.Node, filters []query.Node) query.Node {
	if knn, is := tree.(*query.KNN); is {
		knn.Filter = withFilters(knn.Filter, filters)
		return knn
	}
	return &query.And{Base: query.Base{Weight: 1}, Children: append([]query.Node{tree}, filters...)}
}
