// Package compare is the room of the inspector that puts two keys side by side, or a key
// and what it was before a change: JSON by its structure, text by its lines, hashes, sets
// and sorted sets by their fields and members, lists by their elements.
package compare
