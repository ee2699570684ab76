// Package server offers an engine to programs: over RESP2 and RESP3 on TCP, and
// over Upstash's REST protocol on HTTP.
//
// A Server has no listeners of its own: ServeRESP and ServeREST are handed one
// each and serve it until their context is done. A RESP connection is one
// goroutine that takes everything the client has sent so far as one pipeline,
// hands it to its engine.Session and writes all replies at once. A REST request
// is a session of its own.
package server
