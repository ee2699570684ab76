package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/tally"
)

// StoreFigures are what the metrics tell of the store.
type StoreFigures struct {
	File, Log                 int64 // bytes
	Commits, Reads, Abandoned int64
}

// metric is a number of the metrics page, read when it is asked for.
type metric struct {
	name, help string
	kind       prometheus.ValueType
	value      func(*Server) float64
}

// of makes a metric's function of that of a whole number.
func of[T int | int64 | uint64](f func(*Server) T) func(*Server) float64 {
	return func(s *Server) float64 { return float64(f(s)) }
}

const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
)

// simpleMetrics are those that have one value.
var simpleMetrics = []metric{
	{"connected_clients", "Connections over RESP.", gauge, func(s *Server) float64 { return float64(len(s.all())) }},
	{"connections_total", "Connections over RESP that were let in.", counter, of(func(s *Server) int64 { return s.counts.connections.Load() })},
	{"connections_rejected_total", "Connections over RESP for which there was no room.", counter, of(func(s *Server) int64 { return s.counts.rejected.Load() })},
	{"rest_requests_total", "Requests over REST.", counter, of(func(s *Server) uint64 { return s.requests.Load() })},
	{"received_bytes_total", "Bytes from clients.", counter, of(func(s *Server) uint64 { return s.traffic.in.Load() })},
	{"sent_bytes_total", "Bytes to clients.", counter, of(func(s *Server) uint64 { return s.traffic.out.Load() })},
	{"keyspace_hits_total", "Reads that found their key.", counter, of(func(s *Server) uint64 { hits, _ := s.tally.Lookups(); return hits })},
	{"keyspace_misses_total", "Reads that did not find their key.", counter, of(func(s *Server) uint64 { _, misses := s.tally.Lookups(); return misses })},
	{"expired_keys_total", "Keys that expired and were removed.", counter, of(func(s *Server) int64 { keys, _ := s.config.Engine.Expired(); return keys })},
	{"request_memory_bytes", "What requests and their replies hold now.", gauge, of(func(s *Server) int64 { return s.memory.Used() })},
	{"request_memory_limit_bytes", "What they may hold.", gauge, of(func(s *Server) int64 { return s.config.MaxMemory })},
	{"saves_total", "SAVE and BGSAVE that went well.", counter, of(func(s *Server) int64 { saves := s.saves.told(); return saves.count })},
	{"last_save_timestamp_seconds", "When the last one went well, or the server began.", gauge, of(func(s *Server) int64 { saves := s.saves.told(); return saves.last.Unix() })},
	{"last_save_failed", "1 after a SAVE or BGSAVE that failed.", gauge, of(func(s *Server) int {
		if saves := s.saves.told(); saves.failed {
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

// storeMetrics are those of the one store of a server without tenants.
var storeMetrics = []metric{
	{"file_bytes", "The size of the file.", gauge, of(func(s *Server) int64 { return s.store().File })},
	{"wal_bytes", "The size of the log beside the file.", gauge, of(func(s *Server) int64 { return s.store().Log })},
	{"commits_total", "Transactions that were committed.", counter, of(func(s *Server) int64 { return s.store().Commits })},
	{"store_reads_total", "Groups of reads that SQLite carried out; others found their rows in memory.", counter, of(func(s *Server) int64 { return s.store().Reads })},
	{"abandoned_total", "Requests that were given up without a trace.", counter, of(func(s *Server) int64 { return s.store().Abandoned })},
}

// tenantMetrics are those of a server with tenants.
var tenantMetrics = []metric{
	{"tenants_open", "Files of tenants that are open.", gauge, of(func(s *Server) int { return s.config.Tenants().Open })},
	{"tenants_clients", "Connections of tenants over RESP, and requests over REST that run.", gauge, of(func(s *Server) int { return s.config.Tenants().Clients })},
	{"tenants_opened_total", "Times that a file of a tenant was opened.", counter, of(func(s *Server) int64 { return s.config.Tenants().Opened })},
	{"tenants_failed_total", "Times that a file of a tenant could not be opened.", counter, of(func(s *Server) int64 { return s.config.Tenants().Failed })},
	{"tenants_crowded_total", "Commands that failed since too many files were in use.", counter, of(func(s *Server) int64 { return s.config.Tenants().Crowded })},
}

func (s *Server) store() StoreFigures {
	if s.config.StoreFigures == nil {
		return StoreFigures{}
	}
	return s.config.StoreFigures()
}

// told is a copy of what is known of saves.
func (s *saves) told() (t struct {
	count  int64
	last   time.Time
	failed bool
}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.count, t.last, t.failed = s.count, s.last, s.failed
	return t
}

func description(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("meowdis_"+name, help, labels, nil)
}

var (
	commandCalls    = description("commands_total", "Commands that ran.", "command", "family")
	commandFailures = description("command_failures_total", "Commands that ran and answered with an error.", "command", "family")
	commandRefusals = description("command_rejections_total", "Commands that were refused before they ran.", "command", "family")
	commandTimes    = description("command_duration_seconds", "How long commands took, without waiting for their turn.", "family")
	errorReplies    = description("errors_total", "Error replies by their first word.", "kind")
	keysOf          = description("keys", "Keys that have not expired.", "db")
)

// collector reads a server's numbers when the metrics are asked for, so that commands pay
// nothing for them.
type collector struct{ server *Server }

// Describe promises nothing: which commands and databases there are shows later.
func (collector) Describe(chan<- *prometheus.Desc) {}

func (c collector) Collect(ch chan<- prometheus.Metric) {
	metrics := append(slices.Clone(simpleMetrics), storeMetrics...)
	if c.server.config.Tenants != nil {
		metrics = append(slices.Clone(simpleMetrics), tenantMetrics...)
	}
	for _, m := range metrics {
		ch <- prometheus.MustNewConstMetric(description(m.name, m.help), m.kind, m.value(c.server))
	}
	families := map[string]*times{}
	for _, stat := range c.server.tally.Stats() {
		name, family := stat.Command.WireName(), stat.Command.Group
		for desc, n := range map[*prometheus.Desc]uint64{commandCalls: stat.Calls, commandFailures: stat.Failed, commandRefusals: stat.Rejected} {
			ch <- prometheus.MustNewConstMetric(desc, counter, float64(n), name, family)
		}
		if families[family] == nil {
			families[family] = &times{buckets: map[float64]uint64{}}
		}
		families[family].add(stat)
	}
	for family, t := range families {
		ch <- prometheus.MustNewConstHistogram(commandTimes, t.count, t.sum, t.buckets, family)
	}
	kinds, _ := c.server.tally.Errors()
	for _, kind := range kinds {
		ch <- prometheus.MustNewConstMetric(errorReplies, counter, float64(kind.Count), kind.Kind)
	}
	if c.server.config.Tenants != nil { // the keys are those of the list of tenants
		return
	}
	for db, n := range c.server.keys() {
		ch <- prometheus.MustNewConstMetric(keysOf, gauge, float64(n), strconv.Itoa(db))
	}
}

// times is the histogram of a family.
type times struct {
	count   uint64
	sum     float64
	buckets map[float64]uint64
}

// The histogram's classes end at these µs, where those of LATENCY HISTOGRAM do.
var timeClasses = []int64{8, 33, 131, 528, 2113, 8454, 33816, 135266, 541065}

func (t *times) add(s tally.Stat) {
	if !s.Tracked() {
		return
	}
	bars, within, at := s.Bars(), uint64(0), 0
	for _, end := range timeClasses {
		for ; at < len(bars) && bars[at].Micros <= end; at++ {
			within = uint64(bars[at].Calls)
		}
		t.buckets[float64(end)/1e6] += within
	}
	t.count += s.Calls
	t.sum += s.Took.Seconds()
}

// keysTime is how long counting the keys may take.
const keysTime = 5 * time.Second

// keys counts the keys of each database that has any.
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

// newMetrics is the page of the metrics, for Prometheus.
func (s *Server) newMetrics() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{s}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 3})
}

// ServeMetrics serves /metrics and /healthz on ln, without a token, until ctx is done, and
// closes it.
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
