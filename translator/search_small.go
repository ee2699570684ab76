//go:build !wasip1 || search

package translator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/query"
	"github.com/meowdis/meowdis/redis/search/text"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/inverted"
)

// ftExplain translates FT.EXPLAIN, and FT.EXPLAINCLI with lines.
func ftExplain(lines bool) func(*Call) Plan {
	return func(c *Call) Plan {
		return c.withIndex(c.Args[1], string(c.Args[1])+": no such index", func(ix *searchIndex, _ *store.Work) Plan {
			q, bad := parseSearch(c.Args[2], c.Args[3:], ix, c.searchSettings())
			if bad != "" {
				return fail(bad)
			}
			tree, bad := q.parse(c, ix)
			if bad != "" {
				return fail(bad)
			}
			explained := query.Explain(tree)
			if !lines {
				return answer(resp.MakeString(explained))
			}
			all := resp.EmptyArray
			for line := range strings.SplitSeq(explained, "\n") {
				all.Elems = append(all.Elems, resp.MakeStatus(strings.Map(oneLine, line)))
			}
			return answer(all)
		})
	}
}

// oneLine drops what a simple string must not hold.
func oneLine(r rune) rune {
	if r == '\r' || r == '\n' {
		return -1
	}
	return r
}

func ftTagvals(c *Call) Plan {
	return c.withIndex(c.Args[1], noIndexName, func(ix *searchIndex, w *store.Work) Plan {
		if !c.mayQuery(ix) {
			return answer(noSearchPermission)
		}
		f := ix.schema.Field(string(c.Args[2]))
		switch {
		case f == nil:
			return fail("No such field")
		case f.Type != inverted.Tag:
			return fail("Not a tag field")
		}
		return c.withChanged(ix, w, func(p *pending) Plan {
			return read(func(r *store.Result) resp.Value {
				v := resp.Value{Kind: resp.Set, Elems: []resp.Value{}}
				for _, tag := range p.tags(f, r.Rows[0], r.Work) {
					v.Elems = append(v.Elems, resp.MakeString(tag))
				}
				return v
			}, ix.tagStmt(f))
		})
	})
}

// tagStmt reads the terms of a tag field.
func (ix *searchIndex) tagStmt(f *inverted.Field) store.Stmt {
	return rangeOf(inverted.TagTerm(f, "")).statement(sqlTermsBetween, ix)
}

// eachTag calls use for the tags in the rows of tagStmt, with their chunks. A tag may come several times.
func eachTag(f *inverted.Field, rows []store.Row, use func(tag string, data []byte)) {
	all := rangeOf(inverted.TagTerm(f, ""))
	for _, row := range rows {
		all.each(row, func(term, data []byte) { use(inverted.TagOf(term), data) })
	}
}

// tags returns the tags of live documents, sorted, from the rows of tagStmt and from the changed keys.
func (p *pending) tags(f *inverted.Field, rows []store.Row, w *store.Work) []string {
	live := map[string]bool{}
	eachTag(f, rows, func(tag string, data []byte) {
		if live[tag] {
			return
		}
		w.Step(len(data))
		inverted.Postings(data, func(posting inverted.Posting) {
			if !p.hidden[posting.Doc] {
				live[tag] = true
			}
		})
	})
	for _, tag := range p.batch.TagsOf(f) {
		live[tag] = true
	}
	return slices.Sorted(maps.Keys(live))
}

// Synonyms are indexed with the words, so a change scans the keys again.
const (
	sqlAddSynonym = `INSERT INTO search_synonyms(index_id, term, synonyms) VALUES(?1, ?2, ?3) ON CONFLICT DO NOTHING`
	sqlRescan     = `UPDATE search_indexes SET scanned = 0, version = version + 1 WHERE id = ?1`
)

func ftSynupdate(c *Call) Plan {
	return c.withIndex(c.Args[1], noIndexName, func(ix *searchIndex, _ *store.Work) Plan {
		d := &definition{words: c.Args[3:]}
		skip := d.is("SKIPINITIALSCAN")
		id := store.Int(ix.id)
		stmts := []store.Stmt{{SQL: sqlGuardIndexID, Args: []store.Value{id}, Refused: &indexWentAway}}
		for _, term := range d.words[d.at:] {
			stmts = append(stmts, store.Stmt{SQL: sqlAddSynonym, Args: []store.Value{id, store.Bytes([]byte(text.Fold(string(term)))), store.Bytes(c.Args[2])}})
		}
		if !skip {
			stmts = append(stmts, store.Stmt{SQL: sqlRescan, Args: []store.Value{id}})
		}
		return writeIndex(decodeOK, stmts...)
	})
}

func ftSyndump(c *Call) Plan {
	return c.withIndex(c.Args[1], noIndexName, func(ix *searchIndex, _ *store.Work) Plan {
		terms := make([]string, 0, len(ix.synonyms))
		for term := range ix.synonyms {
			terms = append(terms, term)
		}
		slices.Sort(terms)
		v := resp.Value{Kind: resp.Map, Elems: []resp.Value{}}
		for _, term := range terms {
			groups := resp.EmptyArray
			for _, g := range ix.synonyms[term] {
				groups.Elems = append(groups.Elems, resp.MakeString(g))
			}
			v.Elems = append(v.Elems, resp.MakeString(term), groups)
		}
		return answer(v)
	})
}

