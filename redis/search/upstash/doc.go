// Package upstash parses the search of Upstash: schemas, filters in JSON, options of queries, score functions and
// aggregations. A filter becomes a tree of package redis/search/query. An aggregation is computed over the values of the
// documents that match.
//
// The facts are from upstash.com/docs/redis/search.
package upstash
