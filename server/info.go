package server

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/meowdis/meowdis/engine/metrics"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/translator"
)

// facts returns the lines of an INFO section that only the server knows, in Redis's order. It is the engine's
// translator.Facts. It omits fields about an event loop, a fork or an allocator, which do not exist here.
func (s *Server) facts(section string) (lines []string, ok bool) {
	about := infoSections[section]
	if about == nil {
		return nil, false
	}
	return about(s), true
}

var infoSections = map[string]func(*Server) []string{
	"Server": (*Server).serverInfo, "Clients": (*Server).clientsInfo, "Memory": (*Server).memoryInfo,
	"Persistence": (*Server).persistenceInfo,
	"Stats":       (*Server).statsInfo, "Replication": (*Server).replicationInfo, "CPU": (*Server).processorInfo,
	"Cluster": (*Server).clusterInfo, "Commandstats": (*Server).commandInfo, "Errorstats": (*Server).errorInfo, "Latencystats": (*Server).latencyInfo,
}

// field returns a line of INFO.
func field(name string, value any) string { return fmt.Sprint(name, ":", value) }

func (s *Server) serverInfo() []string {
	now := time.Now()
	up := int64(now.Sub(s.since).Seconds())
	executable, _ := os.Executable()
	lines := append(translator.ServerLines(now.UnixMicro(), s.mode()),
		field("redis_git_sha1", "00000000"), field("redis_git_dirty", 0), field("redis_build_id", strings.Repeat("0", 16)))
	if s.config.Within != nil {
		return append(lines, field("run_id", s.runID), field("uptime_in_seconds", up), field("uptime_in_days", up/(24*60*60)))
	}
	lines = append(lines, field("os", systemName()), field("monotonic_clock", "POSIX clock_gettime"), field("multiplexing_api", multiplexing),
		field("process_id", os.Getpid()), field("process_supervised", "no"), field("run_id", s.runID), field("tcp_port", s.param("port")),
		field("uptime_in_seconds", up), field("uptime_in_days", up/(24*60*60)),
		field("hz", s.param("hz")), field("configured_hz", s.param("hz")), field("lru_clock", now.Unix()&(1<<24-1)),
		field("executable", executable), field("config_file", s.config.ConfigFile), field("io_threads_active", 0))
	for i, l := range s.listening() {
		lines = append(lines, fmt.Sprintf("listener%d:%s", i, l))
	}
	return lines
}

func (s *Server) clientsInfo() []string {
	clients := s.all()
	watching, watched, listeners := 0, 0, 0
	for _, c := range clients {
		if listening(s.hub.CountsOf(&c.inbox)) {
			listeners++
		}
		if n := c.watched(); n > 0 {
			watching++
			watched += n
		}
	}
	blocked, keys, missing := s.config.Engine.Blocked()
	return []string{
		field("connected_clients", len(clients)), field("cluster_connections", 0), field("maxclients", s.param("maxclients")),
		field("blocked_clients", blocked), field("tracking_clients", s.tracks.Counts().Clients), field("pubsub_clients", listeners), field("watching_clients", watching),
		field("clients_in_timeout_table", 0), field("total_watched_keys", watched),
		field("total_blocking_keys", keys), field("total_blocking_keys_on_nokey", missing),
	}
}

