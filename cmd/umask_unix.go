//go:build unix

package cmd

import "golang.org/x/sys/unix"

// onlyForOwner makes new files accessible only to their owner until free is called.
func onlyForOwner() (free func()) {
	before := unix.Umask(0o177)
	return func() { unix.Umask(before) }
}
