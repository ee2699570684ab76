package screen

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

// SplitLines is the lines of s, without empty ones at its end.
func SplitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }

// TruncateLeft keeps the end of s.
func TruncateLeft(s string, width int) string {
	over := ansi.StringWidth(s) - width
	if over <= 0 {
		return s
	}
	return ansi.TruncateLeft(s, over+1, "…")
}

// Tail is the last width cells of s. A wide letter that does not stand in them
// wholly is left out.
func Tail(s string, width int) string {
	over := ansi.StringWidth(s) - width
	cut := ansi.TruncateLeft(s, over, "")
	if ansi.StringWidth(cut) > width {
		cut = ansi.TruncateLeft(s, over+1, "")
	}
	return display.FitRight(cut, width)
}

// Between puts left and right at the ends of a line; left gives way.
func Between(left, right string, width int) string {
	if right == "" {
		return display.Fit(left, width)
	}
	right = display.Truncate(right, width)
	return display.Fit(left, width-ansi.StringWidth(right)-1) + display.FitRight(right, min(width, ansi.StringWidth(right)+1))
}

// Pad is a styled text on exactly width cells.
func Pad(s string, width int) string { return s + display.Spaces(width-ansi.StringWidth(s)) }
