package cmd

import (
	"errors"
	"strconv"
	"time"
)

// interval is a flag that is a time: a number of seconds, or a number with a unit.
type interval time.Duration

// longest is the longest interval that makes sense.
const longest = 365 * 24 * time.Hour

func (i *interval) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		d, err = time.ParseDuration(text + "s")
	}
	if err != nil || d < 0 || d > longest {
		return errors.New("no time")
	}
	*i = interval(d)
	return nil
}

// String is the time in seconds, as it can be given.
func (i *interval) String() string {
	return strconv.FormatFloat(time.Duration(*i).Seconds(), 'g', -1, 64)
}

func (i *interval) Type() string { return "duration" }
