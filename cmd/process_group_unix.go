//go:build unix

package cmd

import (
	"os/exec"
	"syscall"
)

// runGroup runs cmd. When cmd or its context ends, it also kills every process that the command started.
func runGroup(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if cmd.Process != nil {
		cmd.Cancel()
	}
	return err
}
