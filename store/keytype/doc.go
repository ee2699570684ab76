// Package keytype declares the types of keys: their names, the commands that count, read, page and write them,
// the shape of their elements in replies, and their tables. Code that counts, copies, checks or shows keys uses
// Types, and so supports every type that is added there.
package keytype
