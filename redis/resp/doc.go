// Package resp implements Redis's replies: the values, the RESP2 and RESP3 wire formats, and
// the output formats for users and scripts (typed, raw, CSV, JSON).
//
// Start at Value. Reader and Writer implement the wire formats, Printer the output formats.
package resp
