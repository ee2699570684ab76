package server

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// multiplexing is the multiplexing_api of INFO.
const multiplexing = "epoll"

// kernel returns the name, release and machine of the system, or "" if unknown.
func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:]) + " " + unix.ByteSliceToString(u.Machine[:])
}

// systemMemory returns the memory of the machine in bytes, or 0 if unknown.
func systemMemory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}

// residentMemory returns the resident set of the process in bytes, or 0 if unknown.
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

// openFiles returns the number of open descriptors of the process, sockets included.
func openFiles() (n int, ok bool) {
	all, err := os.ReadDir("/proc/self/fd")
	return len(all), err == nil
}
