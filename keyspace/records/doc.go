// Package records finds the records in replies: the fields of a hash, the scored members of a
// sorted set, the entries of a stream, a page of a scan. It prints them one per line (CSV,
// NDJSON) or as a table.
//
// Start at Of. RESP2 replies, such as those of REST, give the same records as RESP3 replies, as
// the command determines the shape.
package records
