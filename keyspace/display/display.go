// Package display formats names, numbers, sizes and times for people, measured in terminal
// cells.
package display

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// Text formats s in at most width cells: unchanged if every character is printable, otherwise
// in double quotes with escapes. Escapes prevent s from disturbing the screen or imitating
// other output.
func Text(s string, width int) string {
	width = max(width, 0)
	// A cell takes at most this many bytes, except with stacked accents.
	if most := 16 * (width + 1); len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s = s[:most]
	}
	if isPlain(s, width) {
		return Truncate(s, width)
	}
	return Truncate(string(resp.AppendQuoted(nil, []byte(s), true)), width)
}

// isPlain reports whether s can be shown without quotes in width cells. Spaces at its ends
// would be invisible, and a leading quote would look like escaped text.
func isPlain(s string, width int) bool {
	if s == "" || s[0] == '"' || s[0] == ' ' || s[len(s)-1] == ' ' && ansi.StringWidth(s) <= width {
		return false
	}
	for seen := s; seen != ""; {
		r, n := utf8.DecodeRuneInString(seen)
		if r == utf8.RuneError && n == 1 || !resp.Visible(r) {
			return false
		}
		seen = seen[n:]
	}
	return true
}

// Whole formats s like Text, without a width limit.
func Whole(s string) string { return Text(s, 4*len(s)+2) }

// Truncate cuts s, which may contain style sequences, to width cells and marks the cut with ….
func Truncate(s string, width int) string {
	return ansi.Truncate(s, max(width, 0), "…")
}

// Fit pads or truncates s to exactly width cells.
func Fit(s string, width int) string {
	s = Truncate(s, width)
	return s + Spaces(width-ansi.StringWidth(s))
}

// FitRight does the same as Fit with s right-aligned.
func FitRight(s string, width int) string {
	s = Truncate(s, width)
	return Spaces(width-ansi.StringWidth(s)) + s
}

// Spaces returns n spaces, or "" if n is negative.
func Spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// Type formats the type of a key for display. The input is a server's reply, so it can be any
// string.
func Type(typ string) string {
	return string(resp.AppendVisible(nil, []byte(keytype.Of(typ).DisplayName())))
}

// Grouped formats n with commas between thousands.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted formats n with the singular or plural noun.
func Counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(n) + " " + many
}

// Shares converts parts of a whole to units of it, such as 100 for percent. It rounds the parts
// with the largest remainders up, so that the rounded parts add up correctly. With a zero
// whole, all shares are 0.
func Shares(parts []int64, whole, units int64) []int64 {
	shares := make([]int64, len(parts))
	if whole <= 0 {
		return shares
	}
	sum, missing := 0.0, int64(0)
	remainders, order := make([]float64, len(parts)), make([]int, len(parts))
	for i, n := range parts {
		exact := float64(n) / float64(whole) * float64(units)
		shares[i] = int64(exact)
		remainders[i], order[i] = exact-float64(shares[i]), i
		sum, missing = sum+exact, missing-shares[i]
	}
	missing += int64(math.Round(sum))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainders[b], remainders[a]) })
	for _, i := range order[:missing] {
		shares[i]++
	}
	return shares
}

// scaled formats n with at most three digits and a unit: 999, 1.2K, 12K, 3.4M; without a unit up to step.
func scaled(n, step int64, units []string) string {
	f, i := float64(n), 0
	for limit := float64(step); f >= limit && i < len(units)-1; i++ {
		f /= float64(step)
		limit = 999.5 // 1000 KB would be wider than 1.0 MB
	}
	digits := 0
	if i > 0 && f < 9.95 {
		digits = 1
	}
	return strconv.FormatFloat(f, 'f', digits, 64) + units[i]
}

var (
	byteUnits  = []string{" B", " KB", " MB", " GB", " TB"}
	countUnits = []string{"", "K", "M", "G", "T"}
)

// Bytes formats a size in bytes with at most four digits and a unit.
func Bytes(n int64) string { return scaled(n, 1024, byteUnits) }

// Short formats a number with at most four digits and a letter.
func Short(n int64) string { return scaled(n, 1000, countUnits) }

// Remaining formats a time to live in ms, in at most seven cells: 42s, 5m 09s, 4h 05m, 3d 04h,
// 400d, 74y.
func Remaining(ms int64) string {
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
	if days := s / 86400; days < 1000 {
		return strconv.FormatInt(days, 10) + "d"
	}
	return Short(s/86400/365) + "y"
}

func twoUnits(n, step int64, big, small string) string {
	rest := strconv.FormatInt(n%step, 10)
	if len(rest) == 1 {
		rest = "0" + rest
	}
	return strconv.FormatInt(n/step, 10) + big + " " + rest + small
}

// Clipped returns the first 80 characters of a text, as valid UTF-8.
func Clipped(text string) string {
	const most = 80
	text = strings.ToValidUTF8(text, "?")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
