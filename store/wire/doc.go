// Package wire encodes batches and their results as JSON, between a program that runs commands and an engine
// that executes SQL. It is exact for bytes, integers of 64 bits and doubles. One request has any number of
// batches, each atomic and independent; one answer has their results.
//
//	{"b":[ [ ["SQL",arg,…], … ], … ],"read":true,"max":1000000}
//	{"r":[ {"ok":[ [ [cell,…], … ], … ],"n":[changes,…]}, {"err":"…","at":1,"ok":[…],"n":[…]} ]}
//
// "b" comes first and has a list of statements for each batch. "read" means that no batch writes. "max" is the
// number of bytes of rows that a batch may return, 0 or missing for no limit. "ok" has the rows of each
// statement. "n" has the number of rows that each statement has changed; it is missing in the answer to a
// request that reads. The answer may have fewer results than the request has batches: the remaining batches
// have not run.
//
// A refused batch left no trace. "at" is the index of the refused statement, and "ok" and "n" cover the
// statements before it. "why" is the reason, a constraint if it is missing: "late" for a batch that took longer
// than "ms", "rows" for a batch with more rows than "max", "bad" for a statement that can never run here.
//
// An argument or a cell is null, a string for TEXT, a number without point and exponent for an INTEGER within
// ±2^53, any other number for a REAL, {"b":"base64"} for a BLOB, {"i":"123"} for an INTEGER of 64 bits,
// {"f":"Infinity"} or {"f":"-Infinity"}, and {"t":"base64"} for TEXT that is not UTF-8.
//
// store.Stmt.SkipIf is not sent: the statement runs anyway, and finds nothing to do.
package wire
