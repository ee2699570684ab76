// Package replicate streams a file to a directory or an S3 bucket, restores it from there, and maintains a copy
// that follows the stream. The format is litestream's (https://litestream.io), whose own tools can read it: LTX
// files (github.com/superfly/ltx), each with the pages that changed in a range of transactions, as of the end
// of the range. A transaction here is everything committed between two snapshots.
//
// A file with the range a to b can be applied to any state from a-1 to b. So if a write may have succeeded
// although it failed, the next file has the same beginning and another end, and no file is ever replaced. Level
// 0 holds the newest changes. Higher levels hold the same changes in longer ranges, so that a new follower
// reads few files. Level 9 holds full snapshots.
package replicate
