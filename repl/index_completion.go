package repl

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/meowdis/meowdis/keyspace/indexes"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/score"
	"github.com/meowdis/meowdis/redis/search/text"
)

// indexQuestion holds the part of a question that concerns a search index.
type indexQuestion struct {
	upstash bool // an index of SEARCH.CREATE
	aliases bool // only aliases are wanted
	index   string
	kinds   []string // the types of the wanted fields, nil for all
	at      bool     // names of fields begin with @
	named   []string // names that the command itself gives to results
	end     queryEnd // for askQuery
}

// searchWords lists the values of arguments that need no query.
var searchWords = map[string][]string{
	"function": {
		"COUNT", "COUNT_DISTINCT", "COUNT_DISTINCTISH", "SUM", "AVG", "MIN", "MAX", "STDDEV", "QUANTILE", "TOLIST", "FIRST_VALUE",
		"RANDOM_SAMPLE", "COLLECT",
	},
	"scorer": score.Names, "language": text.Languages, "default_lang": text.Languages, "algorithm": {"FLAT", "HNSW", "SVS-VAMANA"},
}

// completeSearch completes an argument of a search command that names an index or a field, or contains a query. It
// reports whether the argument is one.
func (c *completion) completeSearch(f call, words []string, args []commands.Argument, typed word) bool {
	upstash := strings.HasPrefix(f.cmd.Name, "SEARCH.")
	if !upstash && !strings.HasPrefix(f.cmd.Name, "FT.") {
		return false
	}
	s := &indexQuestion{upstash: upstash, index: indexNamed(f, words, upstash)}
	q := &question{prefix: typed.value, search: s}
	for _, a := range args {
		switch all := searchWords[a.Name]; {
		case all != nil:
			c.items = append(c.items, withPrefix(all, typed.value, func(string) string { return "" })...)
			return true
		case s.names(f.cmd.Name, a.Name):
			q.about, c.ask = askIndexes, q
		case s.index == "":
		case isQuery(f.cmd.Name, a.Name):
			s.named = namesGiven(words)
			return c.completeQuery(q, f.cmd.Name, a.Name, typed)
		case s.wantsFields(f.cmd.Name, a.Name):
			s.named = namesGiven(words)
			q.about, c.ask = askFields, q
		default:
			continue
		}
		if c.ask != nil {
			return true
		}
	}
	return false
}

// indexNamed returns the index that a call names, "" for none.
func indexNamed(f call, words []string, upstash bool) string {
	for i, name := range f.args {
		if name == "index" || name == "index_name" || upstash && name == "name" {
			return words[i]
		}
	}
	return ""
}

// names reports whether an argument names an index that exists, and notes which names it takes.
func (s *indexQuestion) names(command, argument string) bool {
	switch {
	case s.index != "" || strings.Contains(command, "CREATE"):
		return false
	case argument == "alias":
		s.aliases = strings.Contains(command, "ALIASDEL") || strings.Contains(command, "ALIASUPDATE")
		return s.aliases
	}
	return argument == "index" || argument == "index_name" || s.upstash && argument == "name"
}

// wantsFields reports whether an argument names a field, and notes which fields it takes.
func (s *indexQuestion) wantsFields(command, argument string) bool {
	s.at = strings.HasPrefix(command, "FT.") && slices.Contains([]string{"FT.AGGREGATE", "FT.HYBRID"}, command)
	s.kinds = nil
	switch argument {
	case "numeric_field":
		s.kinds = []string{"NUMERIC"}
	case "geo_field":
		s.kinds = []string{"GEO"}
	case "vector_field":
		s.kinds = []string{"VECTOR"}
	case "field_name":
		s.kinds = []string{"TAG"}
		return command == "FT.TAGVALS"
	case "field":
		if command == "FT.SEARCH" {
			s.kinds = []string{"TEXT"}
		}
	case "property", "arg":
		return s.at
	case "identifier", "sortby":
	default:
		return false
	}
	return true
}

