package server

import (
	"log/slog"
	"net"
	"sync"
	"time"
)

// replica holds the progress of a connection that follows the log. The log's mutex guards its progress.
type replica struct {
	client     *client
	pos        int64 // offset of the last byte sent
	acked      int64 // offset of the last byte applied
	fsynced    int64 // offset of the last byte that survives a power cut
	ackedAt    time.Time
	online     bool
	overSince  time.Time // since when it is over the soft limit
	cut        chan struct{}
	cutOnce    sync.Once
	ip         string
	port       int64
	eof        bool // it accepts a dump of unknown length
	marked     bool // it gets one, and acknowledges it before the stream begins
	partialsOK bool // it accepts a new ID with +CONTINUE
	modules    bool // it takes values of modules
}

// ackWait holds a client that waits until n replicas have acknowledged an offset.
type ackWait struct {
	offset, n int64
	aof       bool
	enough    func()
}

// disconnect ends the replica's connection.
func (r *replica) disconnect() {
	r.cutOnce.Do(func() {
		close(r.cut)
		go r.client.server.guard(func() { r.client.net.Close() })
	})
}

func (r *replica) isCut() bool {
	select {
	case <-r.cut:
		return true
	default:
		return false
	}
}

// newReplica returns a replica for the client.
func (c *client) newReplica() *replica {
	r := &replica{client: c, cut: make(chan struct{}), ip: c.replicaIP, port: c.replicaPort, eof: c.replicaEOF, partialsOK: c.replicaPSYNC2,
		modules: c.replicaModules}
	if r.ip == "" {
		r.ip, _, _ = net.SplitHostPort(c.net.RemoteAddr().String())
	}
	return r
}

// logger returns a logger that names the replica.
func (r *replica) logger() *slog.Logger {
	return r.client.server.config.Logger.With("replica", r.client.net.RemoteAddr().String())
}
