// Package store is the contract between what writes SQL (the translator) and
// what executes it (a SQLite file, a Durable Object, an rqlite cluster): typed
// values, statements, batches that are atomic, and their results.
//
// A store has one duty: to run a Batch atomically. It knows no Redis command.
package store
