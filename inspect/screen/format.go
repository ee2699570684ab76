package screen

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/keyspace/display"
)

// SplitLines returns the lines of s without trailing empty lines.
func SplitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }

// TruncateLeft cuts the start of s to fit width.
func TruncateLeft(s string, width int) string {
	over := ansi.StringWidth(s) - width
	if over <= 0 {
		return s
	}
	return ansi.TruncateLeft(s, over+1, "…")
}

// LastCells returns the last width cells of s. A wide character cut by the boundary is left out.
func LastCells(s string, width int) string {
	over := ansi.StringWidth(s) - width
	cut := ansi.TruncateLeft(s, over, "")
	if ansi.StringWidth(cut) > width {
		cut = ansi.TruncateLeft(s, over+1, "")
	}
	return display.FitRight(cut, width)
}

// Between puts left and right at the two ends of a line. If space is short, left is truncated.
func Between(left, right string, width int) string {
	if right == "" {
		return display.Fit(left, width)
	}
	right = display.Truncate(right, width)
	return display.Fit(left, width-ansi.StringWidth(right)-1) + display.FitRight(right, min(width, ansi.StringWidth(right)+1))
}

// Pad pads a styled text to width cells.
func Pad(s string, width int) string { return s + display.Spaces(width-ansi.StringWidth(s)) }

// Bar returns a share of 0 to 1 as a bar; 1 has the full width in cells. A share above 0 has a bar.
func Bar(share float64, width int) string {
	if share <= 0 {
		return ""
	}
	eighths := max(int(min(share, 1)*float64(width)*8), 1)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return bar
}

// Percent returns a share of 0 to 1 as a percentage. A share above 0 is never 0%.
func Percent(share float64) string {
	switch percent := int(share*100 + 0.5); {
	case share <= 0:
		return ""
	case percent == 0:
		return "<1%"
	default:
		return strconv.Itoa(percent) + "%"
	}
}

// Sparkline returns values from 0 up as one character each, the greatest as a full block. A negative value is a
// dot.
func Sparkline(values []float64) string {
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case v < 0:
			b.WriteRune('·')
		case top == 0:
			b.WriteRune('▁')
		default:
			b.WriteRune([]rune("▁▂▃▄▅▆▇█")[int(v/top*7+0.5)])
		}
	}
	return b.String()
}
