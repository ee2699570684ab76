// Package profile keeps the named targets of a person: where each one is, its
// token, and how careful to be with it.
//
// Load reads the configuration file, whose methods change it. Tokens are in the
// operating system's keyring where there is one (keyring.go).
package profile
