package server

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// multiplexing is how sockets are waited for.
const multiplexing = "epoll"

// kernel is the name, the release and the machine of the system, "" where that is not known.
func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:]) + " " + unix.ByteSliceToString(u.Machine[:])
}

// systemMemory is the memory of the machine in bytes, 0 where that is not known.
func systemMemory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}

// residentMemory is what the process has of it, 0 where that is not known.
func residentMemory() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseUint(fields[1], 10, 64)
	return pages * uint64(os.Getpagesize())
}

// openFiles is how many files and sockets the process has open.
func openFiles() (n int, ok bool) {
	all, err := os.ReadDir("/proc/self/fd")
	return len(all), err == nil
}
