// Package stats totals keys by type, prefix and TTL, finds the largest keys, and reports the
// result as text and JSON. It takes pages of keys from any source and stores only totals.
package stats
