// Package inspect is the full-screen browser of a Redis data set: the keys on
// the left, the value of the selected one on the right. It only reads.
//
// It knows commands and replies, never a store or a network: Run is handed a
// Client. Everything slow happens in jobs (jobs.go) off the screen's loop, one
// at a time for each purpose, and every job can be cancelled.
//
// Start at Model: Update (update.go) turns messages into changes, View (view.go)
// draws. The keys that a person presses are data (bindings.go). keyList holds the
// keys, valuePane the value, whose parts come in chunks (pager.go) from a source
// (sources.go, one entry a type).
package inspect
