package repl

import "github.com/rivo/uniseg"

// graphemeBounds returns the boundaries of the text's graphemes: an emoji of several runes,
// or a letter with its accents, is one grapheme.
func graphemeBounds(text []rune) (places []int) {
	places = []int{0}
	at := 0
	for g := uniseg.NewGraphemes(string(text)); g.Next(); {
		at += len(g.Runes())
		places = append(places, at)
	}
	return places
}

// adjacent returns the start of the grapheme before the cursor, and the end of the one after it.
func adjacent(text []rune, cursor int) (before, after int) {
	after = len(text)
	for _, p := range graphemeBounds(text) {
		if p < cursor {
			before = p
		}
		if p > cursor {
			after = p
			break
		}
	}
	return before, after
}

// step moves the cursor by a grapheme.
func (e *editor) step(by int) {
	before, after := adjacent(e.text, e.cursor)
	if e.cursor = after; by < 0 {
		e.cursor = before
	}
}

// erase deletes the grapheme before or after the cursor.
func (e *editor) erase(by int) {
	from, to := adjacent(e.text, e.cursor)
	if by < 0 {
		to = e.cursor
	} else {
		from = e.cursor
	}
	e.text = append(append([]rune(nil), e.text[:from]...), e.text[to:]...)
	e.cursor = from
	e.updateMenu()
}
