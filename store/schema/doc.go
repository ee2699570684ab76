// Package schema holds the tables of a meowdis file as ordered migrations, in SQL that every engine runs: no
// pragmas, no temporary tables.
//
// The table keys owns a key's type, expiry, version and element count. The type tables hold only data and refer
// to keys.id. So a key has one type, DEL deletes one row, and RENAME, MOVE and SWAPDB touch no element.
package schema
