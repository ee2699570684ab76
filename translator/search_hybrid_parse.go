//go:build !wasip1 || search

package translator

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/search/expr"
	scoring "github.com/meowdis/meowdis/redis/search/score"
)

// The defaults of FT.HYBRID.
const (
	hybridWindow   = 20
	hybridRows     = 10
	hybridDistance = "__hybrid_distance" // the name of the distance inside the plan
)

func parseHybrid(words [][]byte, s *searchSettings, seed uint64) (q *hybridCall, bad string) {
	d := &definition{words: words}
	if !d.is("SEARCH") || !d.more() {
		return nil, "SEARCH argument is required"
	}
	q = &hybridCall{hybridVector: hybridVector{k: hybridRows}, hybridCombination: hybridCombination{constant: 60, alpha: 0.3, beta: 0.7, window: hybridWindow}}
	q.searchOptions = newSearchOptions(d.next(), s)
	q.dialect = 2
	for bad == "" {
		if d.is("SCORER") {
			bad = q.parseScorer(d)
		} else if d.is("YIELD_SCORE_AS") {
			q.textAs, bad = nameAfter(d, "YIELD_SCORE_AS")
		} else {
			break
		}
	}
	if bad == "" {
		bad = q.parseVector(d)
	}
	for bad == "" && d.more() {
		bad = q.parseRest(d, s, seed)
	}
	if bad != "" {
		return nil, bad
	}
	q.k = min(q.k, q.window)
	q.finish()
	return q, ""
}

func nameAfter(d *definition, option string) (name, bad string) {
	if !d.more() {
		return "", badArgument(option, noArgument)
	}
	return string(d.next()), ""
}

// parseScorer parses a scorer, which may follow the number of words.
func (q *hybridCall) parseScorer(d *definition) (bad string) {
	words := [][]byte{d.next()}
	if _, counted := parseInt(words[0]); counted {
		d.at--
		if words, bad = d.counted("SCORER"); bad != "" {
			return bad
		}
	}
	switch {
	case len(words) == 0 || words[0] == nil:
		return badArgument("SCORER", noArgument)
	case len(words) > 1:
		return badArgument("SCORER", "scorers have no parameters")
	}
	if q.scorer = string(words[0]); !scoring.Known(q.scorer) {
		return "No such scorer " + q.scorer
	}
	return ""
}

// parseVector parses VSIM.
func (q *hybridCall) parseVector(d *definition) (bad string) {
	if !d.is("VSIM") {
		return "VSIM argument is required"
	}
	field, param := d.next(), d.next()
	switch {
	case len(field) < 2 || field[0] != '@':
		return "Missing vector field name"
	case len(param) == 0 || string(param) == "$":
		return "Invalid vector argument: give a parameter, as in $vector, or the bytes of a vector"
	}
	if q.field = string(field[1:]); param[0] == '$' {
		q.param = string(param[1:])
	} else {
		q.blob = param
	}
	filtered := false
	for bad == "" {
		switch {
		case d.is("KNN"):
			bad = q.options(d, "KNN", q.nearestOption)
		case d.is("RANGE"):
			q.isRange, q.radius = true, -1
			if bad = q.options(d, "RANGE", q.rangeOption); bad == "" && q.radius < 0 {
				bad = "Missing required argument RADIUS"
			}
		case !filtered && d.is("FILTER"):
			filtered = true
			bad = q.parsePrefilter(d)
		case d.is("YIELD_SCORE_AS"):
			q.vectorAs, bad = nameAfter(d, "YIELD_SCORE_AS")
		default:
			return ""
		}
	}
	return bad
}

// nearestOption sets an option of KNN, and reports whether it is valid.
func (q *hybridCall) nearestOption(name, value string) (ok bool) {
	switch name {
	case "K":
		q.k, ok = parseInt([]byte(value))
		return ok && q.k > 0
	case "EF_RUNTIME", "SHARD_K_RATIO":
		f, ok := parseFloat([]byte(value))
		return ok && f > 0
	case "YIELD_SCORE_AS":
		q.vectorAs = value
		return true
	}
	return false
}

