// Package target is what the inspector looks at: the client, shared by all jobs, one call
// at a time; what it is found to refuse; the last commands that were sent; and for a file
// the index, which answers what no command does.
package target
