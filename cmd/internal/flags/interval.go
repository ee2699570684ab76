// Package flags holds the parts that flags of several verbs share: intervals, names in messages, and rules.
package flags

import (
	"errors"
	"strconv"
	"time"
)

// Interval is a flag's time: a number of seconds, or a number with a unit.
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

// String returns the time in seconds, as a user can give it.
func (i *Interval) String() string {
	return strconv.FormatFloat(time.Duration(*i).Seconds(), 'g', -1, 64)
}

func (i *Interval) Type() string { return "duration" }
