package expr

import (
	"math"
	"strings"
	"time"

	"github.com/ncruces/go-strftime"

	"github.com/meowdis/meowdis/redis/search/geo"
	"github.com/meowdis/meowdis/redis/search/text"
)

// function evaluates a call: eager takes the values of its arguments, lazy the arguments.
type function struct {
	least, most int
	eager       func(args []Value) (Value, error)
	lazy        func(r *Row, args []node) (Value, error)
}

// maxString bounds the result of format, in bytes.
const maxString = 16 << 20

var functions map[string]function

func init() {
	functions = map[string]function{
		"log": math1(math.Log), "log2": math1(math.Log2), "exp": math1(math.Exp), "sqrt": math1(math.Sqrt),
		"abs": math1(math.Abs), "ceil": math1(math.Ceil), "floor": math1(math.Floor),
		"upper": string1(upper), "lower": string1(lower),
		"strlen":        eager(1, 1, func(a []Value) (Value, error) { return Num(float64(len(a[0].String()))), nil }),
		"startswith":    eager(2, 2, startsWith),
		"contains":      eager(2, 2, contains),
		"substr":        eager(3, 3, substr),
		"format":        eager(1, maxNodes, format),
		"split":         eager(1, 3, split),
		"matched_terms": {0, 1, nil, matchedTerms},
		"to_number":     eager(1, 1, toNumber),
		"to_str":        string1(func(s string) string { return s }),
		"exists":        {1, 1, nil, exists},
		"case":          {3, 3, nil, choose},
		"timefmt":       eager(1, 2, formatTime),
		"parsetime":     eager(2, 2, parseTime),
		"day":           truncated(func(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }),
		"hour":          truncated(func(t time.Time) time.Time { return t.Truncate(time.Hour) }),
		"minute":        truncated(func(t time.Time) time.Time { return t.Truncate(time.Minute) }),
		"month": truncated(func(t time.Time) time.Time {
			return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
		}),
		"dayofweek":   datePart(func(t time.Time) int { return int(t.Weekday()) }),
		"dayofmonth":  datePart(time.Time.Day),
		"dayofyear":   datePart(func(t time.Time) int { return t.YearDay() - 1 }),
		"monthofyear": datePart(func(t time.Time) int { return int(t.Month()) - 1 }),
		"year":        datePart(time.Time.Year),
		"geodistance": eager(2, 4, geoDistance),
	}
}

func eager(least, most int, f func([]Value) (Value, error)) function {
	return function{least, most, f, nil}
}

// math1 returns a function of a number; another value gives NaN.
func math1(f func(float64) float64) function {
	return eager(1, 1, func(a []Value) (Value, error) {
		v, ok := a[0].Number()
		if !ok {
			return Num(math.NaN()), nil
		}
		return Num(f(v)), nil
	})
}

// string1 returns a function of a string; null stays null.
func string1(f func(string) string) function {
	return eager(1, 1, func(a []Value) (Value, error) {
		if a[0].Kind == Null {
			return a[0], nil
		}
		return Str(f(a[0].String())), nil
	})
}

func upper(s string) string { return ascii(s, 'a', 'z') }
func lower(s string) string { return ascii(s, 'A', 'Z') }

// ascii returns s with the letters of a range in the other case.
func ascii(s string, from, to byte) string {
	out := []byte(s)
	for i, c := range out {
		if c >= from && c <= to {
			out[i] = c ^ 0x20
		}
	}
	return string(out)
}

func startsWith(a []Value) (Value, error) {
	return boolean(strings.HasPrefix(a[0].String(), a[1].String())), nil
}

// contains counts where a string occurs; occurrences may overlap.
func contains(a []Value) (Value, error) {
	s, part := a[0].String(), a[1].String()
	if part == "" {
		return Num(float64(len(s) + 1)), nil
	}
	n := 0
	for at := strings.Index(s, part); at >= 0; n++ {
		s = s[at+1:]
		at = strings.Index(s, part)
	}
	return Num(float64(n)), nil
}

// substr cuts a string at bytes: a negative offset counts from the end, a negative length stops before the end.
func substr(a []Value) (Value, error) {
	s := a[0].String()
	offset, okOffset := a[1].Number()
	length, okLength := a[2].Number()
	if a[0].Kind == Null || !okOffset || !okLength {
		return Value{}, nil
	}
	size := float64(len(s))
	if offset = math.Trunc(offset); offset < 0 {
		offset += size
	}
	offset = min(max(offset, 0), size)
	if length = math.Trunc(length); length < 0 {
		length += size - offset
	}
	length = min(max(length, 0), size-offset)
	return Str(s[int(offset) : int(offset)+int(length)]), nil
}

func format(a []Value) (Value, error) {
	var out strings.Builder
	pattern, next := a[0].String(), 1
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			out.WriteByte(pattern[i])
			continue
		}
		i++
		switch {
		case i == len(pattern):
			return Value{}, failure("SEARCH_PARSE_ARGS", "Bad format string!")
		case pattern[i] == '%':
			out.WriteByte('%')
		case pattern[i] != 's':
			return Value{}, failure("SEARCH_PARSE_ARGS", "Unknown format specifier passed")
		case next == len(a):
			return Value{}, failure("SEARCH_PARSE_ARGS", "Not enough arguments for format")
		default:
			s := a[next].String()
			if a[next].Kind == Null {
				s = "(null)"
			}
			if next++; out.Len()+len(s) > maxString {
				return Value{}, failure("SEARCH_LIMIT_OVER", "The result of format exceeds %d bytes", maxString)
			}
			out.WriteString(s)
		}
	}
	return Str(out.String()), nil
}

