package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/meowdis/meowdis/engine/metrics"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// StoreFigures holds the store's numbers for the metrics page.
type StoreFigures struct {
	File, Log                 int64 // bytes
	Commits, Reads, Abandoned int64
}

// metric describes a number of the metrics page. Its value is computed for each request.
type metric struct {
	name, help, kind string
	value            func(*Server) float64
}

// intValue converts a func that returns an integer.
func intValue[T int | int64 | uint64](f func(*Server) T) func(*Server) float64 {
	return func(s *Server) float64 { return float64(f(s)) }
}

// simpleMetrics have one value.
var simpleMetrics = []metric{
	{"connected_clients", "Open RESP connections.", gauge, func(s *Server) float64 { return float64(len(s.all())) }},
	{"connections_total", "RESP connections accepted.", counter, intValue(func(s *Server) int64 { return s.counts.connections.Load() })},
	{"connections_rejected_total", "RESP connections refused over the limit.", counter, intValue(func(s *Server) int64 { return s.counts.rejected.Load() })},
	{"rest_requests_total", "REST requests.", counter, intValue(func(s *Server) uint64 { return s.requests.Load() })},
	{"received_bytes_total", "Bytes received from clients.", counter, intValue(func(s *Server) uint64 { return s.traffic.in.Load() })},
	{"sent_bytes_total", "Bytes sent to clients.", counter, intValue(func(s *Server) uint64 { return s.traffic.out.Load() })},
	{"keyspace_hits_total", "Reads that found their key.", counter, intValue(func(s *Server) uint64 { hits, _ := s.tally.Lookups(); return hits })},
	{"keyspace_misses_total", "Reads that did not find their key.", counter, intValue(func(s *Server) uint64 { _, misses := s.tally.Lookups(); return misses })},
	{"expired_keys_total", "Expired keys removed.", counter, intValue(func(s *Server) int64 { keys, _ := s.config.Engine.Expired(); return keys })},
	{"request_memory_bytes", "Memory held by requests and their replies.", gauge, intValue(func(s *Server) int64 { return s.memory.Used() })},
	{"request_memory_limit_bytes", "Limit of meowdis_request_memory_bytes.", gauge, intValue(func(s *Server) int64 { return s.config.MaxMemory })},
	{"saves_total", "Successful SAVE and BGSAVE.", counter, intValue(func(s *Server) int64 { saves := s.saves.snapshot(); return saves.count })},
	{"last_save_timestamp_seconds", "Time of the last successful save, or of the server's start.", gauge, intValue(func(s *Server) int64 { saves := s.saves.snapshot(); return saves.last.Unix() })},
	{"last_save_failed", "1 if the last SAVE or BGSAVE failed.", gauge, intValue(func(s *Server) int {
		if saves := s.saves.snapshot(); saves.failed {
			return 1
		}
		return 0
	})},
	{"writable", "1 while writes are accepted.", gauge, func(s *Server) float64 {
		if s.config.Writable != nil && s.config.Writable() != nil {
			return 0
		}
		return 1
	}},
}

// storeMetrics describe the store of a server without tenants.
var storeMetrics = []metric{
	{"file_bytes", "Size of the file.", gauge, intValue(func(s *Server) int64 { return s.store().File })},
	{"wal_bytes", "Size of the WAL.", gauge, intValue(func(s *Server) int64 { return s.store().Log })},
	{"commits_total", "Committed transactions.", counter, intValue(func(s *Server) int64 { return s.store().Commits })},
	{"store_reads_total", "Groups of reads run by SQLite. Reads served from the row cache are not counted.", counter, intValue(func(s *Server) int64 { return s.store().Reads })},
	{"abandoned_total", "Requests abandoned without effect.", counter, intValue(func(s *Server) int64 { return s.store().Abandoned })},
}

// tenantMetrics describe a server with tenants.
var tenantMetrics = []metric{
	{"tenants_open", "Open tenant files.", gauge, intValue(func(s *Server) int { return s.config.Tenants().Open })},
	{"tenants_clients", "RESP connections and running REST requests of tenants.", gauge, intValue(func(s *Server) int { return s.config.Tenants().Clients })},
	{"tenants_opened_total", "Tenant files opened.", counter, intValue(func(s *Server) int64 { return s.config.Tenants().Opened })},
	{"tenants_failed_total", "Tenant files that failed to open.", counter, intValue(func(s *Server) int64 { return s.config.Tenants().Failed })},
	{"tenants_crowded_total", "Commands that failed because too many tenant files were in use.", counter, intValue(func(s *Server) int64 { return s.config.Tenants().Crowded })},
}

func (s *Server) store() StoreFigures {
	if s.config.StoreFigures == nil {
		return StoreFigures{}
	}
	return s.config.StoreFigures()
}

// snapshot copies the counters.
func (s *saves) snapshot() (t struct {
	count  int64
	last   time.Time
	failed bool
}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.count, t.last, t.failed = s.count, s.last, s.failed
	return t
}

// families returns all metrics with their current values.
func (s *Server) families() []family {
	var all []family
	simple := append(slices.Clone(simpleMetrics), storeMetrics...)
	if s.config.Tenants != nil {
		simple = append(slices.Clone(simpleMetrics), tenantMetrics...)
	}
	now := s.throughPlace()
	if now.Stream != nil {
		simple = append(simple, streamMetrics...)
	}
	if now.Following != nil {
		simple = append(simple, followingMetrics...)
	}
	if now.Lease != nil {
		simple = append(simple, leaseMetrics...)
	}
	for _, m := range simple {
		all = append(all, family{"meowdis_" + m.name, m.help, m.kind, []sample{{value: m.value(s)}}})
	}
	all = append(all, s.commandFamilies()...)
	errs := family{name: "meowdis_errors_total", help: "Error replies by their first word.", kind: counter}
	kinds, _ := s.tally.Errors()
	for _, kind := range kinds {
		errs.add(float64(kind.Count), "kind", kind.Kind)
	}
	all = append(all, errs)
	if s.config.Tenants == nil { // with tenants, these would be keys of the registry
		keys, counts := family{name: "meowdis_keys", help: "Keys, without expired ones.", kind: gauge}, s.keys()
		for _, db := range slices.Sorted(maps.Keys(counts)) {
			keys.add(float64(counts[db]), "db", strconv.Itoa(db))
		}
		all = append(all, keys)
	}
	return append(all, s.processFamilies()...)
}

