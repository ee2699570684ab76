package timeseries

import (
	"errors"
	"slices"
	"strings"
)

// Label is a name with a value, by which series are found.
type Label struct{ Name, Value string }

// Matcher is a condition on a label.
type Matcher struct {
	Name   string
	Values []string // one of them; nil matches a series without the label
	Not    bool
}

// ErrMatcher reports a filter with an invalid syntax.
var ErrMatcher = errors.New("failed parsing labels")

// ParseMatcher parses a filter expression, such as area=(north,south) or sensor!=7.
func ParseMatcher(text string) (m Matcher, err error) {
	for _, form := range []struct {
		separator string
		not, list bool
	}{{"!=(", true, true}, {"!=", true, false}, {"=(", false, true}, {"=", false, false}} {
		if !strings.Contains(text, form.separator) {
			continue
		}
		words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(form.separator, r) })
		if len(words) == 0 {
			return m, ErrMatcher
		}
		m = Matcher{Name: words[0], Not: form.not}
		switch {
		case form.list:
			m.Values, err = parseList(words[1:])
		case len(words) > 1:
			m.Values = []string{words[1]}
		}
		return m, err
	}
	return m, ErrMatcher
}

// parseList parses the values of a list, whose closing bracket ends the last word.
func parseList(words []string) ([]string, error) {
	if len(words) == 0 || !strings.HasSuffix(words[0], ")") {
		return nil, ErrMatcher
	}
	text := strings.TrimSuffix(words[0], ")")
	if text == "" {
		return []string{}, nil
	}
	values := strings.Split(text, ",")
	if slices.Contains(values, "") {
		return nil, ErrMatcher
	}
	return values, nil
}

// Selects reports whether the matcher alone selects series: it requires a value.
func (m Matcher) Selects() bool { return !m.Not && m.Values != nil }

// Matches reports whether labels satisfy the matcher.
func (m Matcher) Matches(labels []Label) bool {
	i := slices.IndexFunc(labels, func(l Label) bool { return l.Name == m.Name })
	if m.Values == nil {
		return (i < 0) != m.Not
	}
	return (i >= 0 && slices.Contains(m.Values, labels[i].Value)) != m.Not
}
