package repl

import (
	"slices"
	"testing"
)

func TestLetters(t *testing.T) {
	text := []rune("a猫e\u0301👩‍👧!")
	if got, want := graphemeBounds(text), []int{0, 1, 2, 4, 7, 8}; !slices.Equal(got, want) {
		t.Errorf("the places are %v, not %v", got, want)
	}
	for _, test := range []struct{ cursor, before, after int }{{0, 0, 1}, {2, 1, 4}, {3, 2, 4}, {7, 4, 8}, {8, 7, 8}} {
		if before, after := adjacent(text, test.cursor); before != test.before || after != test.after {
			t.Errorf("beside %d are %d and %d, not %d and %d", test.cursor, before, after, test.before, test.after)
		}
	}
}