func (s *Server) statsInfo() []string {
	calls, in, out := s.tally.Calls(), s.traffic.in.Load(), s.traffic.out.Load()
	pace := s.rates.update(s.since, time.Now(), [3]uint64{calls, in, out})
	hits, misses := s.tally.Lookups()
	_, failures := s.tally.Errors()
	keys, fields := s.config.Engine.Expired()
	topics := s.hub.Topics()
	kbps := func(perSecond float64) string { return fmt.Sprintf("%.2f", perSecond/1024) }
	lines := []string{
		field("total_connections_received", s.counts.connections.Load()), field("total_commands_processed", calls),
		fmt.Sprintf("instantaneous_ops_per_sec:%.0f", pace[0]),
		field("total_net_input_bytes", in), field("total_net_output_bytes", out),
		field("total_net_repl_input_bytes", 0), field("total_net_repl_output_bytes", 0),
		field("instantaneous_input_kbps", kbps(pace[1])), field("instantaneous_output_kbps", kbps(pace[2])),
		field("instantaneous_input_repl_kbps", kbps(0)), field("instantaneous_output_repl_kbps", kbps(0)),
		field("rejected_connections", s.counts.rejected.Load()),
		field("sync_full", s.syncs.Load()), field("sync_partial_ok", s.replication.partial.Load()), field("sync_partial_err", s.replication.partialFailed.Load()),
		field("expired_subkeys", fields), field("expired_keys", keys), field("evicted_keys", s.config.Engine.Evicted()), field("evicted_clients", 0),
		field("evicted_scripts", s.config.Engine.EvictedScripts()), field("total_eviction_exceeded_time", 0), field("current_eviction_exceeded_time", 0),
		field("keyspace_hits", hits), field("keyspace_misses", misses),
		field("pubsub_channels", topics[pubsub.Channel]), field("pubsub_patterns", topics[pubsub.Pattern]), field("pubsubshard_channels", topics[pubsub.Shard]),
		field("latest_fork_usec", 0), field("total_forks", 0), field("migrate_cached_sockets", 0), field("slave_expires_tracked_keys", 0),
	}
	for _, name := range zeroStats {
		lines = append(lines, field(name, 0))
	}
	tracks := s.tracks.Counts()
	lines = append(lines,
		field("tracking_total_keys", tracks.Keys), field("tracking_total_items", tracks.Items), field("tracking_total_prefixes", tracks.Prefixes),
		field("unexpected_error_replies", 0), field("total_error_replies", failures), field("dump_payload_sanitizations", 0),
		field("total_reads_processed", s.traffic.reads.Load()), field("total_writes_processed", s.traffic.writes.Load()),
		field("io_threaded_reads_processed", 0), field("io_threaded_writes_processed", 0),
		field("client_query_buffer_limit_disconnections", s.counts.longQueries.Load()),
		field("client_output_buffer_limit_disconnections", s.counts.fullOutputs.Load()),
		field("eventloop_duration_cmd_sum", s.tally.Took().Microseconds()))
	for _, r := range []struct {
		name   string
		reason acl.Reason
	}{{"auth", acl.ByPassword}, {"cmd", acl.ByCommand}, {"key", acl.ByKey}, {"channel", acl.ByChannel}} {
		lines = append(lines, field("acl_access_denied_"+r.name, s.users.Log.Refused(r.reason)))
	}
	return lines
}

// zeroStats lists fields of Stats that are also 0 in a Redis without the feature.
var zeroStats = []string{
	"active_defrag_hits", "active_defrag_misses", "active_defrag_key_hits", "active_defrag_key_misses",
	"total_active_defrag_time", "current_active_defrag_time",
}

func (s *Server) replicationInfo() []string {
	role := []string{"role:master"}
	through := s.throughPlace()
	if now, ok := through.follows(); ok {
		role = s.followingInfo(now)
	}
	role = append(role, through.Lease.leaseInfo()...)
	return append(role, s.replication.info()...)
}

func (s *Server) clusterInfo() []string {
	if s.config.Cluster {
		return []string{"cluster_enabled:1"}
	}
	return []string{"cluster_enabled:0"}
}

func (s *Server) processorInfo() []string {
	user, system, ok := processorTime()
	if !ok || s.config.Within != nil {
		return []string{}
	}
	return []string{
		fmt.Sprintf("used_cpu_sys:%f", system.Seconds()), fmt.Sprintf("used_cpu_user:%f", user.Seconds()),
		"used_cpu_sys_children:0.000000", "used_cpu_user_children:0.000000",
	}
}

func (s *Server) commandInfo() (lines []string) {
	for _, c := range s.tally.Stats() {
		micros, each := c.Took.Microseconds(), 0.0
		if c.Calls > 0 {
			each = float64(micros) / float64(c.Calls)
		}
		lines = append(lines, fmt.Sprintf("cmdstat_%s:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
			c.Command.WireName(), c.Calls, micros, each, c.Rejected, c.Failed))
	}
	return lines
}

func (s *Server) errorInfo() (lines []string) {
	kinds, _ := s.tally.Errors()
	for _, k := range kinds {
		lines = append(lines, fmt.Sprintf("errorstat_%s:count=%d", k.Kind, k.Count))
	}
	return lines
}

func (s *Server) latencyInfo() (lines []string) {
	if s.param("latency-tracking") == "no" {
		return nil
	}
	percents := percentiles(s.param("latency-tracking-info-percentiles"))
	for _, c := range s.tally.Stats() {
		if !c.Tracked() {
			continue
		}
		var shown []string
		for i, ns := range c.Percentiles(percents) {
			shown = append(shown, fmt.Sprintf("%s=%.3f", metrics.PercentileName(percents[i]), float64(ns)/1000))
		}
		lines = append(lines, "latency_percentiles_usec_"+c.Command.WireName()+":"+strings.Join(shown, ","))
	}
	return lines
}

// systemName returns the operating system in INFO's form.
func systemName() string {
	if name := kernel(); name != "" {
		return name
	}
	return runtime.GOOS + " " + runtime.GOARCH
}
