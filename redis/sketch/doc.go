// Package sketch computes Redis's probabilistic types: Bloom filters, cuckoo filters, count-min sketches, Top-K lists
// and t-digests. Hash functions, growth and formulas are Redis's, so counts and false positives are the same.
//
// A sketch has a head, which Go holds as a struct, and a Body, its bytes in blocks. An operation reads and writes only
// the blocks that it needs. It first asks whether they are loaded; the caller loads the missing ones and repeats it.
package sketch

// MaxBytes limits the bytes of a filter, a table of counters or a digest: a string of a dump file holds no more.
const MaxBytes = 512 << 20
