// Package bus carries messages between the processes that share a file. Each process that listens has a unix
// socket in the directory FILE-bus beside the file. Only the owner of the file can enter the directory.
//
// No broker is needed. A process that publishes sends a call to each socket over a permanent connection, and
// waits up to three seconds for all replies together. A process that does not reply in time is not waited for
// again until it has caught up; once 32 MB wait to be sent to it, the connection is closed. The calls are those
// that pubsub.Hub.Answer accepts, encoded as Redis commands. A process that begins to listen makes the other
// processes list the directory again before it reports that it listens, so it misses none of their later
// messages.
//
// The socket of a killed process refuses connections; a process that notices this removes the socket. A socket
// appears under its name only when it accepts connections.
package bus
