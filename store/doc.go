// Package store defines the contract between the translator, which writes SQL, and the stores that run it (a
// SQLite file, a Durable Object, an rqlite cluster): typed values, statements, atomic batches and their
// results.
//
// A store has one duty: to run a Batch atomically. It knows no Redis command.
package store
