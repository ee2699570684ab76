//go:build !unix

package repl

import "time"

// typedAhead is nil: this system cannot report pending input.
var typedAhead func(time.Duration) bool
