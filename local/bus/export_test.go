//go:build unix

package bus

import "time"

// SetPatience changes how long a node waits for other processes, and returns the previous value.
func SetPatience(d time.Duration) time.Duration {
	was := replyTimeout
	replyTimeout = d
	return was
}
