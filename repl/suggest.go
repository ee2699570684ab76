package repl

import "strings"

// suggestion returns how the history continues the text, which is shown dimmed after the
// cursor; "" for none.
func (e *editor) suggestion() string {
	o := e.options
	if e.answering || o.NoSuggestions || !e.atEnd() || e.menu != nil || e.search != nil {
		return ""
	}
	return e.history.suggest(string(e.text))
}

// takeSuggestion appends the suggestion, or only its next word. It returns false if there is
// none.
func (e *editor) takeSuggestion(all bool) bool {
	s := e.suggestion()
	if s == "" {
		return false
	}
	if !all {
		s = firstWord(s)
	}
	e.setEnd(string(e.text) + s)
	e.updateMenu()
	return true
}

// firstWord returns text up to the end of its first word.
func firstWord(text string) string {
	begin := len(text) - len(strings.TrimLeft(text, " \n"))
	if n := strings.IndexAny(text[begin:], " \n"); n >= 0 {
		return text[:begin+n]
	}
	return text
}

// suggested renders a suggestion in one row.
func suggested(s string) string {
	if s == "" {
		return ""
	}
	return sgr(visible(strings.ReplaceAll(s, "\n", "↵")), dim)
}