// commandFamilies returns call counts per command and durations per group.
func (s *Server) commandFamilies() []family {
	calls := family{name: "meowdis_commands_total", help: "Commands that ran.", kind: counter}
	failures := family{name: "meowdis_command_failures_total", help: "Commands that ran and replied with an error.", kind: counter}
	refusals := family{name: "meowdis_command_rejections_total", help: "Commands refused before they ran.", kind: counter}
	durations := family{name: "meowdis_command_duration_seconds", help: "Duration of commands, without waiting.", kind: histogram}
	groups := map[string]*durationCounts{}
	for _, stat := range s.tally.Stats() {
		name, group := stat.Command.WireName(), stat.Command.Group
		calls.add(float64(stat.Calls), "command", name, "family", group)
		failures.add(float64(stat.Failed), "command", name, "family", group)
		refusals.add(float64(stat.Rejected), "command", name, "family", group)
		if groups[group] == nil {
			groups[group] = &durationCounts{within: make([]uint64, len(timeClasses))}
		}
		groups[group].add(stat)
	}
	bounds := make([]float64, len(timeClasses))
	for i, end := range timeClasses {
		bounds[i] = float64(end) / 1e6
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		t := groups[group]
		durations.distribution(bounds, t.within, t.count, t.sum, "family", group)
	}
	return []family{calls, failures, refusals, durations}
}

// processFamilies returns the process metrics under the names of Prometheus's client libraries.
func (s *Server) processFamilies() []family {
	memory := readMemory()
	one := func(name, help, kind string, value float64) family {
		return family{name, help, kind, []sample{{value: value}}}
	}
	all := []family{
		one("go_goroutines", "Goroutines.", gauge, float64(runtime.NumGoroutine())),
		one("go_memstats_heap_alloc_bytes", "Bytes of heap objects.", gauge, float64(memory.used)),
		one("go_memstats_heap_inuse_bytes", "Bytes of heap spans that have objects.", gauge, float64(memory.active)),
		one("process_resident_memory_bytes", "Resident memory of the process.", gauge, float64(memory.resident)),
		one("process_start_time_seconds", "Start time of the process.", gauge, float64(s.since.UnixMilli())/1e3),
	}
	if user, system, ok := processorTime(); ok {
		all = append(all, one("process_cpu_seconds_total", "CPU time.", counter, (user+system).Seconds()))
	}
	if n, ok := openFiles(); ok {
		all = append(all, one("process_open_fds", "Open file descriptors.", gauge, float64(n)))
	}
	return all
}

// durationCounts holds the duration histogram of a group.
type durationCounts struct {
	within []uint64 // cumulative counts per class
	count  uint64
	sum    float64
}

// Upper bounds of the histogram's classes in µs, equal to bounds of LATENCY HISTOGRAM.
var timeClasses = []int64{8, 33, 131, 528, 2113, 8454, 33816, 135266, 541065}

func (t *durationCounts) add(s metrics.Stat) {
	if !s.Tracked() {
		return
	}
	bars, within, at := s.Bars(), uint64(0), 0
	for i, end := range timeClasses {
		for ; at < len(bars) && bars[at].Micros <= end; at++ {
			within = uint64(bars[at].Calls)
		}
		t.within[i] += within
	}
	t.count += s.Calls
	t.sum += s.Took.Seconds()
}

// keysTime limits counting the keys.
const keysTime = 5 * time.Second

// keys returns the number of keys of each nonempty database.
func (s *Server) keys() map[int]int64 {
	session := s.config.Engine.Session()
	defer session.Release()
	ctx, cancel := context.WithTimeout(context.Background(), keysTime)
	defer cancel()
	counts := map[int]int64{}
	for db := range commands.Databases {
		session.Select(db)
		if v, err := session.Do(ctx, []byte("DBSIZE")); err == nil && v.Kind == resp.Int && v.Int > 0 {
			counts[db] = v.Int
		}
	}
	return counts
}

// metricsAtOnce limits the metrics pages that are built at the same time. Further requests wait.
const metricsAtOnce = 3

// newMetrics returns the handler of the metrics page, for Prometheus. It reads all numbers on request, so commands pay
// nothing for it.
func (s *Server) newMetrics() http.Handler {
	slots := make(chan struct{}, metricsAtOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-r.Context().Done():
			return
		}
		var page []byte
		for _, f := range s.families() {
			page = f.appendTo(page)
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		if _, err := w.Write(page); err != nil {
			return // the client hung up
		}
	})
}

// ServeMetrics serves /metrics and /healthz on ln without a token until ctx is done, and closes ln.
func (s *Server) ServeMetrics(ctx context.Context, ln net.Listener) error {
	pages := http.NewServeMux()
	pages.Handle("GET /metrics", s.metrics)
	pages.HandleFunc("GET /healthz", s.Health)
	web := &http.Server{Handler: pages, ReadTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, WriteTimeout: time.Minute, MaxHeaderBytes: maxHeader}
	defer context.AfterFunc(ctx, func() { web.Close() })()
	if err := web.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving metrics: %w", err)
	}
	return nil
}
