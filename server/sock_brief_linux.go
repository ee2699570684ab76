//go:build !race

package server

import (
	"syscall"
	"unsafe"
)

// readBriefly and writeBriefly are those of package syscall for a socket that does not block, without
// a word to Go's scheduler before and after: it would let another thread go on where a call takes 20 µs, as
// one does now and then in which the kernel hands the packet to its receiver.
func readBriefly(fd int, b []byte) (int, error)  { return briefly(syscall.SYS_READ, fd, b) }
func writeBriefly(fd int, b []byte) (int, error) { return briefly(syscall.SYS_WRITE, fd, b) }

func briefly(call uintptr, fd int, b []byte) (int, error) {
	n, _, err := syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}
