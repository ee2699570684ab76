// Package query parses the query language of Redis's search, in its dialects 1 to 4, into a tree.
//
// Parse needs no index: it asks a Schema for the type of each field, resolves parameters, drops stop words, and returns
// the error that Redis reports. Expand then adds stems, synonyms and phonetic codes to the terms, and Explain prints the
// tree as FT.EXPLAIN does. Depth and size of a tree are bounded, and parsing takes time linear in the text.
//
// The facts are from redis.io/docs/latest/develop/ai/search-and-query/advanced-concepts/ (query_syntax, dialects, vectors)
// and the reference of the FT commands.
package query
