//go:build unix

package server

import (
	"syscall"
	"time"
)

// processorTime returns the CPU time of the process, in user code and in system calls.
func processorTime() (user, system time.Duration, ok bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0, false
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano()), true
}
