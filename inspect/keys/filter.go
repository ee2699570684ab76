package keys

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/redis/glob"
)

// matchMode selects how the text of a filter matches names.
type matchMode int

const (
	byGlob  matchMode = iota // a KEYS pattern; without * ? [ it matches any part of the name
	byFuzzy                  // the letters in order, with any text between them
	byRegex
	byExact // the whole name
	modeCount
)

var modeNames = [modeCount]string{"glob", "fuzzy", "regex", "exact"}

// filter selects names.
type filter struct {
	text string
	mode matchMode
}

// glob returns the pattern of f that a target accepts, or "".
func (f filter) glob() string {
	switch {
	case f.text == "":
		return ""
	case f.mode == byExact:
		return client.GlobEscape(f.text)
	case f.mode != byGlob:
		return ""
	case strings.ContainsAny(f.text, "*?["):
		return f.text
	}
	return "*" + strings.ReplaceAll(f.text, `\`, `\\`) + "*"
}

// matcher returns a function that reports whether f matches a name; nil matches all names.
func (f filter) matcher() (func(string) bool, error) {
	switch {
	case f.text == "":
		return nil, nil
	case f.mode == byFuzzy:
		return fuzzy(f.text), nil
	case f.mode == byRegex:
		re, err := regexp.Compile(f.text)
		if err != nil {
			return nil, err
		}
		return re.MatchString, nil
	case f.mode == byExact:
		return func(name string) bool { return name == f.text }, nil
	case !strings.ContainsAny(f.text, "*?["):
		return func(name string) bool { return strings.Contains(name, f.text) }, nil
	}
	pattern := []byte(f.text)
	return func(name string) bool { return glob.MatchKey(pattern, []byte(name)) }, nil
}

// prefix returns the prefix of all names that f matches.
func (f filter) prefix() string {
	switch {
	case f.mode == byExact:
		return f.text
	case f.mode == byGlob && strings.ContainsAny(f.text, "*?["):
		return f.text[:strings.IndexAny(f.text, `*?[\`)]
	}
	return ""
}

// fuzzy matches names that contain the letters of text in order. Lower-case letters also match upper
// case.
func fuzzy(text string) func(string) bool {
	fold := text == strings.ToLower(text)
	return func(name string) bool {
		for _, want := range text {
			for {
				r, n := utf8.DecodeRuneInString(name)
				if n == 0 {
					return false
				}
				name = name[n:]
				if r == want || fold && foldRune(r) == want {
					break
				}
			}
		}
		return true
	}
}

func foldRune(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}
