package server

import (
	"context"
	"fmt"
	"runtime/metrics"
	"strconv"
)

// memoryInfo returns INFO's Memory section from Go's metrics of the process. Values are in the file, so only the
// cached part counts.
func (s *Server) memoryInfo() []string {
	if s.config.Within != nil {
		return s.tenantMemory()
	}
	m := readMemory()
	s.peak.Store(max(s.peak.Load(), m.used))
	peak := s.peak.Load()
	limit, _ := strconv.ParseUint(s.param("maxmemory"), 10, 64)
	lines := sizes("used_memory", m.used)
	lines = append(lines, sizes("used_memory_rss", m.resident)...)
	lines = append(lines, sizes("used_memory_peak", peak)...)
	lines = append(lines, fmt.Sprintf("used_memory_peak_perc:%.2f%%", 100*ratio(m.used, peak)), field("used_memory_startup", s.atStart),
		field("allocator_allocated", m.used), field("allocator_active", m.active), field("allocator_resident", m.mapped), field("allocator_muzzy", 0))
	if all := systemMemory(); all > 0 {
		lines = append(lines, sizes("total_system_memory", all)...)
	}
	lines = append(lines, field("number_of_cached_scripts", s.config.Engine.CachedScripts()))
	lines = append(lines, sizes("maxmemory", limit)...)
	return append(lines, field("maxmemory_policy", s.param("maxmemory-policy")),
		fmt.Sprintf("allocator_frag_ratio:%.2f", ratio(m.active, m.used)), field("allocator_frag_bytes", m.active-m.used),
		fmt.Sprintf("allocator_rss_ratio:%.2f", ratio(m.mapped, m.active)), field("allocator_rss_bytes", int64(m.mapped)-int64(m.active)),
		fmt.Sprintf("rss_overhead_ratio:%.2f", ratio(m.resident, m.mapped)), field("rss_overhead_bytes", int64(m.resident)-int64(m.mapped)),
		fmt.Sprintf("mem_fragmentation_ratio:%.2f", ratio(m.resident, m.used)), field("mem_fragmentation_bytes", int64(m.resident)-int64(m.used)),
		field("mem_not_counted_for_evict", 0), field("mem_replication_backlog", 0), field("mem_total_replication_buffers", 0),
		field("mem_replica_full_sync_buffer", 0), field("mem_clients_slaves", 0), field("mem_cluster_links", 0), field("mem_aof_buffer", 0),
		field("mem_allocator", "go"), field("mem_overhead_db_hashtable_rehashing", 0), field("active_defrag_running", 0),
		field("lazyfree_pending_objects", 0), field("lazyfreed_objects", 0))
}

// tenantMemory returns the size of a tenant's data in its file. The memory of the process is shared by all tenants.
func (s *Server) tenantMemory() []string {
	used, _, err := s.config.Engine.Used(context.Background())
	if err != nil {
		used = 0
	}
	limit, _ := strconv.ParseUint(s.param("maxmemory"), 10, 64)
	lines := append(sizes("used_memory", uint64(used)), field("number_of_cached_scripts", s.config.Engine.CachedScripts()))
	lines = append(lines, sizes("maxmemory", limit)...)
	return append(lines, field("maxmemory_policy", s.param("maxmemory-policy")), field("mem_allocator", "sqlite"))
}

// memoryUse holds the memory of the process, in bytes.
type memoryUse struct {
	used     uint64 // heap objects
	active   uint64 // heap spans that have objects
	mapped   uint64 // mapped by the Go runtime, without released memory
	resident uint64 // resident set; equal to mapped if unknown
}

func readMemory() memoryUse {
	names := []string{
		"/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes",
		"/memory/classes/total:bytes", "/memory/classes/heap/released:bytes",
	}
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	n := func(i int) uint64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return samples[i].Value.Uint64()
	}
	m := memoryUse{used: n(0), active: n(0) + n(1), mapped: n(2) - n(3)}
	if m.resident = residentMemory(); m.resident == 0 {
		m.resident = m.mapped
	}
	return m
}

func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// sizes returns two lines of INFO: a size in bytes and its readable form.
func sizes(name string, n uint64) []string {
	return []string{field(name, n), field(name+"_human", human(n))}
}

// human formats bytes like INFO: 1.50M.
func human(n uint64) string {
	size, unit := float64(n), 0
	for ; size >= 1024 && unit < 4; unit++ {
		size /= 1024
	}
	if unit == 0 {
		return strconv.FormatUint(n, 10) + "B"
	}
	return fmt.Sprintf("%.2f%c", size, "BKMGT"[unit])
}
