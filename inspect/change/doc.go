// Package change makes changes and undoes them: a Maker keeps in the journal what a change
// overwrites before it is made, and what it left behind, so that an undo can tell whether
// others wrote since. All of it runs in jobs, on what the Maker holds; nothing here knows
// the screen.
//
// Start at Maker.Make (change.go). transact.go keeps and changes keys as one, reread.go
// where they cannot be watched; image.go reads keys as the commands that make them again,
// and journal.go has those in a file; take_back.go undoes, after review.go has looked at
// what checks.go knows of the keys.
package change
