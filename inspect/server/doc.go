// Package server is the room of the inspector that shows what a target does: its clients,
// its slow commands, its channels, the commands that it runs, and its memory. What is not
// offered is said; what is shown is asked again while it is on the screen; what comes by
// itself is kept up to a bound.
package server
