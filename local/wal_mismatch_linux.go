package local

import "syscall"

const (
	// the byte of the shared memory that SQLite locks while it uses it
	lockInUse = 128

	headerFormat = 18 // offset of the format version in the header of a file
	formatWAL    = 2
)

// hasWALMismatch reports whether another process uses the file at path with another WAL or shared memory than the ones
// under their names. This process must not have any of them open.
func hasWALMismatch(path string) bool {
	// An ImmutableReader locks only the first byte of the range: it has no WAL.
	open, isWAL := isLocked(path, lockShared+1, lockSharedSize-1)
	open = open && isWAL
	used, _ := isLocked(path+"-shm", lockInUse, 1)
	var info syscall.Stat_t
	return open != used || open && syscall.Stat(path+"-wal", &info) == syscall.ENOENT
}

// isLocked reports whether another process has locked bytes of the file at path, and whether the file is in WAL
// mode.
func isLocked(path string, start, length int64) (locked, isWAL bool) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, false
	}
	defer syscall.Close(fd)
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: start, Len: length}
	if syscall.FcntlFlock(uintptr(fd), syscall.F_GETLK, &lock) != nil {
		return false, false
	}
	var format [1]byte
	n, err := syscall.Pread(fd, format[:], headerFormat)
	return lock.Type != syscall.F_UNLCK, n == 1 && err == nil && format[0] == formatWAL
}

// lockExclusive keeps all processes from opening the file at path, as SQLite does before it removes the WAL. It
// does not wait: ok is false while a process has the file open. This process must not have the file open.
func lockExclusive(path string) (unlock func(), ok bool) {
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CLOEXEC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: lockShared, Len: lockSharedSize}
	if syscall.FcntlFlock(uintptr(fd), syscall.F_SETLK, &lock) != nil {
		syscall.Close(fd)
		return nil, false
	}
	return func() { syscall.Close(fd) }, true
}
