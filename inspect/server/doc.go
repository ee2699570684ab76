// Package server is the pane of the inspector that shows the activity of a target: clients,
// slow log, channels, commands as they run, and memory. It says which views the target does
// not offer, refreshes the open view, and keeps a bounded number of received lines.
package server
