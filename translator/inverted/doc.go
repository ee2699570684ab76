// Package inverted describes the indexes of FT.CREATE, encodes their rows, and finds the documents that a query selects.
// It knows no SQL and no grammar of commands.
package inverted
