package upstash

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/search/query"
)

// ParseFilter parses a filter in JSON. The tree has TEXT fields in the Fields of its terms; a KEYWORD, a BOOL (true or
// false) and a FACET are tags, and a DATE is a number of ms.
func ParseFilter(filter string, d *Definition) (query.Node, error) {
	o, err := parseObject("filter", filter)
	if err != nil {
		return nil, err
	}
	p := &filterParser{d: d}
	n, err := p.object(o)
	if err == nil && p.words > maxWords {
		return nil, failure("The filter has too many words")
	}
	return n, err
}

type filterParser struct {
	d     *Definition
	words int // analyzed so far; $smart analyzes a text twice
}

// maxWords limits the words of a filter: $fuzzy and $smart compare each with every word of the index.
const maxWords = 512

func base() query.Base { return query.Base{Weight: 1} }

// object parses a filter: an object of fields and of boolean operators.
func (p *filterParser) object(o object) (query.Node, error) {
	var must, should, not []query.Node
	weight, required := 1.0, false
	for _, m := range o {
		var err error
		var nodes []query.Node
		switch m.name {
		case "$boost":
			weight, err = number(m.value, "$boost")
		case "$must", "$and":
			nodes, err = p.list(m)
			must = append(must, nodes...)
		case "$should", "$or":
			nodes, err = p.list(m)
			should = append(should, nodes...)
			required = required || m.name == "$or"
		case "$mustNot":
			nodes, err = p.list(m)
			not = append(not, nodes...)
		default:
			var n query.Node
			n, err = p.field(m)
			must = append(must, n)
		}
		if err != nil {
			return nil, err
		}
	}
	return combine(must, should, not, required, weight), nil
}

// combine joins conditions. Conditions that should match only add to the score if others must, unless required. Conditions
// that must not match alone match nothing.
func combine(must, should, not []query.Node, required bool, weight float64) query.Node {
	var n query.Node
	switch {
	case len(must)+len(should)+len(not) == 0:
		n = &query.All{Base: base()}
	case len(must)+len(should) == 0:
		return &query.Nothing{Base: base()}
	default:
		if len(should) > 0 {
			any := orOf(should)
			if len(must) > 0 && !required {
				any = &query.Optional{Base: base(), Child: any}
			}
			must = append(must, any)
		}
		if len(not) > 0 {
			must = append(must, &query.Not{Base: base(), Child: orOf(not)})
		}
		n = andOf(must)
	}
	n.Common().Weight *= weight
	return n
}

func andOf(nodes []query.Node) query.Node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return &query.And{Base: base(), Children: nodes}
}

func orOf(nodes []query.Node) query.Node {
	switch len(nodes) {
	case 0:
		return &query.Nothing{Base: base()}
	case 1:
		return nodes[0]
	}
	return &query.Or{Base: base(), Children: nodes}
}

