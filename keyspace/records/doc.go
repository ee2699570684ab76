// Package records sees the records in replies: the fields of a hash, the scored
// members of a sorted set, the entries of a stream, a page of a scan; and prints
// them one a line (CSV, NDJSON) or as a table for people.
//
// Start at Of. Replies that came in RESP2's shape, as REST's do, give the same
// records as those in RESP3's, since the command says what they are.
package records
