// Package doctor examines files and mends ours.
//
// What must hold in a file is a table of checks (checks.go): each a query for the
// rows that break it and the statements that mend them. The order of the table is
// the order of mending, and later repairs rely on the earlier ones. The few checks
// that SQL cannot do are functions beside it: whether the names' hashes are right
// (names.go), whether the tables are as a new file has them (tables.go), and
// SQLite's own check (exam.go). Files of other programs are examined by what is
// known of their tables (foreign.go), and never mended.
//
// A repair keeps whatever can be kept. Elements whose key is gone, or belongs to
// another type, become a key of their own again, in database 0, whose name begins
// with LostAndFound. Only three things are deleted: keys that have no element left,
// rows of the table of refusals, and what has expired.
//
// The package knows no driver: it is handed a Query, which should read from one
// snapshot, or in the transaction that mends.
package doctor
