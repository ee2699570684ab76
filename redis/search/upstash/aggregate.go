package upstash

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Aggregation is one aggregation of SEARCH.AGGREGATE.
type Aggregation struct {
	Alias    string
	operator string
	field    Field
	options  object
	children []*Aggregation
	buckets  bucketing
}

// Value is a value of a field in a document: a number of a numeric field or a DATE, else a text.
type Value struct {
	Num  float64
	Text string
}

// Row returns the values of a field in a document.
type Row func(field string) []Value

// metrics lists the operators that reduce values to numbers; the others make buckets.
var metrics = map[string]bool{"$avg": true, "$min": true, "$max": true, "$sum": true, "$count": true, "$cardinality": true,
	"$stats": true, "$extendedStats": true, "$percentiles": true}

const maxAggregations = 256

// ParseAggregations parses the aggregations in JSON.
func ParseAggregations(text string, d *Definition) ([]*Aggregation, error) {
	o, err := parseObject("aggregations", text)
	if err != nil {
		return nil, err
	}
	return (&aggregationParser{d: d}).all(o, false)
}

type aggregationParser struct {
	d     *Definition
	count int
}

func (p *aggregationParser) all(o object, nested bool) (list []*Aggregation, err error) {
	for _, m := range o {
		if p.count++; p.count > maxAggregations {
			return nil, failure("There are more than %d aggregations", maxAggregations)
		}
		body, ok := m.value.(object)
		if !ok {
			return nil, failure("Aggregation '%s' must be a JSON object", m.name)
		}
		a, err := p.one(m.name, body, nested)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

func (p *aggregationParser) one(alias string, body object, nested bool) (*Aggregation, error) {
	a := &Aggregation{Alias: alias}
	var children object
	for _, m := range body {
		if m.name == "$aggs" {
			var ok bool
			if children, ok = m.value.(object); !ok {
				return nil, failure("Aggregation '%s' has $aggs that are not a JSON object", alias)
			}
			continue
		}
		if a.operator != "" {
			return nil, failure("Aggregation '%s' has more than one operator", alias)
		}
		a.operator = m.name
		a.options, _ = m.value.(object)
	}
	if err := p.checkOperator(a, children, nested); err != nil {
		return nil, err
	}
	if a.operator != "$composite" {
		if err := p.findField(a); err != nil {
			return nil, err
		}
	}
	if err := a.checkOptions(p.d); err != nil {
		return nil, err
	}
	var err error
	a.children, err = p.all(children, true)
	return a, err
}

func (p *aggregationParser) checkOperator(a *Aggregation, children object, nested bool) error {
	switch a.operator {
	case "":
		return failure("Aggregation '%s' has no operator", a.Alias)
	case "$terms", "$range", "$histogram", "$dateHistogram", "$composite":
		return nil
	case "$facet":
		if nested {
			return failure("Aggregation '%s' operator '$facet' cannot be inside $aggs", a.Alias)
		}
	default:
		if !metrics[a.operator] {
			return failure("Unknown aggregation operator: %s", a.operator)
		}
	}
	if children != nil {
		return failure("Aggregation '%s' operator '%s' does not support $aggs", a.Alias, a.operator)
	}
	return nil
}

// findField looks up the field, which must have a type that suits the operator.
func (p *aggregationParser) findField(a *Aggregation) error {
	value, _ := a.options.get("field")
	name, ok := value.(string)
	if !ok {
		return failure("Aggregation '%s' is missing required 'field' property", a.Alias)
	}
	f, known := p.d.Field(name)
	if !known {
		return failure("Unknown field: %s", name)
	}
	suits := f.Type.IsNumeric()
	switch a.operator {
	case "$count", "$cardinality", "$terms":
		suits = suits || f.Type == Bool || f.Type == Keyword
	case "$avg", "$min", "$max", "$sum", "$stats":
		suits = suits || f.Type == Bool
	case "$facet":
		suits = f.Type == Facet
	case "$dateHistogram":
		suits = f.Type == Date
	}
	if !suits {
		return failure("Aggregation '%s' operator '%s' does not support %s field '%s'", a.Alias, a.operator, f.Type, name)
	}
	if !f.Fast && f.Type != Facet && f.Type != Keyword {
		return failure("Aggregation '%s' operator '%s' requires field '%s' to be FAST", a.Alias, a.operator, name)
	}
	a.field = f
	return nil
}

// checkOptions parses the options of an operator, and refuses invalid ones.
func (a *Aggregation) checkOptions(d *Definition) (err error) {
	switch a.operator {
	case "$terms":
		a.buckets, err = newTerms(a)
	case "$range":
		a.buckets, err = newRanges(a)
	case "$histogram", "$dateHistogram":
		a.buckets, err = newHistogram(a)
	case "$composite":
		a.buckets, err = newComposite(a, d)
	case "$facet":
		path := a.text("path")
		if FacetPaths(path) == nil && path != "/" {
			return failure("Aggregation '%s' operator '$facet' requires a 'path' that begins with /", a.Alias)
		}
	case "$percentiles":
		if list, ok := a.options.get("percents"); ok {
			items, ok := list.([]any)
			for _, item := range items {
				v, err := number(item, "percents")
				ok = ok && err == nil && v >= 0 && v <= 100
			}
			if !ok || len(items) == 0 || len(items) > 1000 {
				return failure("Aggregation '%s' has percents that are not numbers from 0 to 100", a.Alias)
			}
		}
	}
	return err
}

// FieldsOf returns the fields whose values aggregations read.
func FieldsOf(list []*Aggregation) (names []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, a := range list {
		add(a.field.Name)
		if c, ok := a.buckets.(*composite); ok {
			for _, s := range c.sources {
				add(s.field.Name)
			}
		}
		for _, name := range FieldsOf(a.children) {
			add(name)
		}
	}
	return names
}

// text returns an option that is a string; empty if it is missing.
func (a *Aggregation) text(name string) string {
	v, _ := a.options.get(name)
	s, _ := v.(string)
	return s
}

// flag returns an option that is a boolean.
func (a *Aggregation) flag(name string, otherwise bool) bool {
	v, _ := a.options.get(name)
	if b, ok := v.(bool); ok {
		return b
	}
	return otherwise
}

// number returns an option that is a number.
func (a *Aggregation) number(name string, otherwise float64) float64 {
	v, _ := a.options.get(name)
	if n, err := number(v, name); err == nil {
		return n
	}
	return otherwise
}

// values returns the values of the aggregation's field in a document, or the value that stands for a missing one.
func (a *Aggregation) values(row Row) []Value {
	list := row(a.field.Name)
	if a.field.Type == Bool { // which counts as 0 or 1
		list = slices.Clone(list)
		for i, v := range list {
			list[i].Num = 0
			if v.Text == "true" {
				list[i].Num = 1
			}
		}
	}
	if len(list) > 0 {
		return list
	}
	missing, ok := a.options.get("missing")
	if !ok {
		return nil
	}
	switch v := missing.(type) {
	case json.Number:
		n, _ := v.Float64()
		return []Value{{Num: n, Text: v.String()}}
	case string:
		n, _ := Number(a.field.Type, v)
		return []Value{{Num: n, Text: v}}
	case bool:
		n := 0.0
		if v {
			n = 1
		}
		return []Value{{Num: n, Text: strconv.FormatBool(v)}}
	}
	return nil
}

// matcher returns whether a $terms has a value, by include or exclude: a regular expression or a list.
func matcher(a *Aggregation, name string) (func(string) bool, error) {
	option, ok := a.options.get(name)
	if !ok {
		return nil, nil
	}
	switch v := option.(type) {
	case string:
		re, err := regexp.Compile("^(?:" + v + ")$")
		if err != nil {
			return nil, failure("Aggregation '%s' has an invalid regular expression: %.100s", a.Alias, v)
		}
		return re.MatchString, nil
	case []any:
		set := map[string]bool{}
		for _, item := range v {
			switch item := item.(type) {
			case string:
				set[item] = true
			case json.Number:
				set[item.String()] = true
			}
		}
		return func(s string) bool { return set[s] }, nil
	}
	return nil, failure("Aggregation '%s' has %s that is neither a string nor an array", a.Alias, name)
}

// duration parses an interval such as 30s, 1m, 1h or 1d, and returns ms.
func duration(s string) (ms float64, ok bool) {
	units := map[string]float64{"ms": 1, "s": 1e3, "m": 6e4, "h": 36e5, "d": 864e5}
	digits := strings.TrimRight(s, "msdh")
	n, err := strconv.ParseFloat(digits, 64)
	unit := units[s[len(digits):]]
	return n * unit, err == nil && unit > 0
}
