// Package client is the inspector's connection to a target: the client, which all jobs
// share one call at a time; the commands it was found to refuse; a log of the last
// commands; and, for a file, the index, which answers what no command does.
package client
