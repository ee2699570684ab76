// Package acl says who may do what, as Redis's access control lists do: users with
// passwords, the commands, keys and channels that each may use, and the log of what was
// refused.
//
// Users holds them all. A User's rights are a snapshot that rules replace as a whole, so
// that checking a call takes no lock, and for a user with all rights reads one flag. The
// package knows no connections and opens no files: a server asks it before a command
// runs, and keeps what Lines says.
//
// See https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/.
package acl