// isQuery reports whether an argument contains a query, a filter or an expression.
func isQuery(command, argument string) bool {
	switch argument {
	case "query", "aggregations", "expression":
		return true
	case "filter":
		return !strings.Contains(command, "CREATE")
	}
	return false
}

// namesGiven returns the names after AS, which later arguments may use as properties.
func namesGiven(words []string) (names []string) {
	for i, w := range words[:max(0, len(words)-1)] {
		if strings.EqualFold(w, "AS") {
			names = append(names, words[i+1])
		}
	}
	return names
}

// completeQuery completes the end of a query. Only that part of the word is replaced, unless the word needs quotes first.
func (c *completion) completeQuery(q *question, command, argument string, typed word) bool {
	if typed.quoted && typed.open == 0 {
		return false // the query is complete
	}
	s := q.search
	json := s.upstash
	switch {
	case json:
		s.end = endOfJSON(typed.value, argument == "aggregations")
	case argument == "query":
		s.end = endOfQuery(typed.value)
	default:
		s.end = endOfExpression(typed.value)
	}
	if s.end.about == endNothing {
		return false
	}
	q.about, q.prefix, c.ask, c.open = askQuery, s.end.token, q, true
	c.head = strings.TrimSuffix(typed.value, s.end.token)
	if typed.open == 0 && (json || s.end.token == "" || s.end.about == endTag) {
		quote := byte('"')
		if json {
			quote = '\''
		}
		head := c.head
		c.write = func(item string) string { return string(quote) + inQuotes(head+item, quote) }
		return true
	}
	for i := len(c.typed); i > 0; i-- {
		if scanWord(c.typed[:i], 0).value == c.head {
			c.from, c.typed = c.from+i, c.typed[i:]
			break
		}
	}
	c.write = func(item string) string { return inQuotes(item, typed.open) }
	return true
}

// inQuotes returns a text as it is written after an open quote, 0 for none.
func inQuotes(s string, quote byte) string {
	switch quote {
	case '"':
		quoted := string(resp.AppendQuoted(nil, []byte(s), true))
		return quoted[1 : len(quoted)-1]
	case '\'':
		return strings.ReplaceAll(s, "'", `\'`)
	}
	return s
}

// indexes returns the names of indexes, and of their aliases.
func (a *asker) indexes(ctx context.Context, q question) (items []foundItem) {
	if q.search.upstash {
		for _, e := range a.do(ctx, "SEARCH.LISTINDEXES").Elems {
			items = append(items, foundItem{string(member(e, "name").Str), "of " + keysOf(string(member(e, "type").Str))})
		}
		for _, e := range a.do(ctx, "SEARCH.LISTALIASES").Elems {
			if len(e.Elems) == 2 {
				items = append(items, foundItem{string(e.Elems[0].Str), "alias of " + preview(e.Elems[1].Str)})
			}
		}
	} else {
		items = textsIn(a.do(ctx, "FT._LIST"))
		why := a.why
		for _, index := range items[:min(len(items), maxStreams)] {
			v := a.do(ctx, "FT.ALIASLIST", index.value) // since Redis 8.10
			if a.why != why {
				break
			}
			for _, alias := range textsIn(v) {
				items = append(items, foundItem{alias.value, "alias of " + preview([]byte(index.value))})
			}
		}
		a.why = why
	}
	return q.sorted(slices.DeleteFunc(items, func(f foundItem) bool {
		return !strings.HasPrefix(f.value, q.prefix) || q.search.aliases && !strings.HasPrefix(f.about, "alias of")
	}))
}

// keysOf names the keys of an index of a type.
func keysOf(kind string) string {
	return map[string]string{"HASH": "hashes", "JSON": "JSON documents", "STRING": "strings"}[kind]
}

// indexFields reads the fields of an index.
func (a *asker) indexFields(ctx context.Context, s *indexQuestion) []indexes.Field {
	if s.upstash {
		return indexes.FieldsOf(a.do(ctx, "SEARCH.DESCRIBE", s.index))
	}
	return indexes.FieldsOf(a.do(ctx, "FT.INFO", s.index))
}

