// Package transfer moves keys between sessions of any kind, archives, dump files, and text
// files of commands or JSON.
//
// Everything readable is a Source and everything writable is a Sink. Keys pass between them as
// Parts: a small key is one part and a large key is many, so a key of a million elements needs
// little memory. N formats to read and M to write are N + M pieces of work.
//
// A file also offers a List: pages of keys with their small values, at the cost of one command
// per page.
//
// The package imports no store, no client and no command line. A Session runs the commands.
package transfer
