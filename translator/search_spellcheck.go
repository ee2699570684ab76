//go:build !wasip1 || search

package translator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/query"
	"github.com/meowdis/meowdis/redis/search/text"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/inverted"
)

// spellCall holds the arguments and the state of FT.SPELLCHECK: redis.io/docs/latest/commands/ft.spellcheck.
type spellCall struct {
	searchOptions
	distance         int
	include, exclude [][]byte // dictionaries
	words            []*spelledWord
	excluded         map[string]bool
	included         []string
}

// spelledWord holds a word of the query, and its suggestions.
type spelledWord struct {
	text        string
	fields      inverted.Mask
	suggestions []spelling
}

type spelling struct {
	word  string
	score float64
	docs  int
}

func (q *spellCall) parseArguments(d *definition) (bad string) {
	for d.more() {
		switch {
		case d.is("DISTANCE"):
			n, ok := parseInt(d.next())
			if !ok || n < 1 || n > 4 {
				return "bad distance given, distance must be a natural number between 1 to 4"
			}
			q.distance = int(n)
		case d.is("TERMS"):
			to := &q.include
			if !d.is("INCLUDE") {
				if to = &q.exclude; !d.is("EXCLUDE") {
					return "bad format, exclude/include operation was not given"
				}
			}
			if !d.more() {
				return "TERM arg is given but no TERM params comes after"
			}
			*to = append(*to, d.next())
		case d.is("DIALECT"):
			bad = q.number("DIALECT", d)
		case d.is("PARAMS"):
			bad = q.parseParams(d)
		default:
			return fmt.Sprintf("Unknown argument `%s`", d.next())
		}
		if bad != "" {
			return bad
		}
	}
	return ""
}

func ftSpellcheck(c *Call) Plan {
	return c.withIndex(c.Args[1], noIndexName, func(ix *searchIndex, w *store.Work) Plan {
		q := &spellCall{searchOptions: newSearchOptions(c.Args[2], c.searchSettings()), distance: 1, excluded: map[string]bool{}}
		q.verbatim = true // only the words themselves are checked
		if bad := q.parseArguments(&definition{words: c.Args[3:]}); bad != "" {
			return fail(bad)
		}
		if !c.mayQuery(ix) {
			return answer(noSearchPermission)
		}
		tree, bad := q.parse(c, ix)
		if bad != "" {
			return fail(bad)
		}
		q.collect(ix, tree)
		return c.withChanged(ix, w, func(p *pending) Plan { return q.check(ix, p) })
	})
}

// collect notes the words of the query, each once.
func (q *spellCall) collect(ix *searchIndex, tree query.Node) {
	seen := map[string]bool{}
	add := func(word string, fields []string) {
		if !seen[word] {
			seen[word] = true
			q.words = append(q.words, &spelledWord{text: word, fields: ix.schema.MaskOf(fields)})
		}
	}
	var visit func(n query.Node)
	visit = func(n query.Node) {
		switch n := n.(type) {
		case *query.Tag: // its values are not words
			return
		case *query.Term:
			add(n.Text, n.Fields)
		case *query.Phrase:
			for _, term := range n.Terms {
				add(term, n.Fields)
			}
		}
		for _, child := range query.Children(n) {
			visit(child)
		}
	}
	visit(tree)
}

// check reads the dictionaries and the documents of the words, and keeps the words that the index lacks.
func (q *spellCall) check(ix *searchIndex, p *pending) Plan {
	var stmts []store.Stmt
	for _, name := range slices.Concat(q.include, q.exclude) {
		stmts = append(stmts, store.Stmt{SQL: sqlWords, Args: []store.Value{store.Bytes(name)}})
	}
	lists := len(stmts)
	for _, word := range q.words {
		stmts = append(stmts, ix.postings(inverted.WordTerm(word.text)))
	}
	if len(stmts) == 0 {
		return answer(q.reply())
	}
	return readThen(func(r *store.Result) Plan {
		for i, name := range slices.Concat(q.include, q.exclude) {
			if len(r.Rows[i]) == 0 {
				return fail(fmt.Sprintf("Dict does not exist: %s", name))
			}
			q.take(r.Rows[i], i < len(q.include), r.Work)
		}
		unknown := q.words[:0]
		for i, word := range q.words {
			if p.count(word.text, word.fields, r.Rows[lists+i], r.Work) == 0 && !q.excluded[word.text] {
				unknown = append(unknown, word)
			}
		}
		q.words = unknown
		return q.suggest(ix, p)
	}, stmts...)
}

// take takes the words of a dictionary, which suggests them or excludes them from the check.
func (q *spellCall) take(rows []store.Row, included bool, w *store.Work) {
	for _, row := range rows {
		w.Grow(int64(48 + len(row[0].Bytes())))
		if word := string(row[0].Bytes()); included {
			q.included = append(q.included, word)
		} else {
			q.excluded[text.Fold(word)] = true
		}
	}
}

