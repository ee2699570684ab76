//go:build !unix

package repl

import "time"

// typedAhead is nil: this system cannot be asked.
var typedAhead func(time.Duration) bool
