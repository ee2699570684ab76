// Package stats adds keys up, by type, prefix and TTL, keeps the largest ones, and
// reports that for people and as JSON. It takes pages of keys, from wherever they come,
// and never holds more than sums.
package stats
