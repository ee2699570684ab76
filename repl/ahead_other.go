//go:build !unix

package repl

// typedAhead is nil: this system cannot be asked.
var typedAhead func() bool
