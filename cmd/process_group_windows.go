package cmd

import (
	"errors"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// runGroup runs cmd. When cmd or its context ends, it also kills every process that the command started: they belong
// to a job object, which ends when its last handle is closed.
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
	// On failure the command has already ended.
	if process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid)); err == nil {
		windows.AssignProcessToJobObject(job, process)
		windows.CloseHandle(process)
	}
	return cmd.Wait()
}
