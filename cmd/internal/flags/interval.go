// Package flags is what the flags of many verbs are made of: times, names in
// messages, and rules among them.
package flags

import (
	"errors"
	"strconv"
	"time"
)

// Interval is a flag that is a time: a number of seconds, or a number with a unit.
type Interval time.Duration

// longest is the longest interval that makes sense.
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

// String is the time in seconds, as it can be given.
func (i *Interval) String() string {
	return strconv.FormatFloat(time.Duration(*i).Seconds(), 'g', -1, 64)
}

func (i *Interval) Type() string { return "duration" }
