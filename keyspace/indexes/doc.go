// Package indexes reads the search indexes of a target, of FT.CREATE and of SEARCH.CREATE: their fields, documents and
// bytes, and the keys that a query finds.
package indexes
