// Package profile keeps a user's named targets: the address of each, its token, and the confirmations that it asks
// for.
//
// Load reads the configuration file; its methods change it. Tokens are in the operating system's keyring if it has
// one (keyring.go).
package profile
