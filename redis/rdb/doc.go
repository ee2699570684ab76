// Package rdb reads and writes values in Redis's RDB format: dump files, and the payloads of
// DUMP and RESTORE. It is pure: bytes in, bytes out.
//
// It reads every encoding of versions 6 to 12 (Redis 2.6 to 8.0). DUMP payloads have version
// 12, as in Redis 8.0. A file has version 10 (Redis 7.0), or 12 if it needs it: for fields of
// a hash that expire, or vector sets.
//
// Input may come from anywhere. Damage is an error, never a panic, and no length is trusted
// before the bytes have arrived. A returned value has no duplicate elements, no NaN, and no
// reference to a missing part.
package rdb
