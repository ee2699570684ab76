// Package keys is the room of the inspector that lists keys: as a tree or in any order,
// filtered, with marks.
//
// Start at Room (room.go): Update takes in what jobs bring, Fill starts those that the
// list lacks, View (view.go) draws. Of the rows only a window is in memory (window.go),
// which walks through a keyspace (tree.go): the target's index, an order that is made of
// it (sorted.go), or what a scan has gathered (scan.go, gathered.go). What to list is a
// query; listing.go decides where its rows come from. choices.go and filter_prompt.go let
// the person choose it.
package keys
