package cmd

import (
	"errors"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// runGroup is cmd.Run, whose end, or the end of the context of cmd, is that of whatever the command
// has started, too: all are in a job, which ends with its last handle.
func runGroup(cmd *exec.Cmd) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(job)
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		return err
	}
	cmd.Cancel = func() error { return errors.Join(windows.TerminateJobObject(job, 1), cmd.Process.Kill()) }
	if err := cmd.Start(); err != nil {
		return err
	}
	// Where this fails the command has ended already.
	if process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid)); err == nil {
		windows.AssignProcessToJobObject(job, process)
		windows.CloseHandle(process)
	}
	return cmd.Wait()
}
