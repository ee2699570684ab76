// Package otherformats knows the SQLite files in which other programs keep Redis data,
// and shows each in meowdis's own tables, so that commands read it as it is.
//
// A Kind is recognised by its tables. Its Tables say how every column of ours is
// read from the file's, and by what it is found there: a key that commands name
// with bytes may be stored as text, under its text's index. A Plan is the SELECT
// on the file that answers what SQLite asks of a table of ours.
//
// The package is pure: it reads no file. Package local makes virtual tables of it.
package otherformats
