//go:build unix

package cmd

import "golang.org/x/sys/unix"

// onlyForOwner has files that are made until free is called be for their owner only.
func onlyForOwner() (free func()) {
	before := unix.Umask(0o177)
	return func() { unix.Umask(before) }
}