// rangeOption sets an option of RANGE, and reports whether it is valid.
func (q *hybridCall) rangeOption(name, value string) (ok bool) {
	switch name {
	case "RADIUS":
		q.radius, ok = parseFloat([]byte(value))
		return ok && q.radius >= 0
	case "EPSILON":
		f, ok := parseFloat([]byte(value))
		q.epsilon = value
		return ok && f >= 0
	case "YIELD_SCORE_AS":
		q.vectorAs = value
		return true
	}
	return false
}

// options parses a counted list of names and values.
func (q *hybridCall) options(d *definition, clause string, set func(name, value string) bool) (bad string) {
	list, bad := d.counted(clause)
	if bad != "" {
		return bad
	}
	if len(list)%2 != 0 {
		return badArgument(clause, noArgument)
	}
	for i := 0; i < len(list); i += 2 {
		if name := strings.ToUpper(string(list[i])); !set(name, string(list[i+1])) {
			return badArgument(clause, fmt.Sprintf("invalid value or unknown argument `%s`", list[i]))
		}
	}
	return ""
}

// parsePrefilter parses FILTER of VSIM: a query, which may follow the number of words, and the policy.
func (q *hybridCall) parsePrefilter(d *definition) (bad string) {
	if !d.more() {
		return badArgument("FILTER", noArgument)
	}
	policy := d
	if _, counted := parseInt(d.words[d.at]); counted {
		list, bad := d.counted("FILTER")
		if bad != "" {
			return bad
		}
		policy = &definition{words: list}
	}
	if !policy.more() {
		return badArgument("FILTER", noArgument)
	}
	q.filter = string(policy.next())
	for {
		switch {
		case policy.is("POLICY"):
			if !policy.is("ADHOC") && !policy.is("ADHOC_BF") && !policy.is("BATCHES") {
				return "invalid hybrid policy was given"
			}
		case policy.is("BATCH_SIZE"):
			if _, bad := positiveNumber(policy, "BATCH_SIZE"); bad != "" {
				return bad
			}
		case policy != d && policy.more():
			return fmt.Sprintf("Unknown argument `%s` in FILTER", policy.next())
		default:
			return ""
		}
	}
}

// parseRest parses a word after the two searches, with its arguments.
func (q *hybridCall) parseRest(d *definition, s *searchSettings, seed uint64) (bad string) {
	at := d.at
	word := strings.ToUpper(string(d.next()))
	switch word {
	case "COMBINE":
		return q.parseCombine(d)
	case "LOAD":
		return q.parseHybridLoad(d)
	case "GROUPBY":
		return q.parseGroup(d, s.maxGroups, seed)
	case "APPLY":
		return q.parseApply(d)
	case "FILTER":
		return q.parseFilter(d)
	case "SORTBY":
		return q.parseHybridSort(d)
	case "NOSORT":
		q.noSort = true
	case "LIMIT":
		l := q.limitStep()
		l.offset, l.count, bad = parseSearchLimit(d, s.maxSearch)
		q.hasLimit = true
		return bad
	case "PARAMS", "TIMEOUT", "FORMAT":
		d.at = at
		_, bad = q.option(d, nil)
		return bad
	case "WITHCURSOR":
		return q.parseCursor(d, s)
	case "EXPLAINSCORE":
		q.explainScore = true
	case "DIALECT":
		return word + " is not supported in FT.HYBRID"
	default:
		return fmt.Sprintf("Unknown argument `%s` at position %d for <main>", d.words[at], at)
	}
	return ""
}

func (q *hybridCall) parseCombine(d *definition) (bad string) {
	clause := "RRF"
	if q.linear = d.is("LINEAR"); q.linear {
		clause = "LINEAR"
	} else if !d.is("RRF") {
		return fmt.Sprintf("Unknown COMBINE method `%s`", d.next())
	}
	number := func(value string, to *float64) (ok bool) {
		*to, ok = parseFloat([]byte(value))
		return ok
	}
	if d.more() && !wordIs(d.words[d.at], "YIELD_SCORE_AS") {
		bad = q.options(d, "COMBINE "+clause, func(name, value string) (ok bool) {
			switch {
			case name == "WINDOW":
				q.window, ok = parseInt([]byte(value))
				return ok && q.window > 0
			case name == "YIELD_SCORE_AS":
				q.scoreAs = value
				return true
			case name == "CONSTANT" && !q.linear:
				return number(value, &q.constant)
			case name == "ALPHA" && q.linear:
				return number(value, &q.alpha)
			case name == "BETA" && q.linear:
				return number(value, &q.beta)
			}
			return false
		})
	}
	if bad == "" && d.is("YIELD_SCORE_AS") {
		q.scoreAs, bad = nameAfter(d, "YIELD_SCORE_AS")
	}
	return bad
}