// count returns the number of live documents with a word in one of fields. rows are its blocks.
func (p *pending) count(word string, fields inverted.Mask, rows []store.Row, w *store.Work) int {
	docs := p.batch.Count(word, fields)
	for _, row := range rows {
		w.Step(len(row[0].Bytes()))
		docs += inverted.CountPostings(chunksIn(row, inverted.WordTerm(word)), fields, p.hidden)
	}
	return docs
}

// suggest finds similar words in the index and the dictionaries.
func (q *spellCall) suggest(ix *searchIndex, p *pending) Plan {
	if len(q.words) == 0 {
		return answer(q.reply())
	}
	words := rangeOf(inverted.WordTerm(""))
	stmt := words.statement(sqlNamesBetween, ix)
	var seen []map[string]bool // by word
	consider := func(other string) (steps int, allocated int64) {
		n := utf8.RuneCountInString(other)
		for i, word := range q.words {
			if d := n - utf8.RuneCountInString(word.text); d > q.distance || -d > q.distance || seen[i][other] {
				continue
			}
			steps += 16 * (len(word.text) + 1)
			if text.Distance(word.text, other, q.distance) <= q.distance {
				allocated += int64(96 + len(other))
				seen[i][other] = true
				word.suggestions = append(word.suggestions, spelling{word: other})
			}
		}
		return steps, allocated
	}
	use := eachRow(&stmt, func() (func(row store.Row), func(w *store.Work)) {
		steps, allocated := 0, int64(0)
		seen = nil
		for _, word := range q.words {
			seen = append(seen, map[string]bool{})
			word.suggestions = nil
		}
		return func(row store.Row) {
				words.each(row, func(term, _ []byte) {
					if other := inverted.Word(term); inverted.IsPlainWord(other) {
						s, a := consider(other)
						steps, allocated = steps+s+len(term), allocated+a
					}
				})
			}, func(w *store.Work) {
				w.Step(steps)
				w.Grow(allocated)
			}
	})
	return readThen(func(r *store.Result) Plan {
		use(r.Rows[0], r.Work)
		for _, other := range slices.Concat(slices.DeleteFunc(p.batch.SortedWords(), func(s string) bool { return !inverted.IsPlainWord(s) }), q.included) {
			steps, allocated := consider(other)
			r.Work.Step(steps)
			r.Work.Grow(allocated)
		}
		return q.score(ix, p, r.Work)
	}, stmt)
}

// score reads the documents of the suggestions. A suggestion without a document stays only if a dictionary has it.
func (q *spellCall) score(ix *searchIndex, p *pending, w *store.Work) Plan {
	var stmts []store.Stmt
	for _, word := range q.words {
		for _, s := range word.suggestions {
			w.Grow(stmtMemory)
			stmts = append(stmts, ix.postings(inverted.WordTerm(s.word)))
		}
	}
	if len(stmts) == 0 {
		return answer(q.reply())
	}
	return read(func(r *store.Result) resp.Value {
		all := float64(ix.documents - int64(len(p.staleDocs)) + int64(len(p.docs)))
		at := 0
		for _, word := range q.words {
			for i := range word.suggestions {
				s := &word.suggestions[i]
				s.docs = p.count(s.word, word.fields, r.Rows[at], r.Work)
				at++
				if s.docs > 0 && all > 0 {
					s.score = float64(s.docs) / all
				}
			}
			word.suggestions = slices.DeleteFunc(word.suggestions, func(s spelling) bool { return s.docs == 0 && !slices.Contains(q.included, s.word) })
			smallsort.Sort(word.suggestions, func(a, b spelling) int {
				return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.word, b.word))
			})
		}
		return q.reply()
	}, stmts...)
}

func (q *spellCall) reply() resp.Value {
	v, in3 := resp.EmptyArray, resp.EmptyMap
	for _, word := range q.words {
		list, maps := resp.EmptyArray, resp.EmptyArray
		for _, s := range word.suggestions {
			list.Elems = append(list.Elems, resp.MakeArray(resp.MakeDouble(s.score), resp.MakeString(s.word)))
			maps.Elems = append(maps.Elems, resp.MakeMap(resp.MakeString(s.word), resp.MakeDouble(s.score)))
		}
		v.Elems = append(v.Elems, resp.MakeArray(resp.MakeString("TERM"), resp.MakeString(word.text), list))
		in3.Elems = append(in3.Elems, resp.MakeString(word.text), maps)
	}
	in3 = resp.MakeMap(resp.MakeString("results"), in3)
	v.RESP3 = &in3
	return v
}
