// Package flags holds the parts that flags of several verbs share: intervals, names in messages, and rules.
package flags

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Interval is a flag's duration: a number of seconds, or a number with a unit.
type Interval time.Duration

// longest limits the intervals that a flag takes.
const longest = 365 * 24 * time.Hour

func (i *Interval) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		d, err = time.ParseDuration(text + "s")
	}
	if err != nil || d < 0 || d > longest {
		return errors.New("no time")
	}
	*i = Interval(d)
	return nil
}

// String returns the time as a user can give it: 0.5s, 10s, 24h.
func (i *Interval) String() string {
	d := time.Duration(*i)
	if d < time.Minute {
		return strconv.FormatFloat(d.Seconds(), 'g', -1, 64) + "s"
	}
	text := d.String() // 24h0m0s
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

func (i *Interval) Type() string { return "duration" }
