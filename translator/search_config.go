//go:build !wasip1 || search

package translator

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	scoring "github.com/meowdis/meowdis/redis/search/score"
)

// searchParameter describes a parameter of FT.CONFIG: redis.io/docs/latest/develop/ai/search-and-query/administration.
type searchParameter struct {
	name, about string
	get         func(*searchSettings) string
	set         func(*searchSettings, string) bool // nil for a fixed value
}

func constant(value string) func(*searchSettings) string {
	return func(*searchSettings) string { return value }
}

// bounded returns the functions of a number between two others.
func bounded(field func(*searchSettings) *int64, least, most int64) (get func(*searchSettings) string, set func(*searchSettings, string) bool) {
	return func(s *searchSettings) string { return strconv.FormatInt(*field(s), 10) },
		func(s *searchSettings, text string) bool {
			n, ok := parseInt([]byte(text))
			if ok = ok && n >= least && n <= most; ok {
				*field(s) = n
			}
			return ok
		}
}

func numberParameter(name, about string, field func(*searchSettings) *int64, least, most int64) searchParameter {
	p := searchParameter{name: name, about: about}
	p.get, p.set = bounded(field, least, most)
	return p
}

var searchParameters = []searchParameter{
	numberParameter("TIMEOUT", "Milliseconds after which a query ends, 0 for none", func(s *searchSettings) *int64 { return &s.timeout }, 0, 1<<31),
	{"ON_TIMEOUT", "Whether a query that ends early returns its documents so far: return or fail",
		func(s *searchSettings) string {
			if s.failsLate {
				return "fail"
			}
			return "return"
		},
		func(s *searchSettings, text string) bool {
			s.failsLate = strings.EqualFold(text, "fail")
			return s.failsLate || strings.EqualFold(text, "return")
		}},
	numberParameter("MAXSEARCHRESULTS", "Greatest number of LIMIT in FT.SEARCH", func(s *searchSettings) *int64 { return &s.maxSearch }, 0, maxSearchResults),
	numberParameter("MAXAGGREGATERESULTS", "Greatest number of LIMIT in FT.AGGREGATE", func(s *searchSettings) *int64 { return &s.maxRows }, 0, maxAggregateResults),
	numberParameter("MAX_AGGREGATE_GROUPS", "Greatest number of groups of GROUPBY", func(s *searchSettings) *int64 { return &s.maxGroups }, 1, maxGroups),
	{"DEFAULT_DIALECT", "Dialect of queries without DIALECT",
		func(s *searchSettings) string { return strconv.Itoa(s.dialect) },
		func(s *searchSettings, text string) bool {
			n, err := strconv.Atoi(text)
			s.dialect = n
			return err == nil && n >= 1 && n <= 4
		}},
	{"DEFAULT_SCORER", "Scorer of queries without SCORER", func(s *searchSettings) string { return s.scorer },
		func(s *searchSettings, text string) bool {
			s.scorer = text
			return scoring.Known(text)
		}},
	numberParameter("BM25STD_TANH_FACTOR", "Factor of the scorer BM25STD.TANH", func(s *searchSettings) *int64 { return &s.tanhFactor }, 1, maxTanhFactor),
	numberParameter("CURSOR_MAX_IDLE", "Milliseconds after which a cursor that is not read ends", func(s *searchSettings) *int64 { return &s.cursorIdle }, 1, defaultSettings.cursorIdle),
	numberParameter("INDEX_CURSOR_LIMIT", "Open cursors of an index", func(s *searchSettings) *int64 { return &s.maxCursors }, 1, defaultSettings.maxCursors),
	{"MINPREFIX", "Least bytes of an affix", constant("2"), nil},
	{"MAXPREFIXEXPANSIONS", "Terms that a pattern may find", constant("200"), nil},
	{"MAXEXPANSIONS", "Terms that a pattern may find", constant("200"), nil},
	{"MINSTEMLEN", "Least bytes of a word that is stemmed", constant("4"), nil},
	{"MIN_PHONETIC_TERM_LEN", "Least letters of a word with a phonetic code", constant("3"), nil},
	{"MULTI_TEXT_SLOP", "Positions between the values of a text field", constant("100"), nil},
	{"WORKERS", "Threads that run queries", constant("0"), nil},
}

// parametersNamed returns the parameters with a name, or all for *.
func parametersNamed(name []byte) (found []searchParameter) {
	for _, p := range searchParameters {
		if string(name) == "*" || strings.EqualFold(p.name, string(name)) {
			found = append(found, p)
		}
	}
	return found
}

