//go:build !wasip1 || search

package translator

import (
	"fmt"
	"strings"
)

// searchCall holds the arguments of FT.SEARCH.
type searchCall struct {
	searchOptions
	noContent, withScores, explainScore, withPayloads, withSortKeys bool
	offset, limit, most                                             int64
	sortBy                                                          string
	descending                                                      bool
	returned                                                        []returnedField // nil for all fields
	marks                                                           marking
}

// returnedField holds a field of RETURN or LOAD.
type returnedField struct{ name, as string }

// parseSearch parses the arguments of FT.SEARCH after the query.
func parseSearch(query []byte, words [][]byte, ix *searchIndex, s *searchSettings) (q *searchCall, bad string) {
	q = &searchCall{searchOptions: newSearchOptions(query, s), limit: 10, most: s.maxSearch}
	d := &definition{words: words}
	for d.more() {
		taken, bad := q.option(d, ix.schema)
		if !taken && bad == "" {
			bad = q.ownOption(d, ix)
		}
		if bad != "" {
			return nil, bad
		}
	}
	if q.explainScore && !q.withScores {
		return nil, "EXPLAINSCORE must be accompanied with WITHSCORES"
	}
	return q, ""
}

func (q *searchCall) ownOption(d *definition, ix *searchIndex) (bad string) {
	at := d.at
	word := strings.ToUpper(string(d.next()))
	flag := map[string]*bool{"NOCONTENT": &q.noContent, "WITHSCORES": &q.withScores, "EXPLAINSCORE": &q.explainScore, "WITHPAYLOADS": &q.withPayloads, "WITHSORTKEYS": &q.withSortKeys}[word]
	if flag != nil {
		*flag = true
		return ""
	}
	switch word {
	case "LIMIT":
		q.offset, q.limit, bad = parseSearchLimit(d, q.most)
		return bad
	case "SORTBY":
		if !d.more() {
			return badArgument(word, noArgument)
		}
		if q.sortBy != "" {
			return "Multiple SORTBY steps are not allowed"
		}
		q.sortBy = strings.TrimPrefix(string(d.next()), "@")
		if q.descending = d.is("DESC"); !q.descending {
			d.is("ASC")
		}
		return ""
	case "RETURN":
		q.returned, bad = parseReturn(d)
		if bad == "" && len(q.returned) == 0 {
			q.noContent = true
		}
		return bad
	case "HIGHLIGHT", "SUMMARIZE":
		return q.marks.parse(word, d, ix.schema)
	}
	return fmt.Sprintf("Unknown argument `%s` at position %d for <main>", d.words[at], at+1)
}

// parseReturn parses RETURN n, whose number counts every word.
func parseReturn(d *definition) (all []returnedField, bad string) {
	list, bad := d.counted("RETURN")
	if bad != "" {
		return nil, bad
	}
	all = []returnedField{}
	for i := 0; i < len(list); i++ {
		f := returnedField{name: strings.TrimPrefix(string(list[i]), "@")}
		f.as = f.name
		if i+1 < len(list) && wordIs(list[i+1], "AS") {
			if i+2 == len(list) {
				return nil, "RETURN path AS name - must be accompanied with NAME"
			}
			f.as = string(list[i+2])
			i += 2
		}
		all = append(all, f)
	}
	return all, ""
}
