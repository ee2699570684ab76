//go:build race

package race

import "testing"

// Skip skips a test of code that runs on one goroutine, or whose goroutines other tests use in the same way.
func Skip(t testing.TB) {
	t.Helper()
	t.Skip("the race detector has nothing to find here")
}
