// Package metrics counts a server's commands: calls, times, errors and hits of reads. It also holds the slow
// log and the samples of LATENCY.
//
// Many goroutines call Ran, once for each command before its reply is sent: it only adds to a few atomic
// numbers. All other functions serve readers of the metrics.
package metrics
