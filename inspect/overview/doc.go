// Package overview is the pane of the inspector with read-only summaries: of the data set,
// and of a key.
package overview
