//go:build unix

package server

import (
	"syscall"
	"time"
)

// processorTime is what the process has taken so far, by itself and for its calls of the
// system.
func processorTime() (user, system time.Duration, ok bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0, false
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano()), true
}
