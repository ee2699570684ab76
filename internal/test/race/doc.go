// Package race lets tests that use one goroutine at a time say so: the race detector, which makes them many times
// slower, skips them.
package race
