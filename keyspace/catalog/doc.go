// Package catalog lists the keys of a file with its own SQL: pages of keys in any order,
// folders of names, the numbers of keys and bytes per prefix or type, the rows of a key, and
// file statistics. It only reads.
//
// Pages use keyset pagination: a page begins after a Mark, never at an offset, so the last page
// of ten million keys costs the same as the first. Folders are found by skipping through the
// index on (db, key), with one seek per folder. An order without an index uses a Sorting: one
// pass over the keys, then keyset pages.
//
// Scan returns pages in SCAN's order with the values of small keys; transfer copies and
// compares keys with it. A Snapshot reads all keys at one moment, for lists and sums.
//
// Passes over all keys run in slices. The caller can show progress and cancel, and no long read
// keeps the WAL from being checkpointed.
package catalog
