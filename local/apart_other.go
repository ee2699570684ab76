//go:build !linux

package local

// isApart looks at nothing: SQLite has several ways to lock a file on some systems.
func isApart(string) bool { return false }

// lockAlone locks nothing, for the same reason.
func lockAlone(string) (unlock func(), ok bool) { return func() {}, true }
