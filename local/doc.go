// Package local stores a database in a SQLite file on this machine.
//
// One goroutine writes: it takes all waiting jobs and commits them as one transaction (group commit). A client
// gets its reply after the commit. Readers run beside the writer, each on its own connection, and see a
// snapshot. Several processes may share a file. Virtual tables show the files of some other programs in our
// tables, for reading only (virtual.go). An in-memory store, and a store with a single client, use one
// connection for reads and writes.
package local