const (
	sqlAddWord  = `INSERT INTO search_dictionaries(dictionary, term) VALUES(?1, ?2) ON CONFLICT DO NOTHING`
	sqlDropWord = `DELETE FROM search_dictionaries WHERE dictionary = ?1 AND term = ?2`
	sqlWords    = `SELECT term FROM search_dictionaries WHERE dictionary = ?1 ORDER BY term`
)

// ftDict translates FT.DICTADD and FT.DICTDEL.
func ftDict(sql string) func(*Call) Plan {
	return func(c *Call) Plan {
		var stmts []store.Stmt
		for _, term := range c.Args[2:] {
			stmts = append(stmts, store.Stmt{SQL: sql, Args: []store.Value{store.Bytes(c.Args[1]), store.Bytes(term)}})
		}
		return writeIndex(func(r *store.Result) resp.Value {
			n := int64(0)
			for _, changes := range r.Changes {
				n += changes
			}
			return resp.MakeInt(n)
		}, stmts...)
	}
}

func ftDictdump(c *Call) Plan {
	return read(func(r *store.Result) resp.Value {
		v := bulks(r.Rows[0])
		v.Kind = resp.Set
		return v
	}, store.Stmt{SQL: sqlWords, Args: []store.Value{store.Bytes(c.Args[1])}})
}

// marking holds HIGHLIGHT and SUMMARIZE.
type marking struct {
	highlight, summarize    bool
	highlighted, summarized []string // nil for all fields
	open, close             string
	summary                 text.Summary
	words                   []string // that the query looks for, with the found words of its patterns; nil until apply needs them
}

// parse parses the words after HIGHLIGHT or SUMMARIZE.
func (m *marking) parse(word string, d *definition, s *inverted.Schema) (bad string) {
	if s.NoOffsets || s.NoHighlight {
		return "Cannot use HIGHLIGHT/SUMMARIZE because NOOFSETS was specified at index level"
	}
	var fields *[]string
	if word == "HIGHLIGHT" {
		m.highlight, m.open, m.close = true, "<b>", "</b>"
		fields = &m.highlighted
	} else {
		m.summarize, m.summary = true, text.DefaultSummary
		fields = &m.summarized
	}
	options := map[string]map[string]func() string{
		"HIGHLIGHT": {"TAGS": func() string { return wordsOf(d, "TAGS", &m.open, &m.close) }},
		"SUMMARIZE": {
			"FRAGS":     func() string { return positive(d, "FRAGS", &m.summary.Fragments) },
			"LEN":       func() string { return positive(d, "LEN", &m.summary.Words) },
			"SEPARATOR": func() string { return wordsOf(d, "SEPARATOR", &m.summary.Separator) },
		},
	}[word]
	options["FIELDS"] = func() string { return fieldsOf(d, s, fields) }
	for d.more() {
		parse := options[upper(d.words[d.at])]
		if parse == nil {
			break
		}
		d.at++
		if bad := parse(); bad != "" {
			return bad
		}
	}
	return ""
}

// wordsOf reads a word for each of to.
func wordsOf(d *definition, option string, to ...*string) (bad string) {
	if len(d.words)-d.at < len(to) {
		return badArgument(option, noArgument)
	}
	for _, to := range to {
		*to = string(d.next())
	}
	return ""
}

// fieldsOf reads a counted list of fields of the schema.
func fieldsOf(d *definition, s *inverted.Schema, to *[]string) (bad string) {
	list, bad := d.counted("FIELDS")
	for _, name := range list {
		if s.Field(string(name)) == nil {
			return fmt.Sprintf("No such property `%s`", name)
		}
		*to = append(*to, string(name))
	}
	return bad
}

// maxSummary limits FRAGS and LEN.
const maxSummary = 1 << 20

func positive(d *definition, option string, to *int) string {
	word := d.next()
	n, ok := parseInt(word)
	switch {
	case word == nil:
		return badArgument(option, noArgument)
	case !ok:
		return badArgument(option, wrongArgument)
	case n < 1 || n > maxSummary:
		return badArgument(option, outOfBounds)
	}
	*to = int(n)
	return ""
}

// apply returns the value of a field with its matches marked.
func (m *marking) apply(f *finder, name, value string) string {
	field := f.ix.schema.Field(name)
	if !m.highlight && !m.summarize || field == nil || field.Type != inverted.Text {
		return value
	}
	wants := func(set bool, fields []string) bool { return set && (fields == nil || slices.Contains(fields, name)) }
	highlight, summarize := wants(m.highlight, m.highlighted), wants(m.summarize, m.summarized)
	if !highlight && !summarize {
		return value
	}
	if m.words == nil {
		m.words = append(queryTerms(f.tree), f.program.Words()...)
	}
	matched := text.Matcher(m.words, f.ix.schema.Analysis(field, f.ix.schema.Language, f.ix.synonyms))
	if !summarize {
		return text.Highlight(value, matched, m.open, m.close)
	}
	s := m.summary
	if highlight {
		s.Open, s.Close = m.open, m.close
	}
	return text.Summarize(value, matched, s)
}
