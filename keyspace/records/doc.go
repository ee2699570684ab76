// Package records finds the records in replies: the fields of a hash, the scored members of a
// sorted set, the entries of a stream, a page of a scan. It prints them one per line (CSV,
// NDJSON) or as a table.
//
// Start at Of. RESP2 and RESP3 replies give the same records, as the command determines the
// shape. REST replies have the shape of RESP2.
package records
