// Package schema holds the tables of a meowdis file as ordered migrations, in
// SQL that every engine runs: no pragmas, no temporary tables.
//
// The keys table owns a key's type, expiry, version and element count; the type
// tables hold data only and hang on keys.id, so that a key has one type, DEL is
// one row, and RENAME, MOVE and SWAPDB never touch an element.
package schema
