// Package doctor examines SQLite files and repairs meowdis files.
//
// The checks are a table (checks.go): each has queries for the rows that violate it, and statements that repair
// them. Repairs run in the order of the table, and later repairs rely on earlier ones. A few checks need more
// than SQL and are functions: the hashes of names (names.go), the schema (tables.go), and SQLite's integrity
// check (exam.go). Files of other programs are examined as far as their tables are known (foreign.go), and
// never repaired.
//
// A repair keeps as much data as possible. Elements whose key is missing, or has another type, get a new key in
// database 0, whose name begins with LostAndFound. Only three things are deleted: keys without elements, rows
// of the guard table, and expired data.
//
// The package uses no driver: the caller passes a Query, which should read from one snapshot, or in the
// transaction of the repair.
package doctor