// parseHybridLoad parses LOAD. Its number may leave out the words of AS, as in the examples of the page.
func (q *hybridCall) parseHybridLoad(d *definition) (bad string) {
	at, before := d.at, len(q.load)
	if bad = q.parseLoad(d); bad != "" || !d.more() || !wordIs(d.words[d.at], "AS") {
		return bad
	}
	n, _ := parseInt(d.words[at])
	d.at, q.load = at+1, q.load[:before]
	for ; n > 0 && d.more(); n-- {
		f := returnedField{name: strings.TrimPrefix(string(d.next()), "@")}
		if f.as = f.name; d.is("AS") {
			if f.as, bad = nameAfter(d, "AS"); bad != "" {
				return bad
			}
		}
		q.load = append(q.load, f)
	}
	return ""
}

// parseHybridSort parses SORTBY. Names may lack the @, and a last ASC or DESC may be left out of the number.
func (q *hybridCall) parseHybridSort(d *definition) string {
	list, bad := d.counted("SORTBY")
	if bad != "" {
		return bad
	}
	if d.more() && (wordIs(d.words[d.at], "ASC") || wordIs(d.words[d.at], "DESC")) {
		list = append(slices.Clip(list), d.next())
	}
	words := [][]byte{strconv.AppendInt(nil, int64(len(list)), 10)}
	for i, word := range list {
		if isOrder := i > 0 && (wordIs(word, "ASC") || wordIs(word, "DESC")); !isOrder && (len(word) == 0 || word[0] != '@') {
			word = append([]byte{'@'}, word...)
		}
		words = append(words, word)
	}
	return q.parseSort(&definition{words: words})
}

// finish adds the default order and number of rows.
func (q *hybridCall) finish() {
	sorts := slices.ContainsFunc(q.steps, func(s aggregateStep) bool { _, is := s.(*sortStep); return is })
	groups := slices.ContainsFunc(q.steps, func(s aggregateStep) bool { _, is := s.(*groupStep); return is })
	if !sorts && !groups && !q.noSort {
		sort := &sortStep{keys: []expr.SortKey{{Name: "__score", Descending: true}}, hidden: true}
		at := len(q.steps)
		for i, step := range q.steps {
			if _, is := step.(*limitStep); is {
				at = i
				break
			}
		}
		q.steps = slices.Insert(q.steps, at, aggregateStep(sort))
	}
	if !q.hasLimit && !sorts {
		q.steps = append(q.steps, &limitStep{count: hybridRows})
	}
}

// vectorOptions returns the search of VSIM as a query.
func (q *hybridCall) vectorOptions() (o searchOptions, bad string) {
	o = q.searchOptions
	vector, ok := q.params[q.param]
	switch {
	case q.blob != nil:
		vector = string(q.blob)
	case !ok:
		return o, fmt.Sprintf("Parameter not found `%s`", q.param)
	}
	const param = "__hybrid_vector"
	if o.params = maps.Clone(q.params); o.params == nil {
		o.params = map[string]string{}
	}
	o.params[param] = vector
	var name strings.Builder
	for _, ch := range []byte(q.field) {
		if ch < 0x80 && ch != '_' && !(ch >= '0' && ch <= '9' || ch|0x20 >= 'a' && ch|0x20 <= 'z') {
			name.WriteByte('\\')
		}
		name.WriteByte(ch)
	}
	filter := "*"
	if q.filter != "" {
		filter = "(" + q.filter + ")"
	}
	if q.isRange {
		o.query = fmt.Sprintf("(@%s:[VECTOR_RANGE %s $%s]=>{$YIELD_DISTANCE_AS: %s})", name.String(), strconv.FormatFloat(q.radius, 'f', -1, 64), param, hybridDistance)
		if q.filter != "" {
			o.query = filter + " " + o.query
		}
		return o, ""
	}
	o.query = fmt.Sprintf("%s=>[KNN %d @%s $%s AS %s]", filter, q.k, name.String(), param, hybridDistance)
	return o, ""
}
