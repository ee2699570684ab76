// Package lane groups the calls of several goroutines into requests to a store.
package lane