// list parses the conditions of a boolean operator: an array of filters, or the members of an object.
func (p *filterParser) list(m member) (nodes []query.Node, err error) {
	var parts []object
	switch value := m.value.(type) {
	case object:
		if _, boosted := value.get("$boost"); boosted {
			parts = []object{value}
			break
		}
		for _, part := range value {
			parts = append(parts, object{part})
		}
	case []any:
		for _, item := range value {
			o, ok := item.(object)
			if !ok {
				return nil, failure("%s must hold objects", m.name)
			}
			parts = append(parts, o)
		}
	default:
		return nil, failure("%s must be an object or an array", m.name)
	}
	for _, part := range parts {
		n, err := p.object(part)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// field parses the condition of a field: a value, or an object of operators, which all must hold.
func (p *filterParser) field(m member) (query.Node, error) {
	f, known := p.d.Field(m.name)
	if !known {
		return nil, failure("Unknown field: %s", m.name)
	}
	operators, ok := m.value.(object)
	if !ok {
		return p.operator(f, "$smart", m.value)
	}
	var nodes []query.Node
	weight := 1.0
	for _, op := range operators {
		if op.name == "$boost" {
			var err error
			if weight, err = number(op.value, "$boost"); err != nil {
				return nil, err
			}
			continue
		}
		n, err := p.operator(f, op.name, op.value)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	if nodes == nil {
		return nil, failure("Field %s has no operator", f.Name)
	}
	n := mergeRanges(nodes)
	n.Common().Weight *= weight
	return n, nil
}

// mergeRanges joins the operators of one field; two ends of a range become one range.
func mergeRanges(nodes []query.Node) query.Node {
	if len(nodes) == 2 {
		a, okA := nodes[0].(*query.Numeric)
		b, okB := nodes[1].(*query.Numeric)
		if okA && okB && math.IsInf(a.Max, 1) && math.IsInf(b.Min, -1) {
			a.Max, a.MaxExclusive = b.Max, b.MaxExclusive
			return a
		}
	}
	return andOf(nodes)
}

func (p *filterParser) operator(f Field, op string, value any) (query.Node, error) {
	switch op {
	case "$smart":
		if f.Type == Text {
			return p.smart(f, value)
		}
		return p.equal(f, value)
	case "$eq":
		return p.equal(f, value)
	case "$in":
		list, ok := value.([]any)
		if !ok {
			return nil, failure("$in of field %s must be an array", f.Name)
		}
		var nodes []query.Node
		for _, item := range list {
			n, err := p.equal(f, item)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, n)
		}
		return orOf(nodes), nil
	case "$gt", "$gte", "$lt", "$lte":
		return p.compare(f, op, value)
	case "$phrase", "$fuzzy", "$regex":
		if f.Type != Text {
			return nil, failure("Field operator %s needs a TEXT field, and %s is %s", op, f.Name, f.Type)
		}
		return p.textOperator(f, op, value)
	}
	return nil, failure("Unknown field operator: %s", op)
}

func (p *filterParser) textOperator(f Field, op string, value any) (query.Node, error) {
	options, ok := value.(object)
	if !ok {
		options = object{{"value", value}}
	}
	word := ""
	for _, name := range []string{"value", "term", "query", "text"} {
		if v, ok := options.get(name); ok {
			if word, ok = v.(string); !ok {
				return nil, failure("%s of field %s must be a string", op, f.Name)
			}
		}
	}
	switch op {
	case "$phrase":
		return p.phraseOperator(f, word, options)
	case "$fuzzy":
		return p.fuzzyOperator(f, word, options)
	}
	pattern, err := regexp.Compile("^(?:" + word + ")$")
	if err != nil || len(word) > 1000 {
		return nil, failure("Invalid regular expression for field %s: %.100s", f.Name, word)
	}
	return &query.Regexp{Base: textBase(f), Pattern: pattern}, nil
}

func textBase(f Field) query.Base { return query.Base{Weight: 1, Fields: []string{f.Name}} }

// terms returns the terms of a text as the field's analysis makes them.
func (p *filterParser) terms(f Field, value string) (terms []string) {
	for _, token := range Tokens(value, f, p.d.Language) {
		terms = append(terms, token.Term)
	}
	p.words += len(terms)
	return terms
}

// phraseOf returns the node of terms that stand side by side.
func phraseOf(f Field, terms []string) query.Node {
	switch len(terms) {
	case 0:
		return &query.Nothing{Base: base()}
	case 1:
		return &query.Term{Base: textBase(f), Text: terms[0], Verbatim: true}
	}
	return &query.Phrase{Base: textBase(f), Terms: terms}
}

func (p *filterParser) phraseOperator(f Field, word string, options object) (query.Node, error) {
	n := phraseOf(f, p.terms(f, word))
	slop, hasSlop := options.get("slop")
	prefix, _ := options.get("prefix")
	if hasSlop && prefix == true {
		return nil, failure("$phrase of field %s has both slop and prefix", f.Name)
	}
	if hasSlop {
		v, err := number(slop, "slop")
		if err != nil {
			return nil, err
		}
		if v < 0 || v != math.Trunc(v) || v > math.MaxInt32 {
			return nil, failure("slop must be a whole number, and not %v", v)
		}
		n.Common().Slop = new(int)
		*n.Common().Slop = int(v)
	}
	if prefix == true {
		switch n := n.(type) {
		case *query.Phrase:
			n.PrefixLast = true
		case *query.Term:
			return &query.Fuzzy{Base: n.Base, Text: n.Text, Prefix: true}, nil
		}
	}
	return n, nil
}

func (p *filterParser) fuzzyOperator(f Field, word string, options object) (query.Node, error) {
	distance, swaps, prefix := 1.0, true, false
	for _, m := range options {
		var err error
		ok := true
		switch m.name {
		case "distance":
			if distance, err = number(m.value, "distance"); err != nil {
				return nil, err
			}
			ok = distance == 0 || distance == 1 || distance == 2
		case "transpositionCostOne":
			swaps, ok = m.value.(bool)
		case "prefix":
			prefix, ok = m.value.(bool)
		}
		if !ok {
			return nil, failure("Invalid %s in $fuzzy of field %s", m.name, f.Name)
		}
	}
	var nodes []query.Node
	// Stems are compared, since the index has stems: "happines" is far from the stem of "happiness", its stem is not.
	for _, term := range p.terms(f, word) {
		nodes = append(nodes, &query.Fuzzy{Base: textBase(f), Text: term, Distance: int(distance), Swaps: swaps, Prefix: prefix})
	}
	if nodes == nil {
		return &query.Nothing{Base: base()}, nil
	}
	return andOf(nodes), nil
}

// The weights of the clauses of $smart: only their order is documented.
const (
	weightPhrase = 8
	weightNear   = 4
	weightTerms  = 2
	smartSlop    = 2
)

// smart returns the clauses that a text means by itself, strongest first.
func (p *filterParser) smart(f Field, value any) (query.Node, error) {
	s, ok := value.(string)
	if !ok {
		return nil, failure("The value of field %s must be a string", f.Name)
	}
	if n := len(s); n > 1 && s[0] == '"' && s[n-1] == '"' {
		return phraseOf(f, p.terms(f, s[1:n-1])), nil
	}
	terms := p.terms(f, s)
	if len(terms) == 0 {
		return &query.Nothing{Base: base()}, nil
	}
	unstemmed := f
	unstemmed.NoStem = true
	words := p.terms(unstemmed, s)
	fuzzy := func(word string, prefix bool) query.Node {
		return &query.Fuzzy{Base: textBase(f), Text: word, Distance: 1, Swaps: true, Prefix: prefix}
	}
	weighted := func(n query.Node, weight float64) query.Node {
		n.Common().Weight = weight
		return n
	}
	if len(terms) == 1 {
		return orOf([]query.Node{weighted(phraseOf(f, terms), weightPhrase), fuzzy(words[0], false), fuzzy(words[0], true)}), nil
	}
	slop := smartSlop
	near := weighted(phraseOf(f, terms), weightNear)
	near.Common().Slop = &slop
	var any, tolerant []query.Node
	for i := range terms {
		any = append(any, &query.Term{Base: textBase(f), Text: terms[i], Verbatim: true})
		tolerant = append(tolerant, fuzzy(words[i], false))
	}
	return orOf([]query.Node{weighted(phraseOf(f, terms), weightPhrase), near, weighted(orOf(any), weightTerms), andOf(tolerant),
		fuzzy(words[len(words)-1], true)}), nil
}

// equal returns the condition that a field has a value; of a TEXT field, that it has the words side by side.
func (p *filterParser) equal(f Field, value any) (query.Node, error) {
	tag := func(s string) (query.Node, error) {
		return &query.Tag{Base: base(), Field: f.Name, Values: []query.Node{&query.Term{Base: base(), Text: s, Verbatim: true}}}, nil
	}
	s, isString := value.(string)
	switch {
	case f.Type == Text && isString:
		return phraseOf(f, p.terms(f, s)), nil
	case f.Type == Keyword && isString:
		return tag(s)
	case f.Type == Facet && isString:
		if FacetPaths(s) == nil {
			return nil, failure("The path of FACET field %s must begin with /", f.Name)
		}
		return tag(s)
	case f.Type == Bool:
		if b, ok := value.(bool); ok {
			return tag(strconv.FormatBool(b))
		}
	case f.Type.IsNumeric():
		if v, ok := operand(f, value); ok {
			return &query.Numeric{Base: base(), Field: f.Name, Min: v, Max: v}, nil
		}
	}
	return nil, invalid(f)
}

func invalid(f Field) error { return failure("Invalid value for %s field %s", f.Type, f.Name) }

// operand returns the number that a filter compares with.
func operand(f Field, value any) (v float64, ok bool) {
	switch value := value.(type) {
	case string:
		if f.Type == Date {
			return ParseDate(value)
		}
	case json.Number:
		v, err := value.Float64()
		return v, err == nil
	}
	return 0, false
}

func (p *filterParser) compare(f Field, op string, value any) (query.Node, error) {
	exclusive, lower := op == "$gt" || op == "$lt", strings.HasPrefix(op, "$g")
	if f.Type == Keyword {
		s, ok := value.(string)
		if !ok {
			return nil, invalid(f)
		}
		n := &query.TagRange{Base: base(), Field: f.Name}
		if lower {
			n.Min, n.MinExclusive = &s, exclusive
		} else {
			n.Max, n.MaxExclusive = &s, exclusive
		}
		return n, nil
	}
	if !f.Type.IsNumeric() {
		return nil, failure("Field operator %s does not work on %s field %s", op, f.Type, f.Name)
	}
	v, ok := operand(f, value)
	if !ok {
		return nil, invalid(f)
	}
	n := &query.Numeric{Base: base(), Field: f.Name, Min: math.Inf(-1), Max: math.Inf(1)}
	if lower {
		n.Min, n.MinExclusive = v, exclusive
	} else {
		n.Max, n.MaxExclusive = v, exclusive
	}
	return n, nil
}

// number returns the value of a numeric member.
func number(value any, name string) (float64, error) {
	if n, ok := value.(json.Number); ok {
		if v, err := n.Float64(); err == nil {
			return v, nil
		}
	}
	return 0, failure("%s must be a number", name)
}

// Terms returns the terms and phrases of a filter's tree that HIGHLIGHT marks in a field, each once.
func Terms(n query.Node, field string) []string {
	terms := appendTerms(nil, n, field)
	slices.Sort(terms)
	return slices.Compact(terms)
}

func appendTerms(terms []string, n query.Node, field string) []string {
	if _, not := n.(*query.Not); not {
		return terms
	}
	for _, child := range query.Children(n) {
		terms = appendTerms(terms, child, field)
	}
	if !slices.Contains(n.Common().Fields, field) {
		return terms
	}
	switch n := n.(type) {
	case *query.Term:
		terms = append(terms, n.Text)
	case *query.Phrase:
		terms = append(terms, n.Terms...)
	}
	return terms
}
