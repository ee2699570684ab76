package repl

import (
	"slices"
	"strings"
	"unicode"
)

// class returns the word class of a character: blank, word or sign. For large words, every
// character that is not blank is a word character.
func class(r rune, large bool) int {
	switch {
	case unicode.IsSpace(r):
		return 0
	case large || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return 1
	}
	return 2
}

// motion returns the target of a motion from the cursor. through reports that an operator
// includes the character there; ok is false if the motion is impossible.
func (e *editor) motion(c viCommand) (to int, through, ok bool) {
	from, end := lineAround(e.text, e.cursor)
	to = e.cursor
	switch c.name {
	case 'h':
		for range c.times() {
			if to > from {
				to, _ = adjacent(e.text, to)
			}
		}
		return to, false, to < e.cursor
	case 'l', ' ':
		for range c.times() {
			if to < end {
				_, to = adjacent(e.text, to)
			}
		}
		return to, false, to > e.cursor && (to < end || c.operator != 0)
	case '0':
		return from, false, true
	case '^':
		for to = from; to < end && class(e.text[to], false) == 0; to++ {
		}
		return to, false, true
	case '$':
		return end, false, true
	case '|':
		return min(from+c.times()-1, end), false, true
	case 'w', 'W':
		to = e.repeatWord(c, nextWord)
		return to, false, to > e.cursor
	case 'b', 'B':
		to = e.repeatWord(c, wordBefore)
		return to, false, to < e.cursor
	case 'e', 'E':
		to = e.repeatWord(c, wordEnd)
		return to, true, to > e.cursor
	case '%':
		to = matchingBracket(e.text, from, end, e.cursor)
		return to, true, to >= 0
	case 'f', 'F', 't', 'T':
		e.vi.find = c
		return e.findLetter(c, false)
	case ';', ',':
		again := e.vi.find
		if again.count = c.count; c.name == ',' {
			again.name ^= 'f' ^ 'F' // the other case
		}
		return e.findLetter(again, true)
	}
	return 0, false, false
}

// repeatWord returns the target of a word motion from the cursor, repeated as often as c says.
func (e *editor) repeatWord(c viCommand, motion func(text []rune, i int, large bool) int) int {
	to, large := e.cursor, unicode.IsUpper(c.name)
	for range c.times() {
		to = motion(e.text, to, large)
	}
	return to
}

// nextWord returns the start of the word after the one at i.
func nextWord(text []rune, i int, large bool) int {
	if i >= len(text) {
		return i
	}
	for k := class(text[i], large); i < len(text) && k != 0 && class(text[i], large) == k; i++ {
	}
	for ; i < len(text) && class(text[i], large) == 0; i++ {
	}
	return i
}

// wordBefore returns the start of the word before i.
func wordBefore(text []rune, i int, large bool) int {
	for ; i > 0 && class(text[i-1], large) == 0; i-- {
	}
	if i == 0 {
		return 0
	}
	for k := class(text[i-1], large); i > 0 && class(text[i-1], large) == k; i-- {
	}
	return i
}

// wordEnd returns the index of the last character of a word after i.
func wordEnd(text []rune, i int, large bool) int {
	at := i + 1
	for ; at < len(text) && class(text[at], large) == 0; at++ {
	}
	if at >= len(text) {
		return i
	}
	for k := class(text[at], large); at+1 < len(text) && class(text[at+1], large) == k; at++ {
	}
	return at
}

// findLetter returns the target of f, F, t or T. Repeated, t and T skip the character in front of the cursor.
func (e *editor) findLetter(c viCommand, again bool) (to int, through, ok bool) {
	from, end := lineAround(e.text, e.cursor)
	by := 1
	if c.name == 'F' || c.name == 'T' {
		by = -1
	}
	short := c.name == 't' || c.name == 'T'
	if to = e.cursor; short && again {
		to += by
	}
	for left := c.times(); left > 0; {
		if to += by; to < from || to >= end {
			return 0, false, false
		}
		if e.text[to] == c.arg {
			left--
		}
	}
	if short {
		to -= by
	}
	return to, by > 0, true
}

