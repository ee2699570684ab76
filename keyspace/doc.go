// Package keyspace lists the keys of a client's database with their types, sizes and expiries.
// It uses the commands that the server has: SCAN or KEYS, TYPE or a read of each type,
// PEXPIRETIME, PTTL or TTL, MEMORY USAGE. It remembers the commands that a server lacks, and
// tries each fallback once.
//
// A Walk returns pages at about one round trip each. It counts the keys of one page while it
// describes the next page and lists the page after it.
//
// For a file, keyspace/catalog reads the same keys with SQL, many times faster: a Snapshot
// replaces a Walk, and pages come in any order. keyspace/stats totals the keys of either, and
// keyspace/peek shows one key.
package keyspace