// fieldItems returns the fields that an argument can name, in the order of the schema.
func (a *asker) fieldItems(ctx context.Context, q question) (items []foundItem) {
	sign := ""
	if q.search.at {
		sign = "@"
	}
	for _, f := range a.indexFields(ctx, q.search) {
		if q.search.kinds == nil || slices.Contains(q.search.kinds, f.Type) {
			items = append(items, foundItem{sign + f.Name, f.Type})
		}
	}
	if q.search.at && q.search.kinds == nil {
		for _, name := range q.search.named {
			items = append(items, foundItem{sign + strings.TrimPrefix(name, "@"), "a result"})
		}
		items = append(items, foundItem{"@__key", "the key"})
	}
	return q.beginning(items)
}

// beginning returns the items that begin with the prefix, ignoring case, without duplicates.
func (q question) beginning(items []foundItem) (kept []foundItem) {
	for _, f := range items {
		known := slices.ContainsFunc(kept, func(k foundItem) bool { return k.value == f.value })
		if !known && likeness(f.value, q.prefix) == begins && !strings.ContainsFunc(f.value, unicode.IsControl) {
			kept = append(kept, f)
		}
	}
	return kept
}

// queryItems returns the texts that can continue a query.
func (a *asker) queryItems(ctx context.Context, q question) (items []foundItem) {
	s := q.search
	if s.end.about == endTag {
		found := a.do(ctx, "FT.TAGVALS", s.index, s.end.field)
		for _, tag := range found.Elems {
			if items = append(items, foundItem{value: escapeTag(string(tag.Str))}); len(items) == 10*maxFound {
				break
			}
		}
		items = q.beginning(items)
		a.partial = len(items) > maxFound || len(found.Elems) > 10*maxFound
		return items[:min(len(items), maxFound)]
	}
	fields := a.indexFields(ctx, s)
	for _, f := range fields {
		switch {
		case s.end.about == endOperator && f.Name == s.end.field:
			items = append(items, operators(f.Type, s.upstash)...)
		case s.end.about == endField && (s.end.kind == "" || s.end.kind == f.Type):
			items = append(items, foundItem{s.end.before + f.Name + s.end.after(f.Type), f.Type})
		}
	}
	if s.end.about == endField && s.end.bare {
		for _, name := range s.named {
			items = append(items, foundItem{s.end.before + strings.TrimPrefix(name, "@"), "a result"})
		}
	}
	return q.beginning(append(items, s.end.words...))
}

// escapeTag returns a tag as it is written within braces.
func escapeTag(tag string) string {
	var b strings.Builder
	for _, r := range tag {
		if r < 0x80 && r != ' ' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// operators returns the texts that can follow the name of a field: the opening of a condition in a query, or the
// operators of a filter in JSON.
func operators(kind string, upstash bool) (items []foundItem) {
	if !upstash {
		return map[string][]foundItem{
			"NUMERIC": {{"[", "a range: [10 50], [(10 +inf]"}}, "TAG": {{"{", "a tag: {red | blue}"}},
			"TEXT": {{"(", "words: (red shoes)"}, {`"`, "a phrase"}},
			"GEO":  {{"[", "a circle: [longitude latitude radius km]"}}, "GEOSHAPE": {{"[", "a shape: [WITHIN $shape]"}},
			"VECTOR": {{"[VECTOR_RANGE ", "a radius: [VECTOR_RANGE 0.5 $vector]"}},
		}[kind]
	}
	words := []string{"$eq", "$in"}
	switch kind {
	case "TEXT":
		words = append(words, "$smart", "$phrase", "$fuzzy", "$regex")
	case "KEYWORD":
		words = append(words, "$fuzzy", "$regex", "$gt", "$gte", "$lt", "$lte")
	case "U64", "I64", "F64", "DATE":
		words = append(words, "$gt", "$gte", "$lt", "$lte")
	}
	for _, w := range append(words, "$boost") {
		items = append(items, foundItem{value: strconv.Quote(w) + ":"})
	}
	return items
}
