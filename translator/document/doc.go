// Package document is a mutable JSON value: parsing, printing and paths, in the dialect of the JSON.* commands.
//
// Objects keep the order of their keys. Integers of 64 bits, signed or unsigned, stay integers; every other number is a
// double.
package document
