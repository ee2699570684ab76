package decode

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

const textName = "text"

// isText reports whether b is UTF-8 without control characters except whitespace. If b is cut,
// its last character may be incomplete.
func isText(b []byte, cut bool) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			return cut && len(b) < utf8.UTFMax && !utf8.FullRune(b)
		}
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
		b = b[n:]
	}
	return true
}

// printable escapes characters of b that could disturb a terminal, except tabs and line breaks.
// It drops a final newline.
func printable(b []byte) string {
	var out strings.Builder
	for _, r := range strings.ToValidUTF8(string(b), "\ufffd") {
		switch {
		case r == '\n' || r == '\t' || resp.Visible(r):
			out.WriteRune(r)
		case r == '\r':
			out.WriteString(`\r`)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// hint describes a short text that may be a time or a UUID.
func hint(b []byte) string {
	if at, ok := unixTime(string(b)); ok {
		return "as a time: " + at.UTC().Format("2006-01-02 15:04:05.999") + " UTC"
	}
	if phpText().Match(b) {
		return "serialized by PHP"
	}
	return uuid(string(b))
}

// phpText matches the beginning of a serialized PHP array or object.
var phpText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(a:\d+:\{|O:\d+:")`)
})

// unixTime parses seconds or milliseconds of this century. Other numbers are rarely times.
func unixTime(s string) (time.Time, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || s[0] == '+' {
		return time.Time{}, false
	}
	var at time.Time
	switch len(s) {
	case 10:
		at = time.Unix(n, 0)
	case 13:
		at = time.UnixMilli(n)
	default:
		return time.Time{}, false
	}
	return at, at.UTC().Year() >= 2001 && at.UTC().Year() < 2100
}

// gregorian counts the 100 ns units from 1582-10-15, the epoch of UUID versions 1 and 6, to
// 1970.
const gregorian = 122192928000000000

func uuid(s string) string {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ""
	}
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(b) != 16 {
		return ""
	}
	number := func(parts ...[]byte) (n int64) {
		for _, part := range parts {
			for _, c := range part {
				n = n<<8 | int64(c)
			}
		}
		return n
	}
	version := b[6] >> 4
	b[6] &= 0x0f
	var at time.Time
	switch version {
	case 1:
		at = time.UnixMicro((number(b[6:8], b[4:6], b[0:4]) - gregorian) / 10)
	case 6:
		at = time.UnixMicro((number(b[0:6])<<12 + number(b[6:8]) - gregorian) / 10)
	case 7:
		at = time.UnixMilli(number(b[0:6]))
	default:
		return fmt.Sprintf("UUID, version %d", version)
	}
	return fmt.Sprintf("UUID, version %d, made %s UTC", version, at.UTC().Format("2006-01-02 15:04:05"))
}

// dump returns a hex dump of the first most bytes.
func dump(b []byte, most int) string {
	text := strings.TrimSuffix(hex.Dump(b[:min(len(b), most)]), "\n")
	if len(b) > most {
		text += fmt.Sprintf("\n… %s more", display.Bytes(int64(len(b)-most)))
	}
	return text
}
