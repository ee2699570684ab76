package repl

import (
	"strconv"
	"strings"
)

// queryEnd describes the texts that can continue a query.
type queryEnd struct {
	about endTopic
	token string // the end of the query, which a candidate replaces
	field string // the field of a tag or an operator
	kind  string // the type of the wanted fields, "" for any
	// A candidate for a field is before, its name, and the result of after.
	before string
	bare   bool        // nothing follows a name
	json   bool        // a colon follows a member's name, and names are quoted
	words  []foundItem // further candidates
}

type endTopic byte

const (
	endNothing endTopic = iota
	endField
	endTag
	endOperator
	endWords
)

// after returns the text after the name of a field of a type.
func (e queryEnd) after(kind string) string {
	switch {
	case e.json && e.bare:
		return `"`
	case e.json:
		return `":`
	case e.bare:
		return ""
	}
	switch kind {
	case "NUMERIC", "GEO", "GEOSHAPE", "VECTOR":
		return ":["
	case "TAG":
		return ":{"
	}
	return ":"
}

// termWords can begin a part of a query.
var termWords = []foundItem{
	{"*", "all documents"}, {"-", "not: -red"}, {"~", "optional: ~red"}, {"|", "or: red | blue"}, {"(", "a part of the query"},
	{`"`, "a phrase"}, {"%", "similar words: %shos%"}, {"=>[KNN ", "nearest vectors: *=>[KNN 10 @field $vector]"},
	{"=>{", "attributes: red=>{$weight: 2}"},
}

var (
	numberWords    = []foundItem{{"-inf ", "no least value"}, {"(", "excludes the value"}}
	attributeWords = []foundItem{
		{"$weight: ", "multiplies the score"}, {"$slop: ", "words between the terms"}, {"$inorder: ", "true or false"},
		{"$phonetic: ", "true or false"}, {"$yield_distance_as: ", "names the distance"}, {"$ef_runtime: ", "candidates of HNSW"},
	}
)

// queryScan says where in a query of FT.SEARCH its end is.
type queryScan struct {
	q      string
	field  string // after its colon
	start  int    // of the token
	name   int    // start of a field's name, -1 outside of names
	phrase int    // start of a phrase, -1 outside of phrases
	inside string // the open bracket: "{" of a tag, "[" of a range, "=>{" or "=>[", " " outside of brackets
}

// endOfQuery describes the end of a query of FT.SEARCH.
func endOfQuery(q string) queryEnd {
	s := queryScan{q: q, name: -1, phrase: -1, inside: " "}
	for i := 0; i < len(q); i++ {
		switch {
		case q[i] == '\\':
			i++
		case s.phrase >= 0:
			if q[i] == '"' {
				s.phrase, s.start = -1, i+1
			}
		case s.name >= 0 && inFieldName(q[i]):
			if q[i] == '|' {
				s.start = i + 1
			}
		default:
			s.read(i)
		}
	}
	return s.end()
}

