// Package rqlite implements a store on an rqlite cluster: a SQLite database that Raft replicates to several
// nodes. It speaks the HTTP API of rqlite 8 and later.
//
// A write is one entry of the Raft log, no matter how many batches it contains. While one write is in
// progress, the writes of all clients of this process wait and then share the next entry. Each request stores
// the id of its writer (this process) and its own number in the same transaction. A request with an unknown
// outcome can therefore be sent again: it is refused if it already took effect.
//
// statement.go and answer.go undo what rqlite does to statements and values. The SQL passed in needs no
// knowledge of it.
package rqlite