// matchingBracket returns the bracket that matches the first one from the cursor on; -1 for none.
func matchingBracket(text []rune, from, end, cursor int) int {
	const brackets = "()[]{}"
	at := cursor
	for at < end && !strings.ContainsRune(brackets, text[at]) {
		at++
	}
	if at >= end {
		return -1
	}
	i := strings.IndexRune(brackets, text[at])
	other, by := rune(brackets[i^1]), 1
	if i%2 == 1 {
		by = -1
	}
	for depth, j := 0, at; j >= from && j < end; j += by {
		switch text[j] {
		case text[at]:
			depth++
		case other:
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return -1
}

// operatorRange returns the part of the text that an operator applies to.
func (e *editor) operatorRange(c viCommand) (from, to int, ok bool) {
	begin, end := lineAround(e.text, e.cursor)
	switch {
	case c.object != 0:
		return e.object(c)
	case c.name == 'c' && c.operator == 'c':
		return begin, end, true
	case c.name == c.operator: // the line with its line end
		if end < len(e.text) {
			end++
		} else if begin > 0 {
			begin--
		}
		return begin, end, true
	case c.operator == 'c' && (c.name == 'w' || c.name == 'W') && e.cursor < end && class(e.text[e.cursor], false) != 0:
		return e.cursor, e.changeWordEnd(c), true // without the blanks after the word
	}
	to, through, ok := e.motion(c)
	if !ok {
		return 0, 0, false
	}
	if through && to >= e.cursor {
		_, to = adjacent(e.text, to)
	} else if through {
		_, after := adjacent(e.text, e.cursor)
		return to, after, true
	}
	return min(e.cursor, to), max(e.cursor, to), true
}

// changeWordEnd returns the end of the word at the cursor, or of a later one by the count.
func (e *editor) changeWordEnd(c viCommand) int {
	large := c.name == 'W'
	to := e.cursor
	for k := class(e.text[to], large); to+1 < len(e.text) && class(e.text[to+1], large) == k; to++ {
	}
	for range c.times() - 1 {
		to = wordEnd(e.text, to, large)
	}
	return to + 1
}

// object returns the text object at the cursor: a word, or the text in quotes or brackets.
// With a, it includes the blanks, quotes or brackets around it.
func (e *editor) object(c viCommand) (from, to int, ok bool) {
	begin, end := lineAround(e.text, e.cursor)
	around := c.object == 'a'
	if e.cursor >= end {
		return 0, 0, false
	}
	switch c.name {
	case 'w', 'W':
		k := class(e.text[e.cursor], c.name == 'W')
		same := func(i int) bool { return class(e.text[i], c.name == 'W') == k }
		for from = e.cursor; from > begin && same(from-1); from-- {
		}
		for to = e.cursor; to < end && same(to); to++ {
		}
		for around && to < end && class(e.text[to], false) == 0 {
			to++
		}
		return from, to, true
	case '"', '\'', '`':
		from, to = quotesAround(e.text[begin:end], e.cursor-begin, c.name)
	case '(', ')', 'b':
		from, to = bracketsAround(e.text[begin:end], e.cursor-begin, '(', ')')
	case '[', ']':
		from, to = bracketsAround(e.text[begin:end], e.cursor-begin, '[', ']')
	case '{', '}', 'B':
		from, to = bracketsAround(e.text[begin:end], e.cursor-begin, '{', '}')
	default:
		return 0, 0, false
	}
	if from < 0 {
		return 0, 0, false
	}
	from, to = from+begin, to+begin
	if !around {
		return from + 1, to, true
	}
	return from, to + 1, true
}

// quotesAround returns the positions of the two quotes around at, or of the first two after it; -1 for none.
func quotesAround(text []rune, at int, quote rune) (from, to int) {
	from = -1
	for i, r := range text {
		switch {
		case r != quote || i > 0 && text[i-1] == '\\':
		case from < 0:
			from = i
		case i >= at:
			return from, i
		default:
			from = -1
		}
	}
	return -1, -1
}

// bracketsAround returns the positions of the two brackets around at; -1 for none.
func bracketsAround(text []rune, at int, open, closing rune) (from, to int) {
	depth := 0
	for from = at; from >= 0; from-- {
		if text[from] == closing && from != at {
			depth++
		} else if text[from] == open {
			if depth == 0 {
				break
			}
			depth--
		}
	}
	if from < 0 {
		return -1, -1
	}
	if to = matchingBracket(text, 0, len(text), from); to < at {
		return -1, -1
	}
	return from, to
}

// toggleLetter returns a letter in the other case.
func toggleLetter(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}

// nextWordRange returns the bounds of the word at or after the cursor.
func nextWordRange(text []rune, cursor int) (from, to int) {
	for from = cursor; from < len(text) && class(text[from], false) != 1; from++ {
	}
	for to = from; to < len(text) && class(text[to], false) == 1; to++ {
	}
	return from, to
}

// recase changes the case of the word after the cursor: its first letter by first, the rest by rest.
func (e *editor) recase(first, rest func(rune) rune) {
	from, to := nextWordRange(e.text, e.cursor)
	e.text = slices.Clone(e.text)
	for i := from; i < to; i++ {
		if i == from {
			e.text[i] = first(e.text[i])
		} else {
			e.text[i] = rest(e.text[i])
		}
	}
	e.cursor = to
	e.updateMenu()
}
