// Package keytype is where a type of key is declared: its names, the commands that
// count, read, page and write it, how replies hold its elements, and its tables. Code
// that counts, copies, checks or shows keys goes by Types, and so knows a type that is
// added to it.
package keytype
