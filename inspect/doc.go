// Package inspect is the full-screen browser of a Redis data set: the keys on the left, as a tree or in
// any order, and the selected value on the right. It is read-only until the user unlocks it, and it can
// undo its changes.
//
// It deals in commands and replies and knows no store and no network. Run takes a Client, and for a
// file also an Index, which answers queries that no command can.
//
// The panes are packages: keys, value, edit and overview. Each has its own state, jobs and view, and
// does not import the other panes. A pane reports a change as an event, and Model.route (update.go)
// passes it to the other panes. The panes share ui (their context and the dialogs), client (the data
// set), job, screen and change.
//
// key_press.go looks up a key press in the table of bindings.go. Messages go to Model.Update (update.go).
// After each message, fill starts the jobs whose results are missing, and View (view.go) draws. Slow
// work runs in jobs (package job), outside the update loop, one per purpose. Every job can be
// cancelled: it gets its inputs as arguments and returns a message. A message and its handler share a
// name: openedMsg, onOpened.
package inspect
