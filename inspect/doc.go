// Package inspect is the full-screen browser of a Redis data set: the keys on
// the left, as a tree or in any order, the value of the selected one on the right.
// It reads until it is unlocked, and undoes what it writes then.
//
// It knows commands and replies, never a store or a network: Run is handed a
// Client, and for a file an Index, which answers what no command does. Everything
// slow happens in jobs (jobs.go) off the screen's loop, one at a time for each
// purpose, and every job can be cancelled.
//
// Start at Model: Update (model.go) turns messages into changes and starts the jobs
// that the new state lacks, View (view.go) draws. The keys that a person presses
// are data (bindings.go). Of the keys only a window is in memory (keylist.go),
// which walks through a keyspace (tree.go): the Index, or what a scan has gathered
// (scan.go, gathered.go). The value comes in chunks (pager.go) from a source
// (sources.go, one entry a type). Every change goes through write (change.go), and
// transact.go keeps what it is about to overwrite: image.go reads keys as the
// commands that make them again, and journal.go has those in a file.
package inspect
