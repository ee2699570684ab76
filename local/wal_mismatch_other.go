//go:build !linux

package local

// hasWALMismatch does nothing: on some systems SQLite has several ways to lock a file.
func hasWALMismatch(string) bool { return false }

// lockExclusive does nothing, for the same reason.
func lockExclusive(string) (unlock func(), ok bool) { return func() {}, true }
