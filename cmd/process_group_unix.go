//go:build unix

package cmd

import (
	"os/exec"
	"syscall"
)

// runGroup is cmd.Run. When it returns, or the context of cmd ends, whatever the command has started is ended, too.
func runGroup(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if cmd.Process != nil {
		cmd.Cancel()
	}
	return err
}
