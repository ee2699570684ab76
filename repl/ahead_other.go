//go:build !unix

package repl

// typedAhead is nil: nobody can tell.
var typedAhead func() bool
