//go:build unix

package bus

import "time"

// SetPatience changes how long other processes are waited for, and returns what it was.
func SetPatience(d time.Duration) time.Duration {
	was := patience
	patience = d
	return was
}
