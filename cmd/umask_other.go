//go:build !unix

package cmd

// onlyForOwner does nothing: the directory decides on permissions.
func onlyForOwner() (free func()) { return func() {} }
