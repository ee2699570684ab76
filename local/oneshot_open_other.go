//go:build !linux

package local

// lockStill does nothing: on some systems SQLite has several ways to lock a file.
func lockStill(string) (fd int, ours bool) { return 0, false }

func unlockStill(int) {}
