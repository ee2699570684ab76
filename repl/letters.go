package repl

import "github.com/rivo/uniseg"

// letters are the places between the letters of a text, as people see them: an
// emoji of several runes, or a letter with its accents, is one.
func letters(text []rune) (places []int) {
	places = []int{0}
	at := 0
	for g := uniseg.NewGraphemes(string(text)); g.Next(); {
		at += len(g.Runes())
		places = append(places, at)
	}
	return places
}

// beside is the place in front of the cursor that is next to it, and the one behind.
func beside(text []rune, cursor int) (before, behind int) {
	behind = len(text)
	for _, p := range letters(text) {
		if p < cursor {
			before = p
		}
		if p > cursor {
			behind = p
			break
		}
	}
	return before, behind
}

// step moves the cursor over a letter.
func (e *editor) step(by int) {
	before, behind := beside(e.text, e.cursor)
	if e.cursor = behind; by < 0 {
		e.cursor = before
	}
}

// erase takes away the letter in front of the cursor, or the one behind it.
func (e *editor) erase(by int) {
	from, to := beside(e.text, e.cursor)
	if by < 0 {
		to = e.cursor
	} else {
		from = e.cursor
	}
	e.text = append(append([]rune(nil), e.text[:from]...), e.text[to:]...)
	e.cursor = from
	e.retype()
}
