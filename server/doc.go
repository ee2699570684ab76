// Package server serves an engine over RESP2 and RESP3 on TCP, and over Upstash's REST protocol on HTTP.
//
// A Server opens no listeners: the caller passes them to ServeRESP and ServeREST, which serve them until their context
// is done. The commands that a RESP client has sent so far form one pipeline. The client's engine.Session runs it, and
// the server writes all replies at once. On Linux a loop does so for all clients that are ready. Elsewhere, and for
// slow commands, each client has a goroutine. Each REST request has its own session.
package server
