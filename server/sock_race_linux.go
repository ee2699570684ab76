//go:build race

package server

import "syscall"

// The race detector knows the order of reads and writes through package syscall.
var rawRead, rawWrite = syscall.Read, syscall.Write
