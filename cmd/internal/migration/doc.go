// Package migration moves a database that is in use: it copies all keys and then follows the source, until the user
// stops it or clients switch to the target.
//
// A Migration follows a Redis server as a replica does (stream.go, load.go). If the source refuses that, it compares all
// keys again and again (passes.go). Both end with the cut-over: writes at the source are paused, the last ones arrive,
// the target is verified, and a command of the user switches the clients (cut_over.go).
package migration
