// Package inspect is the full-screen browser of a Redis data set: the keys on
// the left, as a tree or in any order, the value of the selected one on the right.
// It reads until it is unlocked, and undoes what it writes then.
//
// It knows commands and replies, never a store or a network: Run is handed a
// Client, and for a file an Index, which answers what no command does.
//
// The rooms are packages: keys, value, edit and overview. Each has its state, its jobs and
// its view, and none knows another: what others have to know is an event that it tells,
// and Model.route (update.go) hands on. What all of them use is below: room (what each is
// handed, and dialogs), target (what is inspected), job, screen and change.
//
// A key press comes to press.go, which finds what it does in the table of bindings.go. A
// message comes to Model.Update (update.go); then fill starts the jobs that the new state
// lacks, and View (view.go) draws. Everything slow happens in jobs (package job) off the
// screen's loop, one at a time for each purpose, and every job can be cancelled: it runs
// on what it was handed, and returns a message. A message and what takes it in have one
// name: openedMsg, onOpened.
package inspect
