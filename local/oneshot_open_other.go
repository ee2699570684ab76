//go:build !linux

package local

// lockStill locks nothing: SQLite has several ways to lock a file on some systems.
func lockStill(string) (fd int, ours bool) { return 0, false }

func unlockStill(int) {}
