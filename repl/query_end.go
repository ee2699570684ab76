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

// endOfQuery describes the end of a query of FT.SEARCH.
func endOfQuery(q string) queryEnd {
	field := ""   // after its colon
	start := 0    // of the token
	name := -1    // start of a field's name, -1 outside of names
	phrase := -1  // start of a phrase
	inside := " " // the open bracket: "{" of a tag, "[" of a range, "=>{" or "=>["
	for i := 0; i < len(q); i++ {
		c := q[i]
		if c == '\\' {
			i++
			continue
		}
		if phrase >= 0 {
			if c == '"' {
				phrase, start = -1, i+1
			}
			continue
		}
		if name >= 0 && (c == '_' || c == '|' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z') {
			if c == '|' {
				start = i + 1
			}
			continue
		}
		switch {
		case name >= 0 && c == ':':
			field, start = q[name:i], i+1
		case c == '@':
			name, start, field = i+1, i, ""
			continue
		case c == '"':
			phrase = i
		case c == '{' || c == '[':
			if inside = string(c); strings.HasSuffix(q[:i], "=>") {
				inside = "=>" + string(c)
			}
			start = i + 1
		case c == '}' || c == ']':
			inside, field, start = " ", "", i+1
		case inside == "{" && c != '|' || strings.HasPrefix(inside, "=>{") && c != ';':
		case strings.IndexByte(" ()|-~%=>;,", c) >= 0:
			if start = i + 1; inside == " " {
				field = ""
			}
		}
		name = -1
	}
	e := queryEnd{token: strings.TrimLeft(q[min(start, len(q)):], " "), field: field}
	switch {
	case phrase >= 0:
	case inside == "{" && field != "":
		e.about = endTag
	case inside == "=>{":
		e.about, e.words = endWords, attributeWords
	case name >= 0:
		e.about = endField
		if e.token == "" || e.token[0] != '@' {
			e.kind = "TEXT" // @title|…
			break
		}
		if e.before = "@"; inside == "=>[" {
			e.kind, e.bare = "VECTOR", true
		}
	case inside == "=>[":
		e.about, e.words = endWords, []foundItem{{"KNN ", "nearest vectors: [KNN 10 @field $vector]"}}
		if strings.TrimLeft(q[strings.LastIndexByte(q, '[')+1:], " ") != e.token {
			e.about = endNothing
		}
	case inside == "[" && field != "" && e.token == "" && strings.HasSuffix(q, "["):
		e.about, e.words = endWords, numberWords
	case inside != " ":
	case field != "" && e.token == "":
		e.about = endOperator
	case e.token == "":
		e.about, e.before, e.words = endField, "@", termWords
	}
	return e
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

// endOfJSON describes the end of a filter in JSON, or of aggregations.
func endOfJSON(s string, aggregates bool) queryEnd {
	type level struct {
		object bool
		key    string
	}
	var levels []level
	token := "" // the open string
	wants := "value"
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			end := i + 1
			for end < len(s) && s[end] != '"' {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(s) {
				token, i = s[i:], len(s)
				break
			}
			if wants == "key" {
				levels[len(levels)-1].key, wants = s[i+1:end], "colon"
			} else {
				wants = "comma"
			}
			i = end
		case '{':
			levels, wants = append(levels, level{object: true}), "key"
		case '[':
			levels, wants = append(levels, level{}), "value"
		case '}', ']':
			levels, wants = levels[:max(0, len(levels)-1)], "comma"
		case ':':
			wants = "value"
		case ',':
			if wants = "value"; len(levels) > 0 && levels[len(levels)-1].object {
				wants = "key"
			}
		case ' ', '\t', '\n', '\r':
		default:
			wants = "comma" // within a number or a word
		}
	}
	e := queryEnd{token: token, json: true, before: `"`}
	key, parent := "", ""
	for i, l := range levels {
		if i < len(levels)-1 && l.object {
			parent = l.key
		}
		key = l.key
	}
	inOperator := strings.HasPrefix(parent, "$") && parent != "$aggs"
	switch {
	case len(levels) == 0 && wants == "value" && token == "":
		e.about, e.words = endWords, []foundItem{{"{", "an object"}}
		if !aggregates {
			e.words = append(e.words, foundItem{"{}", "all documents"})
		}
	case wants == "value" && aggregates && inOperator && key == "field":
		e.about, e.bare = endField, true
	case wants != "key":
	case aggregates && inOperator:
		e.about, e.words = endWords, members("field")
	case aggregates && parent != "" && parent != "$aggs":
		e.about, e.words = endWords, aggregations
	case aggregates:
	case parent == "" || parent == "$and" || parent == "$or" || parent == "$must" || parent == "$should" || parent == "$mustNot":
		e.about, e.words = endField, booleans
	default:
		e.about, e.field = endOperator, parent
	}
	return e
}
