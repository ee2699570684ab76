// Package client is the inspector's connection to a target: the client, which all jobs
// share one call at a time; the commands that the target refused; a log of the last
// commands; and, for a file, the index, which answers queries that no command can.
package client
