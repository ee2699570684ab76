// Package stores runs the tests for every store over a server's storage endpoint, as a compute
// node uses it: commands run here, and their SQL goes over HTTP.
package stores