// split returns the parts of a string that are not empty, at most 1024.
func split(a []Value) (Value, error) {
	separators, strip := ",", " "
	if len(a) > 1 {
		separators = a[1].String()
	}
	if len(a) > 2 {
		strip = a[2].String()
	}
	if a[0].Kind == Null {
		return Value{}, nil
	}
	var parts []Value
	for rest := a[0].String(); len(parts) < 1024; {
		i := indexByte(rest, separators)
		part := rest
		if i >= 0 {
			part = rest[:i]
		}
		if part = strings.Trim(part, strip); part != "" {
			parts = append(parts, Str(part))
		}
		if i < 0 {
			break
		}
		rest = rest[i+1:]
	}
	return List(parts...), nil
}

// indexByte returns where the first of some bytes stands in a string; -1 if none does.
func indexByte(s, bytes string) int {
	for i := range len(s) {
		if strings.IndexByte(bytes, s[i]) >= 0 {
			return i
		}
	}
	return -1
}

func matchedTerms(r *Row, args []node) (Value, error) {
	most := 100.0
	if len(args) == 1 {
		v, err := args[0].eval(r)
		if err != nil {
			return v, err
		}
		if n, ok := v.Number(); ok && n > 0 {
			most = min(n, most)
		}
	}
	var terms []Value
	for _, term := range r.MatchedTerms {
		if float64(len(terms)) < most {
			terms = append(terms, Str(term))
		}
	}
	if terms == nil {
		return Value{}, nil
	}
	return List(terms...), nil
}

func toNumber(a []Value) (Value, error) {
	v, ok := a[0].Number()
	if !ok {
		return Value{}, failure("SEARCH_PARSE_ARGS", "to_number: cannot convert string '%.100s'", a[0].String())
	}
	return Num(v), nil
}

func exists(r *Row, args []node) (Value, error) {
	v, err := args[0].eval(r)
	if e, ok := err.(*Error); ok && e.Code == "SEARCH_VALUE_NOT_FOUND" {
		return boolean(false), nil
	}
	return boolean(v.Kind != Null), err
}

// choose evaluates case(condition, a, b): only the value that it returns.
func choose(r *Row, args []node) (Value, error) {
	yes, err := truth(args[0], r)
	if err != nil {
		return Value{}, err
	}
	if yes {
		return args[1].eval(r)
	}
	return args[2].eval(r)
}

// moment returns the time of a Unix timestamp; ok is false if it is not one that a calendar has.
func moment(v Value) (t time.Time, ok bool) {
	n, ok := v.Number()
	if !ok || !(math.Abs(n) < 1<<37) {
		return t, false
	}
	return time.Unix(int64(math.Floor(n)), 0).UTC(), true
}

func formatTime(a []Value) (Value, error) {
	layout := "%FT%TZ"
	if len(a) > 1 {
		layout = a[1].String()
	}
	t, ok := moment(a[0])
	if !ok || len(layout) > 1024 {
		return Value{}, nil
	}
	return Str(strftime.Format(layout, t)), nil
}

func parseTime(a []Value) (Value, error) {
	layout, s := a[1].String(), a[0].String()
	if len(layout) > 1024 || len(s) > 1024 {
		return Value{}, nil
	}
	layout = strings.NewReplacer("%F", "%Y-%m-%d", "%T", "%H:%M:%S", "%R", "%H:%M", "%D", "%m/%d/%y").Replace(layout)
	t, err := strftime.Parse(layout, s)
	if err != nil {
		return Value{}, nil
	}
	return Num(float64(t.Unix())), nil
}

func truncated(f func(time.Time) time.Time) function {
	return eager(1, 1, func(a []Value) (Value, error) {
		t, ok := moment(a[0])
		if !ok {
			return Value{}, nil
		}
		return Num(float64(f(t).Unix())), nil
	})
}

func datePart(f func(time.Time) int) function {
	return eager(1, 1, func(a []Value) (Value, error) {
		t, ok := moment(a[0])
		if !ok || t.Unix() < 0 {
			return Value{}, nil
		}
		return Num(float64(f(t))), nil
	})
}

// geoDistance returns the meters between two points, each "lon,lat" or two numbers.
func geoDistance(a []Value) (Value, error) {
	var c []float64
	for i := 0; i < len(a); i++ {
		if lon, lat, ok := text.ParsePoint(a[i].String()); ok && a[i].Kind != Number {
			c = append(c, lon, lat)
		} else if v, ok := a[i].Number(); ok {
			c = append(c, v)
		}
	}
	if len(c) != 4 {
		return Value{}, failure("SEARCH_PARSE_ARGS", "Invalid arguments for geodistance")
	}
	return Num(math.Round(geo.Haversine(c[0], c[1], c[2], c[3])*100) / 100), nil
}
