// Package rqlitetest runs clusters of the real rqlited on loopback for tests. It can kill or
// suspend nodes, and cut the connections between them.
package rqlitetest
