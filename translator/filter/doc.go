// Package filter is the language of VSIM's FILTER option: an expression over the fields of a JSON object, such as
//
//	.year >= 1980 and .genre in ["action", "drama"]
//
// Compile translates an expression to a program, once, and Match runs it on the attributes of each element. The package
// is pure. Constants limit its recursion and memory for any input. It accepts the expressions that Redis 8.0 accepts,
// and reports errors at the same positions.
package filter
