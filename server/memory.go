package server

import (
	"context"
	"fmt"
	"runtime/metrics"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var notInScript = resp.MakeError("ERR This Redis command is not allowed from script")

// memoryStats runs MEMORY STATS: the memory of the process as Go reports it, the number of keys, and the bytes they
// take in the file.
func (s *Server) memoryStats(ctx context.Context) resp.Value {
	if engine.OfScript(ctx) {
		return notInScript
	}
	m := readMemory()
	s.peak.Store(max(s.peak.Load(), m.used))
	keys := int64(0)
	session := s.config.Engine.Session()
	for db := range commands.Databases {
		session.Select(db)
		v, err := session.Do(ctx, []byte("DBSIZE"))
		if err != nil {
			return s.failure(err)
		}
		keys += v.Int
	}
	reply := resp.EmptyMap
	add := func(name string, v resp.Value) { reply.Elems = append(reply.Elems, resp.MakeString(name), v) }
	bytes := func(name string, n uint64) { add(name, resp.MakeInt(int64(n))) }
	number := func(name string, f float64) { add(name, resp.MakeDouble(f)) }
	bytes("peak.allocated", s.peak.Load())
	bytes("total.allocated", m.used)
	bytes("startup.allocated", s.atStart)
	for _, name := range []string{"replication.backlog", "replica.fullsync.buffer", "clients.slaves", "cluster.links", "aof.buffer"} {
		bytes(name, 0)
	}
	add("keys.count", resp.MakeInt(keys))
	if used, _, err := s.config.Engine.Used(ctx); err == nil {
		bytes("dataset.bytes", uint64(used))
	}
	number("peak.percentage", 100*ratio(m.used, s.peak.Load()))
	bytes("allocator.allocated", m.used)
	bytes("allocator.active", m.active)
	bytes("allocator.resident", m.mapped)
	bytes("allocator.muzzy", 0)
	number("allocator-fragmentation.ratio", ratio(m.active, m.used))
	bytes("allocator-fragmentation.bytes", m.active-m.used)
	number("allocator-rss.ratio", ratio(m.mapped, m.active))
	bytes("allocator-rss.bytes", m.mapped-m.active)
	number("rss-overhead.ratio", ratio(m.resident, m.mapped))
	add("rss-overhead.bytes", resp.MakeInt(int64(m.resident)-int64(m.mapped)))
	number("fragmentation", ratio(m.resident, m.used))
	add("fragmentation.bytes", resp.MakeInt(int64(m.resident)-int64(m.used)))
	return reply
}

// mallocStats runs MEMORY MALLOC-STATS, which lists Go's memory metrics.
func mallocStats() resp.Value {
	var samples []metrics.Sample
	for _, d := range metrics.All() {
		if d.Kind == metrics.KindUint64 && (strings.HasPrefix(d.Name, "/memory/") || strings.HasPrefix(d.Name, "/gc/")) {
			samples = append(samples, metrics.Sample{Name: d.Name})
		}
	}
	metrics.Read(samples)
	var b strings.Builder
	for _, s := range samples {
		fmt.Fprintf(&b, "%s %d\n", s.Name, s.Value.Uint64())
	}
	return verbatim(b.String())
}

// requestMemory returns the pool of all requests, which reports its changes to OnMemory.
func (c *Config) requestMemory() *store.Pool {
	pool := store.NewPool(c.MaxMemory)
	if c.OnMemory != nil {
		var one sync.Mutex
		pool.Watch(MemoryStep, func() {
			one.Lock()
			defer one.Unlock()
			c.OnMemory(pool.Used())
		})
	}
	return pool
}
