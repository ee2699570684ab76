// Package value is the inspector pane that shows a value of any size.
//
// Start at Pane (pane.go): Update handles messages from jobs, Fill starts the jobs whose results are
// missing, and View (view.go) draws. The view state holds a stack of sheets: the value, and the opened
// element on top of it. A sheet is loaded in chunks (pager.go, numbered.go) from a source (sources.go,
// one entry per type; streams.go, arrays.go, vectors.go). Bytes are shown in a shape (shape.go); if
// they decode, as a document (document.go). search.go runs searches, find.go matches text.
package value
