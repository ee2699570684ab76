// Package tracking implements the server side of client-side caching: which clients to notify when keys change, so
// that they can cache the keys they read. See https://redis.io/docs/latest/develop/reference/client-side-caching/
//
// The caller reports reads and changes to a Table, and the table passes invalidation messages to clients. The package
// does no I/O: the owner of the connections sends the messages.
package tracking
