// Package compare is the pane of the inspector that shows two keys side by side, or a key
// and its state before a change. It compares JSON by structure, text by lines, hashes, sets
// and sorted sets by fields and members, and lists by elements.
package compare