func ftConfigGet(c *Call) Plan {
	if len(c.Args) > 3 {
		return answer(commands.WrongArity(c.Command))
	}
	v, in3 := resp.EmptyArray, resp.EmptyMap
	for _, p := range parametersNamed(c.Args[2]) {
		pair := []resp.Value{resp.MakeString(p.name), resp.MakeString(p.get(c.searchSettings()))}
		v.Elems = append(v.Elems, resp.MakeArray(pair...))
		in3.Elems = append(in3.Elems, pair...)
	}
	v.RESP3 = &in3
	return answer(v)
}

func ftConfigHelp(c *Call) Plan {
	v, in3 := resp.EmptyArray, resp.EmptyMap
	for _, p := range parametersNamed(c.Args[2]) {
		name, about := resp.MakeString(p.name), []resp.Value{resp.MakeString("Description"), resp.MakeString(p.about), resp.MakeString("Value"), resp.MakeString(p.get(c.searchSettings()))}
		v.Elems = append(v.Elems, resp.MakeArray(append([]resp.Value{name}, about...)...))
		in3.Elems = append(in3.Elems, name, resp.MakeMap(about...))
	}
	v.RESP3 = &in3
	return answer(v)
}

// ftConfigSet translates FT.CONFIG SET. A parameter lasts until the process ends.
func ftConfigSet(c *Call) Plan {
	if len(c.Args) != 4 {
		return answer(commands.WrongArity(c.Command))
	}
	found := parametersNamed(c.Args[2])
	switch {
	case len(found) != 1 || string(c.Args[2]) == "*":
		return fail("Invalid option")
	case found[0].set == nil:
		return fail("Not modifiable at runtime")
	}
	set := *c.searchSettings()
	if !found[0].set(&set, string(c.Args[3])) {
		return fail(badArgument(found[0].name, outOfBounds))
	}
	if c.Env.Search != nil {
		c.Env.Search.settings.Store(&set)
	}
	return answer(resp.OK)
}

// configNames maps the names of CONFIG to the names of FT.CONFIG.
var configNames = map[string]string{
	"search-timeout": "TIMEOUT", "search-on-timeout": "ON_TIMEOUT", "search-max-search-results": "MAXSEARCHRESULTS",
	"search-max-aggregate-results": "MAXAGGREGATERESULTS", "search-max-aggregate-groups": "MAX_AGGREGATE_GROUPS", "search-default-dialect": "DEFAULT_DIALECT",
	"search-default-scorer": "DEFAULT_SCORER", "search-bm25std-tanh-factor": "BM25STD_TANH_FACTOR", "search-cursor-max-idle": "CURSOR_MAX_IDLE",
	"search-index-cursor-limit": "INDEX_CURSOR_LIMIT", "search-min-prefix": "MINPREFIX", "search-max-prefix-expansions": "MAXPREFIXEXPANSIONS",
	"search-min-stem-len": "MINSTEMLEN", "search-min-phonetic-term-len": "MIN_PHONETIC_TERM_LEN", "search-multi-text-slop": "MULTI_TEXT_SLOP",
	"search-workers": "WORKERS",
}

// SearchParameters calls do with each search parameter of CONFIG, its default, and whether it is fixed.
func SearchParameters(do func(name, initial string, fixed bool)) {
	for name, of := range configNames {
		p := parametersNamed([]byte(of))[0]
		do(name, p.get(&defaultSettings), p.set == nil)
	}
}

// ValidSearchParameter reports whether a search parameter can have the value.
func ValidSearchParameter(name, value string) bool {
	p, scratch := parametersNamed([]byte(configNames[name]))[0], defaultSettings
	return p.set == nil || p.set(&scratch, value)
}

// Parameters returns the search parameters of the process by the names of CONFIG.
func (s *SearchState) Parameters() map[string]string {
	all := map[string]string{}
	for name, of := range configNames {
		all[name] = parametersNamed([]byte(of))[0].get((&Call{Env: Env{Search: s}}).searchSettings())
	}
	return all
}

// SetParameters changes the search parameters among params, whose values are valid.
func (s *SearchState) SetParameters(params map[string]string) {
	set := *(&Call{Env: Env{Search: s}}).searchSettings()
	for name, of := range configNames {
		if p := parametersNamed([]byte(of))[0]; p.set != nil && params[name] != "" {
			p.set(&set, params[name])
		}
	}
	s.settings.Store(&set)
}
