package text

import (
	"math"
	"strconv"
	"strings"
)

// ParseNumber parses the value of a NUMERIC field: a C double that is the whole text. It has no NaN.
func ParseNumber(s string) (v float64, ok bool) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	if strings.ContainsAny(s, "_") {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return v, !math.IsNaN(v)
}

// FormatNumber returns a number as rows show it: an integer if it is one, else with 12 digits.
func FormatNumber(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case v == math.Trunc(v) && math.Abs(v) < 1<<63:
		return strconv.FormatInt(int64(v), 10)
	}
	return FormatG(v, 12)
}

// FormatG returns a finite number as C's %.*g does.
func FormatG(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'e', digits-1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	x, _ := strconv.Atoi(exponent)
	if x < -4 || x >= digits {
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return mantissa + "e" + exponent
	}
	s = strconv.FormatFloat(v, 'f', digits-1-x, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// ParsePoint parses the value of a GEO field: longitude and latitude with a comma or a blank between them.
func ParsePoint(s string) (lon, lat float64, ok bool) {
	s = strings.TrimSpace(s)
	i := strings.IndexAny(s, ", ")
	if i < 0 {
		return 0, 0, false
	}
	lon, okLon := ParseNumber(s[:i])
	lat, okLat := ParseNumber(strings.TrimLeft(s[i:], ", "))
	return lon, lat, okLon && okLat && math.Abs(lon) <= 180 && math.Abs(lat) <= 85.05112878
}
