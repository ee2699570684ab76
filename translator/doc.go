// Package translator turns a Redis command into SQL, and the rows that the SQL returns into a Redis reply. It is pure:
// it does no I/O and reads no clock, randomness, environment or global state, so the same call gives the same
// statements, byte for byte.
//
// Package commands has the table of commands. This package has one function per command, listed by name at the top of
// its group's file. The function returns a Plan: an immediate reply, or a batch of statements and the decoder of its
// rows.
//
// Conventions of the SQL: ?1 is the database, ?2 the key, ?3 now in Unix ms. A write is "purge, then guard or ensure,
// then change, then touch" (write.go). Text is constant: a list of n elements is one JSON argument for json_each, or
// one argument per element if they are few (list_argument.go).
package translator
