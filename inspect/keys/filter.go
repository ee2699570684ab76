package keys

import (
	"cmp"
	"regexp"
	"strconv"
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

// filter selects keys by name, and by size if its text is a pattern or letters with a word like >1MB.
type filter struct {
	text string
	mode matchMode
}

// sizeWord matches a bound of the bytes of a key.
var sizeWord = regexp.MustCompile(`^([<>])(\d{1,12}(?:\.\d{1,3})?)([KMG]?)B?$`)

// split returns the filter by name, and the bounds of the bytes, 0 for none: more than above, fewer than below.
func (f filter) split() (name filter, above, below int64) {
	if f.mode != byGlob && f.mode != byFuzzy || !strings.ContainsAny(f.text, "<>") {
		return f, 0, 0
	}
	var words []string
	for _, word := range strings.Split(f.text, " ") {
		m := sizeWord.FindStringSubmatch(strings.ToUpper(word))
		if m == nil {
			words = append(words, word)
			continue
		}
		n, _ := strconv.ParseFloat(m[2], 64)
		bytes := int64(n * float64(int64(1)<<(10*strings.Index(" KMG", cmp.Or(m[3], " ")))))
		if m[1] == ">" {
			above = max(bytes, 1)
		} else {
			below = max(bytes, 1)
		}
	}
	return filter{strings.Join(words, " "), f.mode}, above, below
}

// isSized reports whether the filter bounds the bytes.
func (f filter) isSized() bool {
	_, above, below := f.split()
	return above > 0 || below > 0
}

// glob returns the pattern of f that a target accepts, or "".
func (f filter) glob() string {
	f, _, _ = f.split()
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
	f, _, _ = f.split()
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

// spans returns the parts of a displayed name that f matched, as ranges of bytes in order.
func (f filter) spans(name string) (all [][2]int) {
	f, _, _ = f.split()
	switch {
	case f.text == "":
	case f.mode == byRegex:
		if re, err := regexp.Compile(f.text); err == nil {
			if at := re.FindStringIndex(name); at != nil && at[0] < at[1] {
				all = append(all, [2]int{at[0], at[1]})
			}
		}
	case f.mode == byFuzzy:
		fold, from := f.text == strings.ToLower(f.text), 0
		for _, want := range f.text {
			i := strings.IndexFunc(name[from:], func(r rune) bool { return r == want || fold && foldRune(r) == want })
			if i < 0 {
				return nil
			}
			from += i + utf8.RuneLen(want)
			all = append(all, [2]int{from - utf8.RuneLen(want), from})
		}
	default: // the texts between the wildcards of a pattern
		from := 0
		for _, part := range strings.FieldsFunc(f.text, func(r rune) bool { return f.mode == byGlob && strings.ContainsRune(`*?[]\`, r) }) {
			i := strings.Index(name[from:], part)
			if i < 0 {
				break
			}
			from += i + len(part)
			all = append(all, [2]int{from - len(part), from})
		}
	}
	return all
}

// prefix returns the prefix of all names that f matches.
func (f filter) prefix() string {
	f, _, _ = f.split()
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
