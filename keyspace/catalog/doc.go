// Package catalog lists the keys of a file, by SQL of its own: pages of keys in any
// order, folders of names, how many keys and bytes a prefix or a type has, the rows of a
// key, facts of the file. It only reads.
//
// Pages go by keyset: a page begins after a Mark, never at an offset, so that
// the last page of ten million keys costs what the first does. Names of folders
// come by skipping through the index on (db, key), one seek a folder. An order that
// no index has is a Sorting: one pass, then pages by keyset, too.
//
// Scan is what keys are moved and compared by: pages in SCAN's order, with the values of
// small keys. A Snapshot has all keys at one moment, for lists and sums.
//
// What goes through all keys does so in slices, so that it can be watched and
// ended, and so that no reader keeps the file's log from being checkpointed.
package catalog
