//go:build !race

package server

import (
	"syscall"
	"unsafe"
)

// rawRead and rawWrite are syscall.Read and syscall.Write for a non-blocking socket, without notifying Go's
// scheduler. The scheduler would start another thread for a call of 20 µs, which happens when the kernel delivers the
// packet within the call.
func rawRead(fd int, b []byte) (int, error)  { return rawCall(syscall.SYS_READ, fd, b) }
func rawWrite(fd int, b []byte) (int, error) { return rawCall(syscall.SYS_WRITE, fd, b) }

func rawCall(call uintptr, fd int, b []byte) (int, error) {
	n, _, err := syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}
