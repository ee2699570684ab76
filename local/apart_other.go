//go:build !linux

package local

// isApart does nothing: on some systems SQLite has several ways to lock a file.
func isApart(string) bool { return false }

// lockAlone does nothing, for the same reason.
func lockAlone(string) (unlock func(), ok bool) { return func() {}, true }
