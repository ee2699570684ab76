// Package server offers an engine to programs: over RESP2 and RESP3 on TCP, and
// over Upstash's REST protocol on HTTP.
//
// A Server has no listeners of its own: ServeRESP and ServeREST are handed one
// each and serve it until their context is done. What a RESP client has sent so far is
// one pipeline: it is handed to the client's engine.Session, and all replies are written at
// once. On Linux a loop does that for the pipelines of all clients that are ready; elsewhere, and
// for what takes long, each has a goroutine. A REST request is a session of its own.
package server
