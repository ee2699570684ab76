package inspect

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/resp"
)

// shown is s in at most width cells: as it is when every letter is printable,
// else in double quotes with escapes, so that nothing can disturb the screen or
// pass for something else.
func shown(s string, width int) string {
	width = max(width, 0)
	// A cell never takes more bytes than this, but for piles of accents.
	if most := 16 * (width + 1); len(s) > most {
		for most > 0 && isContinuation(s[most]) {
			most--
		}
		s = s[:most]
	}
	if isPlain(s, width) {
		return truncate(s, width)
	}
	return truncate(string(resp.AppendQuoted(nil, []byte(s), true)), width)
}

// isPlain tells whether s can be shown without quotes in width cells. Spaces at
// its ends would not be seen, and a quote at its head would mean an escaped text.
func isPlain(s string, width int) bool {
	if s == "" || s[0] == '"' || s[0] == ' ' || s[len(s)-1] == ' ' && ansi.StringWidth(s) <= width {
		return false
	}
	for seen := s; seen != ""; {
		r, n := utf8.DecodeRuneInString(seen)
		if r == utf8.RuneError && n == 1 || !strconv.IsPrint(r) {
			return false
		}
		seen = seen[n:]
	}
	return true
}

// whole is shown without a bound.
func whole(s string) string { return shown(s, 4*len(s)+2) }

// truncate cuts s, which may be styled, to width cells, with … where it was cut.
func truncate(s string, width int) string {
	return ansi.Truncate(s, max(width, 0), "…")
}

// truncateLeft keeps the end of s.
func truncateLeft(s string, width int) string {
	over := ansi.StringWidth(s) - width
	if over <= 0 {
		return s
	}
	return ansi.TruncateLeft(s, over+1, "…")
}

// fit makes s exactly width cells wide.
func fit(s string, width int) string {
	s = truncate(s, width)
	return s + spaces(width-ansi.StringWidth(s))
}

// fitRight is fit with s at the right end.
func fitRight(s string, width int) string {
	s = truncate(s, width)
	return spaces(width-ansi.StringWidth(s)) + s
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

func splitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// between puts left and right at the ends of a line; left gives way.
func between(left, right string, width int) string {
	if right == "" {
		return fit(left, width)
	}
	right = truncate(right, width)
	return fit(left, width-ansi.StringWidth(right)-1) + fitRight(right, min(width, ansi.StringWidth(right)+1))
}

// grouped is n with a comma between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// counted is n things by name.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// scaled is n in at most four digits: 999, 1.2K, 12K, 3.4M.
func scaled(n, step int64, units []string) string {
	f, i := float64(n), 0
	for f >= float64(step) && i < len(units)-1 {
		f /= float64(step)
		i++
	}
	digits := 0
	if i > 0 && f < 10 {
		digits = 1
	}
	return strconv.FormatFloat(f, 'f', digits, 64) + units[i]
}

var (
	byteUnits  = []string{" B", " KB", " MB", " GB", " TB"}
	countUnits = []string{"", "K", "M", "G", "T"}
)

func bytesize(n int64) string { return scaled(n, 1024, byteUnits) }

// remaining is a time to live in at most seven cells: 42s, 5m 09s, 4h 05m, 3d 04h, 400d.
func remaining(ms int64) string {
	s := (ms + 999) / 1000
	switch {
	case s < 60:
		return strconv.FormatInt(max(s, 0), 10) + "s"
	case s < 3600:
		return twoUnits(s, 60, "m", "s")
	case s < 86400:
		return twoUnits(s/60, 60, "h", "m")
	case s < 100*86400:
		return twoUnits(s/3600, 24, "d", "h")
	}
	return scaled(s/86400, 1000, countUnits) + "d"
}

func twoUnits(n, step int64, big, small string) string {
	rest := strconv.FormatInt(n%step, 10)
	if len(rest) == 1 {
		rest = "0" + rest
	}
	return strconv.FormatInt(n/step, 10) + big + " " + rest + small
}
