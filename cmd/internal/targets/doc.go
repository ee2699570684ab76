// Package targets finds the target of commands in flags, arguments, variables and profiles, and connects to it: a
// SQLite file, a remote storage, a REST endpoint or a Redis server. All give the same Session.
//
// Options holds the flags of a verb. Find resolves them to a Target (resolve.go defines the order). Connect opens a
// Conn: a Session that refuses writes if the target is read-only.
package targets
