// Package otherformats maps SQLite files of other programs with Redis data to meowdis's own tables, so that
// commands can read them in place.
//
// A Kind is recognised by its tables. Kind.Tables describes how each column of our tables is read from the
// file, and how the file finds it: a key that commands name with bytes may be stored and indexed as text. A
// Plan is the SELECT on the file that answers SQLite's request for rows of our table.
//
// The package is pure: it reads no file. Package local makes virtual tables from it.
package otherformats
