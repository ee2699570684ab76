// Package wire is how batches and their results travel between what runs commands and what
// executes SQL: JSON, exact for bytes, integers of 64 bits and doubles. One request has any number
// of batches, each atomic and independent, and one answer what became of each.
//
//	{"b":[ [ ["SQL",arg,…], … ], … ],"read":true,"max":1000000}
//	{"r":[ {"ok":[ [ [cell,…], … ], … ],"n":[changes,…]}, {"err":"…","at":1,"ok":[…],"n":[…]} ]}
//
// "b" comes first and has a list of statements for each batch. "read" says that none of them
// writes. "max" is how many bytes of rows a batch may return, 0 or missing for any number. "ok" has the
// rows of each statement, "n" how many rows each has changed, missing in a request that reads. The
// answer may have fewer results than the request has batches: the others have not run.
//
// A batch that was refused left no trace. "at" is the index of its statement, "ok" and "n" are those
// of the statements before, and "why" says what it was, a constraint if it is missing: "late" that the
// batch took longer than "ms", "rows" that its rows were more than "max", "bad" that the statement
// can never run here.
//
// An argument or a cell is null, a string for TEXT, a number without point and exponent for an
// INTEGER within ±2^53, any other number for a REAL, {"b":"base64"} for a BLOB, {"i":"123"} for an
// INTEGER of 64 bits, {"f":"Infinity"} or {"f":"-Infinity"}, and {"t":"base64"} for TEXT that is not
// UTF-8.
//
// Whether a statement is moot (store.Stmt.Moot) does not travel: it runs all the same, and finds
// nothing to do.
package wire
