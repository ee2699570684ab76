package inspect

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/resp"
)

func TestShown(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"user:1", 10, "user:1"},
		{"user:1000", 6, "user:…"},
		{"", 10, `""`},
		{" a", 10, `" a"`},
		{"a ", 10, `"a "`},
		{`{"a":"\n"}`, 20, `{"a":"\n"}`},
		{`"a"`, 20, `"\"a\""`},
		{"a\x00\xff\n", 20, `"a\x00\xff\n"`},
		{"東京タワー", 20, "東京タワー"},
		{"東京タワー", 6, "東京…"},
		{"e\u0301tude", 20, "e\u0301tude"},
		{"\u202eevil", 30, `"\xe2\x80\xaeevil"`},
		{"\ufffd", 9, "\ufffd"},
		{strings.Repeat("é", 1<<20), 4, "ééé…"},
		{"anything", 0, ""},
	} {
		got := shown(c.in, c.width)
		if got != c.want {
			t.Errorf("%.20q in %d cells: %q, want %q", c.in, c.width, got, c.want)
		}
		if ansi.StringWidth(got) > c.width {
			t.Errorf("%q is wider than %d", got, c.width)
		}
	}
}

func TestRemaining(t *testing.T) {
	const s = 1000
	for ms, want := range map[int64]string{
		-5: "0s", 0: "0s", 1: "1s", 1000: "1s", 1001: "2s", 59 * s: "59s", 60 * s: "1m 00s", 309 * s: "5m 09s",
		3600 * s: "1h 00m", 86399 * s: "23h 59m", 86400 * s: "1d 00h", 100 * 86400 * s: "100d", 9_000_000 * 86400 * s: "9.0Md",
	} {
		if got := remaining(ms); got != want {
			t.Errorf("%d ms: %q, want %q", ms, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KB", 99 << 20: "99 MB", 3 << 40: "3.0 TB"} {
		if got := bytesize(n); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{1: "1", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	for in, want := range map[string]string{
		"3.1400000000000001": "3.14", "1e6": "1000000", "1234567.5": "1234567.5", "1e100": "1e+100", "inf": "inf", "-inf": "-inf", "0": "0",
	} {
		if got := score(resp.MakeString(in)); got != want {
			t.Errorf("score %s: %q, want %q", in, got, want)
		}
	}
}

func TestTextLines(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  []string
	}{
		{"", 5, nil},
		{"abc", 5, []string{"abc"}},
		{"abcdefg", 5, []string{"abcde", "fg"}},
		{"a\n\nb\n", 5, []string{"a", "", "b"}},
		{"a\r\nb", 5, []string{"a", "b"}},
		{"a\rb", 9, []string{`a\x0db`}},
		{"\tx\ty", 9, []string{"    x   y"}},
		{"東京都", 5, []string{"東京", "都"}},
		{"a\xffb", 9, []string{`a\xffb`}},
		{"a\x1b[2J", 20, []string{`a\x1b[2J`}},
		{"👩‍👩‍👧!", 9, []string{"👩‍👩‍👧!"}},
		{"e\u0301e\u0301e\u0301", 2, []string{"e\u0301e\u0301", "e\u0301"}},
		{"\u202eevil", 30, []string{`\xe2\x80\xaeevil`}},
		{"東", 1, []string{"東"}},
	} {
		var got []string
		for _, l := range textLines([]byte(c.in), c.width) {
			got = append(got, textLine([]byte(c.in)[l.start:l.end]))
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") || len(got) != len(c.want) {
			t.Errorf("%q in %d cells: %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestIsText(t *testing.T) {
	for in, want := range map[string]bool{"": true, "abc\n": true, "wörld": true, "cut w\xc3": true, "a\x00": false, "\xffa": false, "\xc3a": false} {
		if isText([]byte(in)) != want {
			t.Errorf("isText(%q) is %v", in, !want)
		}
	}
}

func TestWindowsShareALetter(t *testing.T) {
	// A letter of three bytes, of which two stand in the second window.
	data := strings.Repeat("x", windowSize-1) + "東" + "end"
	first := window([]byte(data[:min(windowSize+overlap, len(data))]))
	second := window([]byte(data[windowSize:]))
	a, b := textWindow(0, first, 80), textWindow(1, second, 80)
	if last := a[len(a)-1]; !strings.HasSuffix(string(first.data[last.start:last.end]), "x東") {
		t.Errorf("the first window ends with %q", first.data[last.start:last.end])
	}
	if got := string(second.data[b[0].start:b[0].end]); got != "end" {
		t.Errorf("the second window begins with %q", got)
	}
}
