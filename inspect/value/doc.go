// Package value is the room of the inspector that shows a value of any size.
//
// Start at Room (room.go): Update takes in what jobs bring, Fill starts those that the
// pane lacks, View (view.go) draws. A pane (pane.go) shows sheets: the value, and on top
// of it the element that is looked at. A sheet comes in chunks (pager.go, numbered.go)
// from a source (sources.go, one entry a type; streams.go, arrays.go, vectors.go). Bytes
// have a shape (shape.go), and what they encode is a document (document.go). search.go
// looks for what find.go finds.
package value
