// Package rdb reads and writes values in Redis's RDB format, the one of dump
// files and of the payloads of DUMP and RESTORE. It is pure: bytes in, bytes out.
//
// It reads every encoding of the versions 6 to 12 (Redis 2.6 to 8.0). Payloads of DUMP
// have version 12, as those of Redis 8.0. A file has version 10 (Redis 7.0), or 12 for what
// only that can say: fields of a hash that expire.
//
// What it reads may come from anywhere. Damage is an error, never a panic; it
// believes no length before the bytes are there; and a value that it returns has
// no element twice, no number that is none, and no part that refers to a missing
// one.
package rdb
