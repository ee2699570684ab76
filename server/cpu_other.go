//go:build !unix

package server

import "time"

// processorTime is not available on this system.
func processorTime() (user, system time.Duration, ok bool) { return 0, 0, false }
