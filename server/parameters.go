package server

import (
	"math"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator"
)

// use says whether a parameter can change, and whether it has an effect.
type use int

const (
	applied   use = iota // CONFIG SET changes it, and Server.take applies it
	stored               // CONFIG SET and the file change it, without effect
	fromFile             // the file changes it, without effect; immutable in Redis, too
	pinned               // settable in Redis, immutable here
	fact                 // immutable in Redis, too, and not read from the file
	protected            // like Redis's protected parameters
)

// spec describes a parameter.
type spec struct {
	check   setting
	use     use
	initial string // default of a parameter that parameters does not list
}

// settable reports whether CONFIG SET can change the parameter.
func (p spec) settable() bool { return p.use == applied || p.use == stored }

// specs returns the parameters of Redis 8.0.2 by their current names, plus timeLimit.
var specs = sync.OnceValue(func() map[string]spec {
	all := map[string]spec{}
	add := func(u use, check setting, names ...string) {
		for _, line := range names {
			name, initial, _ := strings.Cut(line, " ")
			all[name] = spec{check, u, initial}
		}
	}
	count, long, index, port := number(0, math.MaxInt32), number(0, math.MaxInt64), number(math.MinInt32, math.MaxInt32), number(0, math.MaxUint16)
	local := oneOf("no", "yes", "local")
	shutdown := oneOf("default", "save", "nosave", "now", "force")

	add(applied, yesNo, "latency-tracking", "protected-mode")
	add(applied, long, "slowlog-max-len", "latency-monitor-threshold", "busy-reply-threshold", "tracking-table-max-keys", "acllog-max-len",
		"hash-max-listpack-entries", "set-max-intset-entries", "set-max-listpack-entries", "set-max-listpack-value",
		"zset-max-listpack-entries", "stream-node-max-entries")
	add(applied, memory, "hash-max-listpack-value", "zset-max-listpack-value", "hll-sparse-max-bytes", "stream-node-max-bytes")
	add(applied, count, timeLimit, "timeout", "tcp-keepalive")
	add(applied, number(-1, math.MaxInt64), "slowlog-log-slower-than")
	add(applied, index, "list-max-listpack-size")
	add(applied, number(1, math.MaxUint32), "maxclients")
	add(applied, atLeast(1<<20, atMost(resp.MaxBulk, memory)), "proto-max-bulk-len")
	add(applied, atLeast(1<<20, memory), "client-query-buffer-limit")
	add(applied, anything, "client-output-buffer-limit") // mergeOutputs
	add(applied, anything, "requirepass")
	add(applied, eventClasses, eventsParameter)
	add(applied, checkPercentiles, "latency-tracking-info-percentiles")
	add(applied, bigMemory, "maxmemory")
	add(applied, policy, "maxmemory-policy")
	add(applied, oneOf("allchannels", "resetchannels"), "acl-pubsub-default")

	add(stored, yesNo, "appendonly", "rdbcompression", "stop-writes-on-bgsave-error", "activerehashing", "dynamic-hz",
		"lazyfree-lazy-eviction", "lazyfree-lazy-expire", "lazyfree-lazy-server-del", "lazyfree-lazy-user-del", "lazyfree-lazy-user-flush",
		"activedefrag no", "aof-load-truncated yes", "aof-rewrite-incremental-fsync yes", "aof-timestamp-enabled no", "aof-use-rdb-preamble yes",
		"cluster-allow-pubsubshard-when-down yes", "cluster-allow-reads-when-down no", "cluster-allow-replica-migration yes",
		"cluster-replica-no-failover no", "cluster-require-full-coverage yes", "crash-log-enabled yes", "crash-memcheck-enabled yes",
		"hide-user-data-from-log no", "jemalloc-bg-thread yes", "no-appendfsync-on-rewrite no", "rdb-del-sync-files no",
		"rdb-save-incremental-fsync yes", "repl-disable-tcp-nodelay no", "repl-diskless-sync yes", "replica-announced yes",
		"replica-ignore-disk-write-errors no", "replica-ignore-maxmemory yes", "replica-lazy-flush no", "replica-read-only yes",
		"replica-serve-stale-data yes", "tls-cluster no", "tls-prefer-server-ciphers no", "tls-replication no", "tls-session-caching yes")
	add(stored, count, "lfu-decay-time", "lfu-log-factor", "list-compress-depth", "auto-aof-rewrite-percentage 100", "cluster-migration-barrier 1",
		"cluster-replica-validity-factor 10", "min-replicas-max-lag 10", "min-replicas-to-write 0", "repl-diskless-sync-delay 5",
		"repl-diskless-sync-max-replicas 0", "replica-priority 100", "shutdown-timeout 10", "tls-session-cache-size 20480", "tls-session-cache-timeout 300")
	add(stored, number(1, math.MaxInt32), "repl-ping-replica-period 10", "repl-timeout 60")
	add(stored, long, "cluster-node-timeout 15000", "repl-backlog-ttl 3600")
	add(stored, number(1, math.MaxInt64), "active-defrag-max-scan-fields 1000")
	add(stored, number(0, 1000), "active-defrag-threshold-lower 10", "active-defrag-threshold-upper 100")
	add(stored, number(1, 1000), "max-new-connections-per-cycle 10", "max-new-tls-connections-per-cycle 1")
	add(stored, number(0, 100), "maxmemory-eviction-tenacity", "cluster-compatibility-sample-ratio 0")
	add(stored, number(1, 99), "active-defrag-cycle-max 25", "active-defrag-cycle-min 1")
	add(stored, number(1, 64), "maxmemory-samples")
	add(stored, number(1, 10), "active-expire-effort")
	add(stored, clamped(1, 500, count), "hz")
	add(stored, port, "cluster-announce-bus-port 0", "cluster-announce-port 0", "cluster-announce-tls-port 0", "replica-announce-port 0")
	add(stored, memory, "auto-aof-rewrite-min-size 67108864", "replica-full-sync-buffer-limit 0")
	add(stored, atLeast(1, memory), "active-defrag-ignore-bytes 104857600")
	add(stored, clamped(16<<10, math.MaxInt64, atLeast(1, memory)), "repl-backlog-size 1048576")
	add(stored, bigMemory, "cluster-link-sendbuf-limit 0")
	add(stored, memoryOrPercent, "maxmemory-clients")
	add(stored, anything, "bind-source-addr", "cluster-announce-ip", "ignore-warnings", "masterauth", "masteruser", "replica-announce-ip",
		"tls-ca-cert-dir", "tls-ciphers", "tls-ciphersuites", "tls-client-cert-file", "tls-client-key-file", "tls-client-key-file-pass",
		"tls-dh-params-file", "tls-key-file-pass", "tls-protocols")
	add(stored, hostname, "cluster-announce-hostname")
	add(stored, nodeName, "cluster-announce-human-nodename")
	add(stored, titleTemplate, "proc-title-template {title} {listen-addr} {server-mode}")
	add(stored, oomScores, "oom-score-adj-values 0 200 800")
	add(stored, collation, "locale-collate")
	add(stored, savePoints, "save")
	add(stored, shutdown, "shutdown-on-sigint default", "shutdown-on-sigterm default")
	add(stored, oneOf("everysec", "always", "no"), "appendfsync")
	add(stored, oneOf("debug", "verbose", "notice", "warning", "nothing"), "loglevel")
	add(stored, oneOf("disabled", "on-empty-db", "swapdb"), "repl-diskless-load disabled")
	add(stored, oneOf("ignore", "panic", "panic-on-replicas"), "propagation-error-behavior ignore")
	add(stored, oneOf("ip", "hostname", "unknown-endpoint"), "cluster-preferred-endpoint-type ip")
	add(stored, oneOf("no", "yes", "clients"), "sanitize-dump-payload")
	add(stored, oneOf("no", "yes", "relative", "absolute"), "oom-score-adj no")

	addModules(add)

	add(fromFile, yesNo, "always-show-logo no", "daemonize", "disable-thp yes", "rdbchecksum", "set-proc-title yes", "syslog-enabled no")
	add(fromFile, anything, "aof-rewrite-cpulist", "bgsave-cpulist", "bio-cpulist", "server-cpulist", "cluster-config-file nodes.conf",
		"logfile", "pidfile", "syslog-ident redis")
	add(fromFile, baseName("appenddirname", "dirname"), "appenddirname appendonlydir")
	add(fromFile, baseName("appendfilename", "filename"), "appendfilename appendonly.aof")
	add(fromFile, port, "cluster-port 0")
	add(fromFile, number(1, 128), "io-threads")
	add(fromFile, number(0, math.MaxUint32), "socket-mark-id 0")
	add(fromFile, count, "tcp-backlog 511")
	add(fromFile, oneOf("upstart", "systemd", "auto", "no"), "supervised")
	add(fromFile, oneOf("user", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"), "syslog-facility local0")

	add(pinned, anything, "bind", "tls-cert-file", "tls-key-file", "tls-ca-cert-file")
	add(pinned, port, "port", "tls-port 0")
	add(pinned, oneOf("no", "yes", "optional"), "tls-auth-clients yes")

	add(fact, number(1, math.MaxInt32), "databases")
	add(fact, yesNo, "cluster-enabled")
	add(fact, local, "enable-debug-command", "enable-module-command no", "enable-protected-configs no")
	add(fact, anything, "aclfile", "replicaof", "unixsocket", "unixsocketperm 0")
	add(protected, anything, "dir", "dbfilename")
	return all
})

// addModules adds the parameters of Redis's modules.
func addModules(add func(u use, check setting, names ...string)) {
	expansion := number(0, 32768)
	add(applied, rate, "bf-error-rate 0.01")
	add(applied, number(1, 1<<30), "bf-initial-size 100")
	add(applied, expansion, "bf-expansion-factor 2", "cf-expansion-factor 1")
	add(applied, number(1, math.MaxUint8), "cf-bucket-size 2")
	add(applied, number(4, 1<<30), "cf-initial-size 1024")
	add(applied, number(1, math.MaxUint16), "cf-max-iterations 20")
	add(applied, number(1, 1<<16), "cf-max-expansions 32")
	add(applied, number(0, math.MaxInt64), "ts-retention-policy 0", "ts-ignore-max-time-diff 0")
	add(applied, chunkSize, "ts-chunk-size-bytes 4096")
	add(applied, oneOf("compressed", "uncompressed"), "ts-encoding compressed")
	add(applied, oneOf("block", "first", "last", "min", "max", "sum"), "ts-duplicate-policy block")
	add(applied, nonNegative, "ts-ignore-max-val-diff 0")
	add(applied, compactionPolicy, "ts-compaction-policy")
	add(fact, number(1, 16), "ts-num-threads 3")
	translator.SearchParameters(func(name, initial string, fixed bool) {
		u := applied
		if fixed {
			u = fact
		}
		add(u, func(value string) (normal, why string) {
			if !translator.ValidSearchParameter(name, value) {
				return "", "argument has an invalid value"
			}
			return value, ""
		}, name+" "+initial)
	})
}

// aliases maps old names of parameters to the current ones.
var aliases = map[string]string{
	"hash-max-ziplist-entries": "hash-max-listpack-entries", "hash-max-ziplist-value": "hash-max-listpack-value",
	"zset-max-ziplist-entries": "zset-max-listpack-entries", "zset-max-ziplist-value": "zset-max-listpack-value",
	"list-max-ziplist-size": "list-max-listpack-size", "lua-time-limit": "busy-reply-threshold",
	"aof_rewrite_cpulist": "aof-rewrite-cpulist", "bgsave_cpulist": "bgsave-cpulist", "bio_cpulist": "bio-cpulist", "server_cpulist": "server-cpulist",
	"cluster-slave-no-failover": "cluster-replica-no-failover", "cluster-slave-validity-factor": "cluster-replica-validity-factor",
	"min-slaves-max-lag": "min-replicas-max-lag", "min-slaves-to-write": "min-replicas-to-write",
	"repl-ping-slave-period": "repl-ping-replica-period", "slave-announce-ip": "replica-announce-ip", "slave-announce-port": "replica-announce-port",
	"slave-ignore-maxmemory": "replica-ignore-maxmemory", "slave-lazy-flush": "replica-lazy-flush", "slave-priority": "replica-priority",
	"slave-read-only": "replica-read-only", "slave-serve-stale-data": "replica-serve-stale-data", "slaveof": "replicaof",
}

// valueIn returns the value of a parameter, or its default if params lacks it.
func valueIn(params map[string]string, name string) string {
	if value, has := params[name]; has {
		return value
	}
	return specs()[name].initial
}
