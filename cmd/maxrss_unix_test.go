//go:build unix

package cmd_test

import (
	"os"
	"syscall"
)

// maxrss is how much a process had in memory at most, as the system counts it: in KB but on macOS.
func maxrss(p *os.ProcessState) int64 { return p.SysUsage().(*syscall.Rusage).Maxrss }
