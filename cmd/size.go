package cmd

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a flag of bytes: a number, with kb, mb or gb after it or without.
type byteSize int64

var byteUnits = []struct {
	suffix string
	bytes  int64
}{{"gb", 1 << 30}, {"mb", 1 << 20}, {"kb", 1 << 10}, {"b", 1}, {"", 1}}

func (s *byteSize) String() string {
	for _, u := range byteUnits {
		if n := int64(*s); n > 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.suffix
		}
	}
	return "0"
}

func (s *byteSize) Set(text string) error {
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(strings.ToLower(text), u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/u.bytes {
			break
		}
		*s = byteSize(n * u.bytes)
		return nil
	}
	return fmt.Errorf("give bytes as 500mb or 2gb")
}

func (s *byteSize) Type() string { return "size" }
