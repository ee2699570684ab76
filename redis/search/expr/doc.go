// Package expr evaluates the expressions of FT.AGGREGATE's APPLY and FILTER, and of FT.CREATE's FILTER, and reduces groups
// of rows.
//
// The facts are from redis.io/docs/latest/develop/ai/search-and-query/advanced-concepts/aggregations/ and the reference of
// FT.AGGREGATE.
package expr