// inFieldName reports whether c continues the name of a field, or separates two: @title|body.
func inFieldName(c byte) bool {
	return c == '_' || c == '|' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// read reads the byte at i, which is neither quoted nor in a name.
func (s *queryScan) read(i int) {
	c, name := s.q[i], s.name
	s.name = -1
	switch {
	case name >= 0 && c == ':':
		s.field, s.start = s.q[name:i], i+1
	case c == '@':
		s.name, s.start, s.field = i+1, i, ""
	case c == '"':
		s.phrase = i
	case c == '{' || c == '[':
		if s.inside = string(c); strings.HasSuffix(s.q[:i], "=>") {
			s.inside = "=>" + string(c)
		}
		s.start = i + 1
	case c == '}' || c == ']':
		s.inside, s.field, s.start = " ", "", i+1
	case s.inside == "{" && c != '|' || strings.HasPrefix(s.inside, "=>{") && c != ';':
	case strings.IndexByte(" ()|-~%=>;,", c) >= 0:
		if s.start = i + 1; s.inside == " " {
			s.field = ""
		}
	}
}

// end describes the end of the query.
func (s *queryScan) end() queryEnd {
	e := queryEnd{token: strings.TrimLeft(s.q[min(s.start, len(s.q)):], " "), field: s.field}
	switch {
	case s.phrase >= 0:
	case s.inside == "{" && s.field != "":
		e.about = endTag
	case s.inside == "=>{":
		e.about, e.words = endWords, attributeWords
	case s.name >= 0:
		s.endInName(&e)
	case s.inside == "=>[":
		e.about, e.words = endWords, []foundItem{{"KNN ", "nearest vectors: [KNN 10 @field $vector]"}}
		if strings.TrimLeft(s.q[strings.LastIndexByte(s.q, '[')+1:], " ") != e.token {
			e.about = endNothing
		}
	case s.inside == "[" && s.field != "" && e.token == "" && strings.HasSuffix(s.q, "["):
		e.about, e.words = endWords, numberWords
	case s.inside != " ":
	case s.field != "" && e.token == "":
		e.about = endOperator
	case e.token == "":
		e.about, e.before, e.words = endField, "@", termWords
	}
	return e
}

// endInName describes the end of a query in the name of a field.
func (s *queryScan) endInName(e *queryEnd) {
	e.about = endField
	if e.token == "" || e.token[0] != '@' {
		e.kind = "TEXT" // @title|…
		return
	}
	if e.before = "@"; s.inside == "=>[" {
		e.kind, e.bare = "VECTOR", true
	}
}

// endOfExpression describes the end of an expression of APPLY and FILTER.
func endOfExpression(s string) queryEnd {
	at := strings.LastIndexByte(s, '@')
	if s == "" {
		at = 0
	} else if at < 0 || strings.ContainsAny(s[at:], " ()<>=!+*/%^,&|\"'") {
		return queryEnd{}
	}
	return queryEnd{about: endField, token: s[at:], before: "@", bare: true}
}

// Operators of filters and aggregations in JSON.
var (
	booleans     = members("$and", "$or", "$must", "$should", "$mustNot", "$boost")
	aggregations = members("$count", "$sum", "$avg", "$min", "$max", "$stats", "$extendedStats", "$percentiles", "$cardinality",
		"$terms", "$range", "$histogram", "$dateHistogram", "$facet", "$composite", "$aggs")
)

// members returns names as they are written before a colon.
func members(names ...string) (items []foundItem) {
	for _, name := range names {
		items = append(items, foundItem{value: strconv.Quote(name) + ":"})
	}
	return items
}

// jsonScan says where in a JSON text its end is.
type jsonScan struct {
	levels []jsonLevel
	token  string // the open string
	wants  string // "key", "colon", "value" or "comma"
}

// jsonLevel holds an open bracket of a JSON text, and the last key of an object.
type jsonLevel struct {
	object bool
	key    string
}

// scanJSON reads a JSON text that may end anywhere.
func scanJSON(text string) *jsonScan {
	s := &jsonScan{wants: "value"}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = s.readString(text, i)
		case '{':
			s.levels, s.wants = append(s.levels, jsonLevel{object: true}), "key"
		case '[':
			s.levels, s.wants = append(s.levels, jsonLevel{}), "value"
		case '}', ']':
			s.levels, s.wants = s.levels[:max(0, len(s.levels)-1)], "comma"
		case ':':
			s.wants = "value"
		case ',':
			if s.wants = "value"; len(s.levels) > 0 && s.levels[len(s.levels)-1].object {
				s.wants = "key"
			}
		case ' ', '\t', '\n', '\r':
		default:
			s.wants = "comma" // within a number or a word
		}
	}
	return s
}

// readString reads the string that begins at start, and returns the index of its last byte.
func (s *jsonScan) readString(text string, start int) int {
	end := start + 1
	for end < len(text) && text[end] != '"' {
		if text[end] == '\\' {
			end++
		}
		end++
	}
	switch {
	case end >= len(text):
		s.token = text[start:]
	case s.wants == "key":
		s.levels[len(s.levels)-1].key, s.wants = text[start+1:end], "colon"
	default:
		s.wants = "comma"
	}
	return end
}

// path returns the key whose value is open, and the nearest key of an object around its own.
func (s *jsonScan) path() (parent, key string) {
	for i, l := range s.levels {
		if i < len(s.levels)-1 && l.object {
			parent = l.key
		}
		key = l.key
	}
	return parent, key
}

// endOfJSON describes the end of a filter in JSON, or of aggregations.
func endOfJSON(text string, aggregates bool) queryEnd {
	s := scanJSON(text)
	e := queryEnd{token: s.token, json: true, before: `"`}
	if len(s.levels) == 0 && s.wants == "value" && s.token == "" {
		e.about, e.words = endWords, []foundItem{{"{", "an object"}}
		if !aggregates {
			e.words = append(e.words, foundItem{"{}", "all documents"})
		}
		return e
	}
	parent, key := s.path()
	if aggregates {
		e.inAggregations(s.wants, parent, key)
	} else if s.wants == "key" {
		e.inFilter(parent)
	}
	return e
}

// inAggregations describes the end of aggregations.
func (e *queryEnd) inAggregations(wants, parent, key string) {
	inOperator := strings.HasPrefix(parent, "$") && parent != "$aggs"
	switch {
	case wants == "value" && inOperator && key == "field":
		e.about, e.bare = endField, true
	case wants != "key":
	case inOperator:
		e.about, e.words = endWords, members("field")
	case parent != "" && parent != "$aggs":
		e.about, e.words = endWords, aggregations
	}
}

// inFilter describes the end of a filter where a key is wanted.
func (e *queryEnd) inFilter(parent string) {
	switch parent {
	case "", "$and", "$or", "$must", "$should", "$mustNot":
		e.about, e.words = endField, booleans
	default:
		e.about, e.field = endOperator, parent
	}
}
