//go:build unix

package lockfile

import (
	"errors"
	"os"
	"syscall"
)

// Open opens the file at path; with create, it creates a missing file. It fails with ErrInUse
// while a handle of another Open exists. Closing the file, or the end of the process, releases
// it.
func Open(path string, create bool) (*os.File, error) {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE | os.O_EXCL
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrInUse
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
