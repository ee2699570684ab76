// Package acl implements Redis's access control lists: users with passwords, their commands,
// keys and channels, and the log of denials.
//
// Users holds all users. A User's rights are a snapshot that rules replace as a whole:
// checking a call takes no lock, and for a user with all rights it reads one flag. The package
// knows no connections and opens no files: a server checks each command here before running
// it, and saves the lines that Lines returns.
//
// See https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/.
package acl
