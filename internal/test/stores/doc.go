// Package stores runs what every store must pass over the storage endpoint of a server, as a compute
// node uses it: commands here, their SQL over HTTP.
package stores
