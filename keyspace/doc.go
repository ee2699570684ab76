// Package keyspace lists the keys of a client's database, and says what they are and how
// large, by whichever commands the server has: SCAN or KEYS, TYPE or a read of each type,
// PEXPIRETIME, PTTL or TTL, MEMORY USAGE. Each fallback is tried once, and what a server
// lacks is remembered.
//
// A Walk does so page by page, in about one round trip each: while the keys of a page are
// counted, those of the next are described, and the one after that is listed.
//
// Its parts are packages. Of a file, keyspace/catalog has the same keys by SQL, which is
// many times as fast: a Snapshot where Walk goes by commands, and pages in any order.
// keyspace/stats adds up the keys that either brings, and keyspace/peek shows one.
package keyspace
