// Package change makes changes and undoes them. Before a Maker makes a change, it saves the
// overwritten data in the journal. Afterwards it records the new state, so that an undo can
// detect writes of other clients. Everything here runs in jobs and uses only the fields of
// the Maker; the package has no access to the screen.
//
// Start at Maker.Make (change.go). transact.go saves and changes keys atomically, and
// reread.go does so for targets without WATCH. image.go reads keys as the commands that
// restore them, and journal.go stores these commands in a file. undo.go undoes a
// change after review.go has run the checks of checks.go.
package change
