// Package metrics counts what a server's commands did: how often each ran and how long it took, the
// errors, the keys that reads found, the slow log and the samples of LATENCY.
//
// Ran is called for each command on the way of its reply, by many goroutines: it adds to a few
// atomic numbers. Everything else is for who looks.
package metrics
