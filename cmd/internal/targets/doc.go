// Package targets is where commands go. It reads how that is said (flags, arguments,
// variables, profiles), finds the one that is meant, and connects to it: to a SQLite
// file, a storage elsewhere, a REST endpoint or a Redis server, which look alike from
// then on.
//
// Options are the flags of a verb. Find resolves them to a Target (resolve.go says in
// which order), and Connect makes a Conn of it, a Session that refuses to write where
// the target is read-only.
package targets
