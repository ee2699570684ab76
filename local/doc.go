// Package local is the store that lives in a SQLite file on this machine.
//
// One goroutine writes: it takes whatever is waiting and commits it as one
// transaction (group commit), and no client hears of a write before its commit.
// Readers run beside it, each on a connection of its own, and see a snapshot.
// Several processes may share a file. The files of some other programs are shown in
// our tables, and only read (virtual.go). An in-memory store, and one whose client is
// alone, have one connection for both.
package local
