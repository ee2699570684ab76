package display

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
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
		got := Text(c.in, c.width)
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
		3600 * s: "1h 00m", 86399 * s: "23h 59m", 86400 * s: "1d 00h", 100 * 86400 * s: "100d", 27_000 * 86400 * s: "73y", 9_000_000 * 86400 * s: "25Ky",
	} {
		if got := Remaining(ms); got != want {
			t.Errorf("%d ms: %q, want %q", ms, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KB", 999 << 10: "999 KB", 1000 << 10: "1.0 MB", 10200: "10 KB", 99 << 20: "99 MB", 3 << 40: "3.0 TB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{1: "1", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		if got := Grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		parts        []int64
		whole, units int64
		want         []int64
	}{
		{[]int64{1, 1, 1}, 3, 1000, []int64{334, 333, 333}},
		{[]int64{11000, 11000, 4, 4, 1, 1}, 22010, 100, []int64{50, 50, 0, 0, 0, 0}},
		{[]int64{4, 2, 1}, 8, 1000, []int64{500, 250, 125}},
		{[]int64{1, 1}, 8, 100, []int64{13, 12}},
		{[]int64{9999, 1}, 10000, 1000, []int64{1000, 0}},
		{[]int64{5}, 5, 100, []int64{100}},
		{[]int64{0, 0}, 0, 100, []int64{0, 0}},
		{nil, 7, 100, []int64{}},
	} {
		if got := Shares(c.parts, c.whole, c.units); !slices.Equal(got, c.want) {
			t.Errorf("%v of %d: %v, not %v", c.parts, c.whole, got, c.want)
		}
	}
}
