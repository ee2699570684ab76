// Package psync reads the replication stream of a Redis server, as a replica does: a snapshot in RDB format, then every
// write as a command.
//
// Start sends the handshake on a connection. A goroutine then reads the connection as fast as the server sends, into
// spools that use the disk if the caller is slower: a server closes the connection of a replica whose backlog grows too
// large, and keeps a forked process while it sends a snapshot. Another goroutine acknowledges the position that the
// caller reports with Applied.
package psync
