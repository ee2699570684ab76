// Package score computes the scores of Redis's search: BM25STD and its variants, BM25, TFIDF, DISMAX, DOCSCORE and HAMMING,
// with the explanations of EXPLAINSCORE. It sees a document as a tree of Matches, one for each node of the query that
// matched.
//
// The formulas are from redis.io/docs/latest/develop/ai/search-and-query/advanced-concepts/scoring/.
package score
