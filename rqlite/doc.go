// Package rqlite is the store that is an rqlite cluster: SQLite databases of several nodes that
// Raft keeps the same. It speaks the HTTP API of rqlite 8 and later.
//
// A write is one entry of the Raft log, however many batches it is made of: while one is under way,
// those of all clients of this process wait and then share the next one. Each request carries the
// number of its writer (this process) and its own, in the same transaction, so that one whose outcome
// is unknown can be sent again, and is refused where it has taken effect already.
//
// What rqlite does to statements and values on their way is undone in statement.go and answer.go; the
// SQL that comes in knows nothing of it.
package rqlite
