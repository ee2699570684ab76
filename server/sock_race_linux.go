//go:build race

package server

import "syscall"

// The race detector knows that reads and writes by package syscall follow each other.
var readBriefly, writeBriefly = syscall.Read, syscall.Write
