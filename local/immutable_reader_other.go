//go:build !linux

package local

// takeReadLock does nothing: on some systems SQLite has several ways to lock a file.
func takeReadLock(string) (fd int, ours bool) { return 0, false }

func releaseReadLock(int) {}
