// Package text defines how Redis's search reads text: tokens, stop words, stems, phonetic codes, synonyms, tags, and the
// matching of patterns.
//
// Languages are registered, so that a program can leave out the stemmers: package redis/search/stemmers registers them.
// The facts are from redis.io/docs/latest/develop/ai/search-and-query/advanced-concepts/ (escaping, stemming, stopwords,
// phonetic-matching, synonyms, tags).
package text
