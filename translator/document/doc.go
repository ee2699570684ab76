// Package document is JSON as a value to change in place: parsing, printing and
// paths into it, in the dialect of the JSON.* commands.
//
// Objects keep the order of their keys. Integers of 64 bits stay integers, with
// or without a sign; every other number is a double.
package document
