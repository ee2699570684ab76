// Package replicate streams a file to a place, a directory or a bucket of S3, brings it back from there,
// and keeps a copy of it that follows. The format is litestream's (https://litestream.io), whose own
// tools read it: files of LTX (github.com/superfly/ltx), each with the pages that changed in a range of
// transactions, as they are at its end. Here a transaction is whatever was committed between two looks.
//
// A file of the range a to b may be applied to any state from a-1 to b. So an attempt to write one that
// may have succeeded is followed by one with the same beginning and another end, and nothing is ever
// replaced. Files of level 0 are what is new; those of higher levels are the same for longer ranges, so
// that who begins reads few; those of level 9 are the whole file.
package replicate
