package timeseries

import (
	"math"
	"strconv"
	"strings"
)

// Sample is a value at a time.
type Sample struct {
	At    int64 // Unix ms, from 0
	Value float64
}

// FormatValue formats a value as RESP2 shows it: in exponent notation below 1, and from 2^56 on.
func FormatValue(f float64) string {
	switch abs := math.Abs(f); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return strconv.FormatFloat(f, 'f', -1, 64)
	case abs < 1 || abs >= 1<<56:
		return scientific(f)
	case abs >= 1<<52 && strings.HasSuffix(shortestDigits(abs), "0"):
		return scientific(f)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func shortestDigits(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// scientific formats f with an exponent that has neither a plus sign nor leading zeros.
func scientific(f float64) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, 64), "E")
	n, _ := strconv.Atoi(exponent)
	return mantissa + "E" + strconv.Itoa(n)
}

// ParseValue parses the value of a sample: a number as in JSON, or NaN in any case, with or without a sign.
func ParseValue(text string) (f float64, ok bool) {
	if strings.EqualFold(strings.TrimLeft(text, "+-"), "nan") && len(text) <= len("+nan") {
		return math.NaN(), true
	}
	digits := strings.TrimPrefix(text, "-")
	switch {
	case digits == "" || digits[0] < '0' || digits[0] > '9':
		return 0, false
	case len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9':
		return 0, false
	case strings.Trim(digits, "0123456789.eE+-") != "" || strings.Contains(digits, ".e") || strings.Contains(digits, ".E") || strings.HasSuffix(digits, "."):
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// BucketStart returns the start of t's bucket. It may be below 0.
func BucketStart(t, align, duration int64) int64 {
	offset := (t - align) % duration
	if offset < 0 {
		offset += duration
	}
	return t - offset
}
