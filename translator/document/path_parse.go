package document

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// These constants name the tokens that errors say are expected.
const (
	wantStep     = "'.', '[', <operator>"
	wantName     = "<name>, '*', '['"
	wantSelector = "'<string>[,<string>,...]', '<number>', ['start:end:steps'], '*'"
)

// ParsePath parses a JSONPath, a projection or a legacy path. An error is a reply.
func ParsePath(text string) (*Path, error) {
	if !utf8.ValidString(text) {
		return nil, errNotUTF8
	}
	full, legacy := jsonPath(text)
	p := pathParser{text: full}
	e, err := p.sum()
	if err == nil && p.at < len(p.text) {
		err = p.fail(wantStep)
	}
	if err != nil {
		return nil, err
	}
	path := &Path{Text: text, Legacy: legacy}
	if s, ok := e.(selection); ok && s.fromTop {
		path.steps = s.steps
	} else {
		path.compute = e
	}
	return path, nil
}

// pathStart matches the start of a JSONPath or a projection: $, $.a, $[0], $~, ($.a), -$.a, length($.a), length ( $.a
// ).
var pathStart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\$([.\[ ~]|$)|\(|[-+] ?(\$[.\[]|\()|[a-z]+ *\()`)
})

// jsonPath returns text in the syntax of a JSONPath, and whether it was a legacy path.
func jsonPath(text string) (path string, legacy bool) {
	switch {
	case pathStart().MatchString(text):
		return text, false
	case text == ".":
		return "$", true
	case strings.HasPrefix(text, "."):
		return "$" + text, true
	}
	return "$." + text, true
}

type pathParser struct {
	text  string
	at    int
	depth int // of filters, parentheses and literals
	links int // see maxLinks
}

// fail returns the error that another token is expected at p.at. The error does not repeat the path, which may be a
// secret.
func (p *pathParser) fail(want string) error {
	return fmt.Errorf("Error occurred at position %[1]d, Error at position %[1]d: expected one of the following: %[2]s", p.at, want)
}

func (p *pathParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// has consumes the token if it comes next.
func (p *pathParser) has(token string) bool {
	if len(p.text)-p.at < len(token) || p.text[p.at:p.at+len(token)] != token {
		return false
	}
	p.at += len(token)
	return true
}

func (p *pathParser) space() {
	for p.peek() == ' ' || p.peek() == '\t' {
		p.at++
	}
}

// steps parses all consecutive steps: .name ..name .* [...] .[...]
func (p *pathParser) steps() ([]step, error) {
	var steps []step
	for {
		p.space()
		from := p.at
		s := step{}
		if p.has(".") {
			s.deep = p.has(".")
		} else if p.peek() != '[' {
			return steps, nil
		}
		p.space()
		var err error
		switch name := p.name(); {
		case name != "" && p.peek() == '(': // a call
			p.at = from
			return steps, nil
		case name != "":
			s.pick = []selector{{kind: byName, name: name}}
		case p.peek() == '[':
			s.pick, err = p.brackets()
		case p.has("*"):
			s.pick = []selector{{kind: byWildcard}}
		default:
			err = p.fail(wantName)
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
}

// name parses an unquoted name. It may be empty.
func (p *pathParser) name() string {
	from := p.at
	for p.at < len(p.text) && inName(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

// inName reports whether an unquoted name may contain ch.
func inName(ch byte) bool {
	return ch >= utf8.RuneSelf || isLetter(ch) || isDigit(ch) || strings.IndexByte("-_`+#%$^/:", ch) >= 0
}

// brackets parses "[…]": selectors separated by commas.
func (p *pathParser) brackets() ([]selector, error) {
	p.at++
	var all []selector
	if p.space(); p.peek() == ']' {
		return nil, p.fail(wantSelector)
	}
	return all, p.separated(']', func() error {
		s, err := p.selector()
		all = append(all, s)
		return err
	})
}

func (p *pathParser) selector() (selector, error) {
	switch ch := p.peek(); {
	case p.has("*"):
		return selector{kind: byWildcard}, nil
	case ch == '"' || ch == '\'':
		name, err := p.quoted()
		return selector{kind: byName, name: name}, err
	case p.has("?"):
		filter, err := p.condition()
		return selector{kind: byFilter, filter: filter}, err
	case ch == ':' || ch == '-' || isDigit(ch):
		return p.indexOrSlice()
	}
	return selector{}, p.fail(wantSelector)
}

// indexOrSlice parses 1 or -1, or a slice such as 1:3, :-1 or ::2.
func (p *pathParser) indexOrSlice() (selector, error) {
	s := slice{step: 1}
	var step *int
	parts := []**int{&s.start, &s.end, &step}
	for i, part := range parts {
		p.space()
		if p.peek() == '-' || isDigit(p.peek()) {
			n, err := p.integer()
			if err != nil {
				return selector{}, err
			}
			*part = &n
		}
		p.space()
		if i == len(parts)-1 {
			break
		}
		if !p.has(":") {
			if i == 0 {
				return selector{kind: byIndex, index: *s.start}, nil
			}
			break
		}
	}
	if step != nil {
		if s.step = *step; s.step <= 0 {
			return selector{}, p.fail("a positive step")
		}
	}
	return selector{kind: bySlice, slice: s}, nil
}

func (p *pathParser) integer() (int, error) {
	from := p.at
	p.has("-")
	for isDigit(p.peek()) {
		p.at++
	}
	n, err := strconv.ParseInt(p.text[from:p.at], 10, 64)
	if err != nil {
		p.at = from
		return 0, p.fail("<number>")
	}
	return int(n), nil
}

// quoted parses a string in single or double quotes, with JSON's escapes and \'.
func (p *pathParser) quoted() (string, error) {
	quote, from := p.peek(), p.at
	literal := []byte{'"'} // rewritten as a JSON string
	for p.at++; p.at < len(p.text); p.at++ {
		switch ch := p.text[p.at]; {
		case ch == quote:
			p.at++
			v, err := parse(string(append(literal, '"')), 0, nil)
			if err != nil {
				p.at = from
				return "", p.fail("<string>")
			}
			return v.Str, nil
		case ch == '\\' && p.at+1 < len(p.text):
			p.at++
			if p.text[p.at] != '\'' {
				literal = append(literal, '\\')
			}
			literal = append(literal, p.text[p.at])
		case ch == '"':
			literal = append(literal, '\\', '"')
		default:
			literal = append(literal, ch)
		}
	}
	return "", p.fail(string(quote))
}
