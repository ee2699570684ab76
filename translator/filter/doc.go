// Package filter is the language of VSIM's FILTER option: an expression over the
// fields of a JSON object, such as
//
//	.year >= 1980 and .genre in ["action", "drama"]
//
// Compile makes a program of an expression, once, and Match runs it on the
// attributes of each element. It is pure; neither recurses deeper, nor takes
// more memory, than the limits in here say, whatever they are given. It accepts
// what Redis 8.0 accepts, and its errors are at the same places.
package filter
