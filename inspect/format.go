package inspect

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/display"
)

// Names of the house for what is written everywhere in the same way.
var (
	shown     = display.Text
	whole     = display.Whole
	truncate  = display.Truncate
	fit       = display.Fit
	fitRight  = display.FitRight
	spaces    = display.Spaces
	grouped   = display.Grouped
	counted   = display.Counted
	bytesize  = display.Bytes
	remaining = display.Remaining
)

func splitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }

// truncateLeft keeps the end of s.
func truncateLeft(s string, width int) string {
	over := ansi.StringWidth(s) - width
	if over <= 0 {
		return s
	}
	return ansi.TruncateLeft(s, over+1, "…")
}

// tail is the last width cells of s. A wide letter that does not stand in them
// wholly is left out.
func tail(s string, width int) string {
	over := ansi.StringWidth(s) - width
	cut := ansi.TruncateLeft(s, over, "")
	if ansi.StringWidth(cut) > width {
		cut = ansi.TruncateLeft(s, over+1, "")
	}
	return fitRight(cut, width)
}

// between puts left and right at the ends of a line; left gives way.
func between(left, right string, width int) string {
	if right == "" {
		return fit(left, width)
	}
	right = truncate(right, width)
	return fit(left, width-ansi.StringWidth(right)-1) + fitRight(right, min(width, ansi.StringWidth(right)+1))
}
