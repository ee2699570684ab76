//go:build unix

package server_test

import (
	"io"
	"net"
	"syscall"
)

// readNow reads the received bytes without waiting.
func readNow(c net.Conn, b []byte) (n int, err error) {
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return 0, err
	}
	done := raw.Read(func(fd uintptr) bool {
		for n, err = syscall.Read(int(fd), b); err == syscall.EINTR; n, err = syscall.Read(int(fd), b) {
		}
		return true
	})
	switch {
	case done != nil:
		return 0, done
	case err == syscall.EAGAIN:
		return 0, nil
	case err == nil && n == 0:
		return 0, io.EOF
	}
	return max(n, 0), err
}
