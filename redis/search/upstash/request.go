package upstash

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Request is what SEARCH.QUERY says after the filter.
type Request struct {
	Limit, Offset int
	OrderBy       string // the field whose value is the score; empty for relevance
	Ascending     bool
	Select        []string // the document's fields; nil means the whole document
	NoContent     bool
	Highlight     []string // the fields to mark; nil for none
	Open, Close   string
	ScoreFunc     *ScoreFunc // nil for relevance alone
}

// Fields returns the fields whose values the order of hits depends on.
func (r *Request) Fields() (names []string) {
	if r.OrderBy != "" {
		return []string{r.OrderBy}
	}
	if r.ScoreFunc != nil {
		for _, v := range r.ScoreFunc.Values {
			if !slices.Contains(names, v.Field) {
				names = append(names, v.Field)
			}
		}
	}
	return names
}

// The limits of LIMIT and OFFSET.
const (
	MaxLimit  = 1000
	MaxOffset = 10000
)

// ParseRequest parses the options of SEARCH.QUERY.
func ParseRequest(args []string, d *Definition) (*Request, error) {
	r := &Request{Limit: 10, Open: "<em>", Close: "</em>"}
	a := &arguments{args}
	for len(a.rest) > 0 {
		var err error
		switch word := a.keyword(); word {
		case "LIMIT":
			if r.Limit, err = a.bounded("LIMIT"); err == nil && (r.Limit < 1 || r.Limit > MaxLimit) {
				err = failure("limit should be a positive number less than 1000")
			}
		case "OFFSET":
			if r.Offset, err = a.bounded("OFFSET"); err == nil && (r.Offset < 0 || r.Offset > MaxOffset) {
				err = failure("offset should be a number from 0 to 10000")
			}
		case "ORDERBY":
			err = r.parseOrder(a, d)
		case "SELECT":
			r.Select, err = a.list("SELECT")
		case "NOCONTENT":
			r.NoContent = true
		case "HIGHLIGHT":
			err = r.parseHighlight(a, d)
		case "SCOREFUNC":
			r.ScoreFunc, err = parseScoreFunc(a, d)
		default:
			err = failure("Unknown argument: %s", word)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case r.NoContent && (r.Select != nil || r.Highlight != nil):
		return nil, failure("NOCONTENT cannot be combined with SELECT or HIGHLIGHT")
	case r.OrderBy != "" && r.ScoreFunc != nil:
		return nil, failure("SCOREFUNC cannot be combined with ORDERBY")
	}
	return r, nil
}

// bounded parses a whole number.
func (a *arguments) bounded(option string) (int, error) {
	word, err := a.take(option, 1)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(word[0], 10, 32)
	if err != nil {
		return 0, failure("%s should be a number", strings.ToLower(option))
	}
	return int(n), nil
}

// list parses a count and that number of arguments.
func (a *arguments) list(option string) ([]string, error) {
	n, err := a.count(option)
	if err != nil {
		return nil, err
	}
	return a.take(option, n)
}

func (r *Request) parseOrder(a *arguments, d *Definition) error {
	name, err := a.take("ORDERBY", 1)
	if err != nil {
		return err
	}
	f, known := d.Field(name[0])
	if !known {
		return failure("Unknown field: %s", name[0])
	}
	if !f.Fast {
		return failure("ORDERBY requires field '%s' to be FAST", f.Name)
	}
	r.OrderBy, r.Ascending = f.Name, false
	if len(a.rest) > 0 {
		if word := strings.ToUpper(a.rest[0]); word == "ASC" || word == "DESC" {
			r.Ascending = word == "ASC"
			a.rest = a.rest[1:]
		}
	}
	return nil
}

func (r *Request) parseHighlight(a *arguments, d *Definition) (err error) {
	if word := a.keyword(); word != "FIELDS" {
		return failure("HIGHLIGHT needs FIELDS")
	}
	if r.Highlight, err = a.list("FIELDS"); err != nil {
		return err
	}
	for _, name := range r.Highlight {
		if _, known := d.Field(name); !known {
			return failure("Unknown field: %s", name)
		}
	}
	if len(a.rest) > 0 && strings.EqualFold(a.rest[0], "TAGS") {
		a.keyword()
		tags, err := a.take("TAGS", 2)
		if err != nil {
			return err
		}
		r.Open, r.Close = tags[0], tags[1]
	}
	return nil
}

// HighlightText returns a field's value with the tags around each token whose term is one of terms.
func (r *Request) HighlightText(value string, f Field, language string, terms []string) string {
	var out strings.Builder
	at := 0
	for _, token := range Tokens(value, f, language) {
		if slices.Contains(terms, token.Term) {
			out.WriteString(value[at:token.Start] + r.Open + value[token.Start:token.End] + r.Close)
			at = token.End
		}
	}
	return out.String() + value[at:]
}

// ScoreFunc is a function of fields that changes a document's score.
type ScoreFunc struct {
	Mode    string // SUM, MULTIPLY or REPLACE: joins the fields' value with the relevance
	Combine string // SUM or MULTIPLY: joins the values of fields
	Values  []FieldValue
}

// FieldValue is the value of a field in a ScoreFunc.
type FieldValue struct {
	Field    string
	Modifier string
	Factor   float64
	Missing  float64
}

var modifiers = map[string]func(float64) float64{
	"NONE": func(v float64) float64 { return v }, "LOG": math.Log10, "LN": math.Log,
	"LOG1P": func(v float64) float64 { return math.Log10(v + 1) }, "LOG2P": func(v float64) float64 { return math.Log10(v + 2) },
	"LN1P": math.Log1p, "LN2P": func(v float64) float64 { return math.Log(v + 2) },
	"SQUARE": func(v float64) float64 { return v * v }, "SQRT": math.Sqrt,
	"RECIPROCAL": func(v float64) float64 { return 1 / v },
}

// maxFieldValues bounds the fields of a score function.
const maxFieldValues = 64

func parseScoreFunc(a *arguments, d *Definition) (*ScoreFunc, error) {
	s := &ScoreFunc{Mode: "SUM", Combine: "SUM"}
	for len(a.rest) > 0 {
		word := strings.ToUpper(a.rest[0])
		if word != "SCOREMODE" && word != "COMBINEMODE" && word != "FIELDVALUE" {
			break
		}
		a.keyword()
		value, err := a.take(word, 1)
		if err != nil {
			return nil, err
		}
		mode := strings.ToUpper(value[0])
		switch {
		case word == "FIELDVALUE":
			v, err := parseFieldValue(a, value[0], d)
			if err != nil {
				return nil, err
			}
			if s.Values = append(s.Values, v); len(s.Values) > maxFieldValues {
				return nil, failure("SCOREFUNC has more than %d fields", maxFieldValues)
			}
		case mode != "SUM" && mode != "MULTIPLY" && (mode != "REPLACE" || word != "SCOREMODE"):
			return nil, failure("Unknown %s: %s", word, value[0])
		case word == "SCOREMODE":
			s.Mode = mode
		default:
			s.Combine = mode
		}
	}
	if s.Values == nil {
		return nil, failure("SCOREFUNC needs FIELDVALUE")
	}
	return s, nil
}

func parseFieldValue(a *arguments, name string, d *Definition) (v FieldValue, err error) {
	f, known := d.Field(name)
	switch {
	case !known:
		return v, failure("Unknown field: %s", name)
	case !f.Fast || !f.Type.IsNumeric() || f.Type == Date:
		return v, failure("SCOREFUNC requires field '%s' to be a FAST number", name)
	}
	v = FieldValue{Field: name, Modifier: "NONE", Factor: 1}
	for len(a.rest) > 0 {
		word := strings.ToUpper(a.rest[0])
		if word != "MODIFIER" && word != "FACTOR" && word != "MISSING" {
			break
		}
		a.keyword()
		value, err := a.take(word, 1)
		if err != nil {
			return v, err
		}
		if word == "MODIFIER" {
			if v.Modifier = strings.ToUpper(value[0]); modifiers[v.Modifier] == nil {
				return v, failure("Unknown MODIFIER: %s", value[0])
			}
			continue
		}
		n, err := strconv.ParseFloat(value[0], 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return v, failure("%s must be a number", word)
		}
		if word == "FACTOR" {
			v.Factor = n
		} else {
			v.Missing = n
		}
	}
	return v, nil
}

// Apply returns a document's score from its relevance and the values of its fields.
func (s *ScoreFunc) Apply(relevance float64, value func(field string) (float64, bool)) float64 {
	joined := 0.0
	for i, v := range s.Values {
		r := v.result(value)
		switch {
		case i == 0:
			joined = r
		case s.Combine == "SUM":
			joined += r
		default:
			joined *= r
		}
	}
	switch s.Mode {
	case "SUM":
		return relevance + joined
	case "REPLACE":
		return joined
	}
	return relevance * joined
}

// result returns the modified value of a field. A value that is missing, or that the modifier cannot take, is replaced.
func (v FieldValue) result(value func(field string) (float64, bool)) float64 {
	valid := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	modify := modifiers[v.Modifier]
	if x, ok := value(v.Field); ok && valid(modify(x)) {
		return v.Factor * modify(x)
	}
	if x := modify(v.Missing); valid(x) {
		return v.Factor * x
	}
	return v.Factor * v.Missing
}
