// Package remote passes commands on to servers: REST endpoints that speak as
// Upstash's do, and servers of the Redis protocol.
//
// OpenREST and OpenRedis give sessions with the methods of engine.Session, so
// that the code that runs commands need not know where they run. A failed command is
// an error reply; an error means that the server could not be reached or broke
// the protocol, and then it is unknown whether the command took effect, unless
// it is one of those that may be sent again: those are.
package remote
