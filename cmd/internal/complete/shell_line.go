package complete

import (
	"strings"
	"unicode"
)

// shellLine holds the last command of a line of bash or zsh, up to the cursor.
type shellLine struct {
	words []string // before the word at the cursor; the program's name first
	typed string   // the word at the cursor, unquoted
	quote rune     // the open quote at the cursor: ', " or 0
	file  bool     // the cursor is at the file name of a redirection

	// opaque means that only the shell can expand a word: it has a command substitution, or a variable that is not
	// exported. Completion never runs any part of the line.
	opaque bool
}

// readShellLine parses a line up to the cursor. getenv returns the exported variables.
func readShellLine(line string, getenv func(string) string) shellLine {
	r := &shellReader{rest: []rune(line), getenv: getenv}
	for len(r.rest) > 0 && !r.opaque {
		r.step()
	}
	r.typed = r.word.String()
	return r.shellLine
}

type shellReader struct {
	shellLine
	rest   []rune
	word   strings.Builder
	open   bool // a word has begun; it may be empty
	getenv func(string) string
}

// next removes and returns the next rune; 0 at the end.
func (r *shellReader) next() rune {
	if len(r.rest) == 0 {
		return 0
	}
	c := r.rest[0]
	r.rest = r.rest[1:]
	return c
}

func (r *shellReader) peek() rune {
	if len(r.rest) == 0 {
		return 0
	}
	return r.rest[0]
}

// add appends a rune of the line to the word.
func (r *shellReader) add(c rune) {
	r.word.WriteRune(c)
	r.open = true
}

func (r *shellReader) step() {
	c := r.next()
	switch {
	case r.quote == '\'' && c != '\'':
		r.add(c)
	case c == '\\':
		r.escape()
	case c == '`', c == '$' && r.peek() == '(':
		r.opaque = true
	case c == '$':
		r.variable()
	case r.quote == c && c != 0:
		r.quote = 0
	case r.quote != 0:
		r.add(c)
	case c == '\'' || c == '"':
		r.quote, r.open = c, true
	case unicode.IsSpace(c) && c != '\n':
		r.end()
	case c == '<' || c == '>':
		r.redirect()
	case strings.ContainsRune("\n;|&()", c):
		r.end()
		r.words, r.file = nil, false
	case c == '~' && !r.open && (r.peek() == '/' || r.peek() == 0):
		r.word.WriteString(r.getenv("HOME"))
		r.open = true
	default:
		r.add(c)
	}
}

// escape reads the rune after a backslash.
func (r *shellReader) escape() {
	c := r.next()
	if r.quote == '"' && !strings.ContainsRune("\"\\$`", c) {
		r.add('\\')
	}
	if c != 0 {
		r.add(c)
	}
}

// variable reads the name after a dollar sign.
func (r *shellReader) variable() {
	braced := r.peek() == '{'
	if braced {
		r.next()
	}
	var name strings.Builder
	for c := r.peek(); c == '_' || unicode.IsLetter(c) || name.Len() > 0 && unicode.IsDigit(c); c = r.peek() {
		name.WriteRune(r.next())
	}
	value := r.getenv(name.String())
	if name.Len() == 0 && !braced && r.peek() != '\'' && r.peek() != '"' {
		r.add('$')
		return
	}
	if value == "" || braced && r.next() != '}' {
		r.opaque = true
	}
	r.word.WriteString(value)
	r.open = true
}

// redirect reads a redirection's operator. Its file is not an argument.
func (r *shellReader) redirect() {
	if strings.Trim(r.word.String(), "0123456789") == "" { // 2>
		r.word.Reset()
		r.open = false
	}
	r.end()
	for c := r.peek(); c == '<' || c == '>' || c == '&' || c == '|'; c = r.peek() {
		r.next()
	}
	r.file = true
}

// end ends the word, if one has begun.
func (r *shellReader) end() {
	if !r.open {
		return
	}
	word := r.word.String()
	switch name, _, assigned := strings.Cut(word, "="); {
	case r.file:
		r.file = false
	case len(r.words) == 0 && assigned && name != "" && !strings.ContainsAny(name, "/-"):
	default:
		r.words = append(r.words, word)
	}
	r.word.Reset()
	r.open = false
}

// escaped quotes text for the position of the cursor.
func (l shellLine) escaped(text string) string {
	switch l.quote {
	case '\'':
		return strings.ReplaceAll(text, `'`, `'\''`)
	case '"':
		return strings.NewReplacer(`"`, `\"`, `\`, `\\`, `$`, `\$`, "`", "\\`").Replace(text)
	}
	var b strings.Builder
	for _, c := range text {
		if unicode.IsSpace(c) || c < 0x80 && !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-.,:/=@%+", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
