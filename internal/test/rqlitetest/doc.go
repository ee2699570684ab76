// Package rqlitetest runs clusters of the real rqlited on loopback for tests, kills their nodes, has them
// hang, and cuts the connections between them.
package rqlitetest
