// Package keys is the inspector pane that lists keys: as a tree or in any order, with filters and
// marks.
//
// Start at Pane (pane.go): Update handles messages from jobs, Fill starts the jobs whose results are
// missing, and View (view.go) draws. Only a window of the rows is in memory (window.go). A walker
// (tree.go) reads them from a keyspace: the target's index, an order computed from it (sorted.go), or
// the keys found by a scan (scan.go, scanned_keys.go). A query says which keys to list; listing.go decides
// where its rows come from. The user edits the query in choices.go and filter_prompt.go.
package keys
