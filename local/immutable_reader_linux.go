package local

import (
	"encoding/binary"
	"syscall"

	"github.com/meowdis/meowdis/store/schema"
)

// The bytes that SQLite locks to read a file, after the first gigabyte, where no page begins. A lock on any of
// them keeps other processes from writing without a WAL.
const (
	lockShared     = 0x40000002
	lockSharedSize = 510
)

// headerProgram locates the application ID in the header of a file, in bytes, and headerSize counts its bytes.
const (
	headerProgram = 68
	headerSize    = 100
)

// takeReadLock takes SQLite's read lock on the file at path without waiting. It reports whether the file is a
// meowdis file without a rollback journal. No other connection of this process may have it open: closing the
// descriptor drops the locks of all.
func takeReadLock(path string) (fd int, ours bool) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, false
	}
	var info syscall.Stat_t
	header := make([]byte, headerSize)
	shared := syscall.Flock_t{Type: syscall.F_RDLCK, Start: lockShared, Len: 1}
	if syscall.Fstat(fd, &info) == nil && info.Mode&syscall.S_IFMT == syscall.S_IFREG &&
		syscall.FcntlFlock(uintptr(fd), syscall.F_SETLK, &shared) == nil {
		n, err := syscall.Pread(fd, header, 0)
		ours = err == nil && n == headerSize && binary.BigEndian.Uint32(header[headerProgram:]) == schema.ApplicationID &&
			syscall.Stat(path+"-journal", &info) == syscall.ENOENT
	}
	if !ours {
		releaseReadLock(fd)
	}
	return fd, ours
}

func releaseReadLock(fd int) { syscall.Close(fd) }
