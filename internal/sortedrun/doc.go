// Package sortedrun sorts records by name, in runs that fit in memory.
//
// A file keeps its keys in an index by name: keys in random order write a page of the index for
// each key, and sorted keys fill one page after another.
package sortedrun
