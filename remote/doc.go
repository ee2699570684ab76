// Package remote sends commands to servers: REST endpoints compatible with Upstash's, and servers that speak
// the Redis protocol.
//
// OpenREST and OpenRedis return sessions with the methods of engine.Session, so the code that runs commands
// need not know where they run. A failed command is an error reply. A Go error means that the server could not
// be reached or broke the protocol; whether the command took effect is then unknown. Commands that are safe to
// repeat are sent again.
package remote
