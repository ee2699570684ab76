package filter

import (
	_ "embed"
	"errors"
	"strconv"
	"strings"
	"testing"
)

// recorded holds the replies of redis-server.
//
//go:embed testdata/redis-8.0.2.txt
var recorded string

func TestAgreesWithRedis(t *testing.T) {
	attributes, n := "", 0
	for _, line := range strings.Split(recorded, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		expression, _ := strconv.Unquote(quoted)
		want := strings.TrimSpace(line[len(quoted):])
		if want == "" {
			attributes = expression
			continue
		}
		n++
		if got := say(expression, attributes); got != want {
			t.Errorf("%s of %s: %s, want %s", quoted, attributes, got, want)
		}
	}
	if n < 200 {
		t.Errorf("only %d expressions were tried", n)
	}
}

func say(expression, attributes string) string {
	p, err := Compile([]byte(expression))
	var bad *SyntaxError
	if errors.As(err, &bad) {
		near := strconv.Quote(string(bad.Near))
		return "error " + strings.ReplaceAll(near, "é", `\xc3\xa9`)
	}
	return strconv.FormatBool(p.Match([]byte(attributes), func(int) {}))
}

// TestUnlikeRedis lists expressions that Redis 8.0 handles wrongly: it refuses null and one operator before another,
// and does not resolve \u.
func TestUnlikeRedis(t *testing.T) {
	for _, tt := range []struct{ expression, attributes, want string }{
		{"!!.a", `{"a":1}`, "true"}, {"not not .a", `{"a":0}`, "false"}, {"!!!.a", `{"a":0}`, "true"}, {"1 and !!.a", `{"a":1}`, "true"},
		{`.a == "é"`, `{"a":"\u00e9"}`, "true"}, {`.a == "😀"`, `{"a":"\ud83d\uDE00"}`, "true"}, {`.a == "é"`, `{"a":"\u00eg"}`, "false"},
		{".d == null", `{"d":null}`, "true"}, {".d != null", `{"d":1}`, "true"}, {"!null", "{}", "true"}, {"(null)", "{}", "false"}, {"null)", "{}", `error "null)"`},
		{".d == null", "{}", "false"}, {`"" == null or 0`, "{}", "false"}, {"null == null", "{}", "true"}, {"1 in .a", `{"a":[null,1]}`, "true"},
	} {
		if got := say(tt.expression, tt.attributes); got != tt.want {
			t.Errorf("%s of %s: %s", tt.expression, tt.attributes, got)
		}
	}
}

// TestBounds compiles and runs expressions at and beyond the limits.
func TestBounds(t *testing.T) {
	for _, tt := range []struct{ expression, attributes, want string }{
		{strings.Repeat("(", 30_000) + "1" + strings.Repeat(")", 30_000), "{}", "true"},
		{strings.Repeat("!", 60_000) + "1", "{}", "true"},
		{strings.Repeat("1**", 20_000) + "1", "{}", "true"},
		{".a", `{"a":` + strings.Repeat("[", 1_000_000), "false"},
		{".b", `{"a":` + strings.Repeat("[{", 500_000) + strings.Repeat("}]", 500_000) + `,"b":1}`, "true"},
		{"1 in .a", `{"a":[` + strings.Repeat("1,", 100_000) + `1]}`, "true"},
		{"1" + strings.Repeat(" ", maxLength) + "x", "{}", `error " x"`},
		{strings.Repeat("9", 255) + ">1", "{}", "true"},
		{strings.Repeat("9", 256) + ">1", "{}", `error "9>1"`},
	} {
		if got := say(tt.expression, tt.attributes); got != tt.want {
			t.Errorf("%.20s of %.20s: %.40s, want %s", tt.expression, tt.attributes, got, tt.want)
		}
	}
}

// FuzzFilter compiles and matches any input, without a panic.
func FuzzFilter(f *testing.F) {
	f.Add(".a in [1,'x'] and !(.b ** -2 <= 3)", `{"a":"\u0041","b":[true,null,1e5]}`)
	f.Fuzz(func(_ *testing.T, expression, attributes string) { say(expression, attributes) })
}
