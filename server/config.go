package server

import (
	"context"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/timeseries"
	"github.com/meowdis/meowdis/server/tracking"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// timeLimit names a parameter that Redis does not have: the time limit of one command, in ms.
const timeLimit = "command-time-limit"

// parameters returns the initial values of the parameters that have an effect or differ from Redis's defaults. specs
// has the other defaults.
func parameters(c Config) map[string]string {
	limits, cluster, times := translator.DefaultLimits, "no", "yes"
	longest, command := resp.MaxBulk, 1<<30
	if c.Within != nil {
		longest, command = tenantCommand, tenantCommand // like a request over REST
		times = "no"                                    // 24 KB per command: too much for many tenants
	}
	if c.Cluster {
		cluster = "yes"
	}
	dir, name := "", ""
	if c.SavePath != "" {
		dir, name = filepath.Dir(c.SavePath), filepath.Base(c.SavePath)
	}
	return map[string]string{
		"dir": dir, "dbfilename": name,
		"databases": strconv.Itoa(commands.Databases), "maxclients": strconv.Itoa(c.MaxClients),
		"maxmemory": strconv.FormatInt(c.MaxData, 10), "maxmemory-policy": "noeviction", "maxmemory-samples": "5",
		"notify-keyspace-events": "", "proto-max-bulk-len": strconv.Itoa(longest),
		"requirepass": c.RequirePass, "aclfile": c.ACLFile, "acl-pubsub-default": "resetchannels", "acllog-max-len": "128",
		"tracking-table-max-keys": strconv.Itoa(tracking.DefaultMaxKeys), "tcp-keepalive": "300", "timeout": "0", "cluster-enabled": cluster, "protected-mode": "yes",
		"client-query-buffer-limit": strconv.Itoa(command), "io-threads": "1", "daemonize": "no", "supervised": "no", "port": "0", "bind": "",
		"client-output-buffer-limit": "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",

		"appendonly": "no", "appendfsync": "everysec", "save": "", "rdbcompression": "yes", "rdbchecksum": "yes",
		"stop-writes-on-bgsave-error": "yes", "lazyfree-lazy-eviction": "no", "lazyfree-lazy-expire": "no",
		"lazyfree-lazy-server-del": "no", "lazyfree-lazy-user-del": "no", "lazyfree-lazy-user-flush": "no",
		"activerehashing": "yes", "dynamic-hz": "yes", "hz": "10", "loglevel": "notice",
		"slowlog-log-slower-than": "10000", "slowlog-max-len": "128", "latency-monitor-threshold": "0",
		"lfu-decay-time": "1", "lfu-log-factor": "10", "maxmemory-clients": "0", "maxmemory-eviction-tenacity": "10",
		"active-expire-effort": "1", "busy-reply-threshold": "5000", "latency-tracking": times, "latency-tracking-info-percentiles": "50 99 99.9",
		"sanitize-dump-payload": "yes", "enable-debug-command": "yes",

		"hash-max-listpack-entries": strconv.FormatInt(limits.HashFields, 10),
		"hash-max-listpack-value":   strconv.FormatInt(limits.HashBytes, 10),
		"set-max-intset-entries":    strconv.FormatInt(limits.SetIntegers, 10),
		"set-max-listpack-entries":  strconv.FormatInt(limits.SetMembers, 10),
		"set-max-listpack-value":    strconv.FormatInt(limits.SetBytes, 10),
		"zset-max-listpack-entries": strconv.FormatInt(limits.ZsetMembers, 10),
		"zset-max-listpack-value":   strconv.FormatInt(limits.ZsetBytes, 10),
		"hll-sparse-max-bytes":      strconv.FormatInt(limits.HLLBytes, 10),
		"list-max-listpack-size":    strconv.FormatInt(limits.ListSize, 10), "list-compress-depth": "0",
		timeLimit:               strconv.FormatInt(c.TimeLimit.Milliseconds(), 10),
		"stream-node-max-bytes": strconv.FormatInt(limits.NodeBytes, 10), "stream-node-max-entries": strconv.FormatInt(limits.NodeEntries, 10),
	}
}

// limits returns the parameters that select the encodings of values.
func limits(params map[string]string) translator.Limits {
	n := func(name string) int64 {
		n, _ := strconv.ParseInt(valueIn(params, name), 10, 64)
		return n
	}
	f := func(name string) float64 {
		f, _ := strconv.ParseFloat(valueIn(params, name), 64)
		return f
	}
	rules, _ := timeseries.ParsePolicy(valueIn(params, "ts-compaction-policy"))
	return translator.Limits{
		HashFields: n("hash-max-listpack-entries"), HashBytes: n("hash-max-listpack-value"),
		SetIntegers: n("set-max-intset-entries"),
		SetMembers:  n("set-max-listpack-entries"), SetBytes: n("set-max-listpack-value"),
		ZsetMembers: n("zset-max-listpack-entries"), ZsetBytes: n("zset-max-listpack-value"),
		ListSize: n("list-max-listpack-size"), HLLBytes: n("hll-sparse-max-bytes"),
		NodeEntries: n("stream-node-max-entries"), NodeBytes: n("stream-node-max-bytes"),
		Modules: &translator.ModuleDefaults{
			BloomRate: f("bf-error-rate"), BloomCapacity: n("bf-initial-size"), BloomExpansion: n("bf-expansion-factor"),
			CuckooCapacity: n("cf-initial-size"), CuckooBucket: n("cf-bucket-size"), CuckooIterations: n("cf-max-iterations"),
			CuckooExpansion: n("cf-expansion-factor"), CuckooFilters: n("cf-max-expansions"),
			SeriesRetention: n("ts-retention-policy"), SeriesChunk: n("ts-chunk-size-bytes"), SeriesPlain: valueIn(params, "ts-encoding") == "uncompressed",
			SeriesPolicy: valueIn(params, "ts-duplicate-policy"), SeriesIgnoreTime: n("ts-ignore-max-time-diff"), SeriesIgnoreValue: f("ts-ignore-max-val-diff"),
			SeriesRules: rules,
		},
	}
}

// configGet runs CONFIG GET, which returns the parameters that match any pattern. A pattern that equals a name is
// returned as the client spelled it. It ends with ctx.
func (s *Server) configGet(ctx context.Context, args [][]byte) resp.Value {
	var work store.Work
	work.Watch(func(time.Time) error { return ctx.Err() })
	values := s.paramValues()
	reply := resp.EmptyMap
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, pattern := range args[2:] {
			shown := name
			if strings.EqualFold(name, string(pattern)) {
				shown = string(pattern)
			} else if !glob.MatchCounted(pattern, []byte(name), true, work.Step) {
				continue
			}
			reply.Elems = append(reply.Elems, resp.MakeString(shown), resp.MakeString(values[name]))
			break
		}
	}
	return reply
}

// paramValues returns the values of all parameters and of their aliases.
func (s *Server) paramValues() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	values := make(map[string]string, len(specs())+len(aliases))
	params := s.current()
	for name := range specs() {
		values[name] = valueIn(params, name)
	}
	for alias, name := range aliases {
		values[alias] = values[name]
	}
	values[eventsParameter] = shownClasses(values[eventsParameter])
	return values
}

// configSet runs CONFIG SET, which changes all parameters or none. Like Redis, it checks all names before any value.
func (s *Server) configSet(args [][]byte) resp.Value {
	if len(args)%2 != 0 {
		return syntaxError
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if bad := s.unsettable(args[2:]); bad.IsError() {
		return bad
	}
	changed, limitsTime := s.current(), false
	for i := 2; i < len(args); i += 2 {
		asked, name := parameter(args[i])
		value, why := normalized(name, string(args[i+1]), valueIn(changed, name))
		if why == "" && !specs()[name].settable() && value != valueIn(changed, name) {
			why = immutable
		}
		if why != "" {
			return refusedSetting(asked, why)
		}
		changed[name] = value
		limitsTime = limitsTime || name == timeLimit
	}
	s.config.LimitScripts = s.config.LimitScripts || limitsTime
	s.applyParams(changed)
	return resp.OK
}

// current returns a copy of the parameters. FT.CONFIG SET changes some of them. The caller holds s.mu.
func (s *Server) current() map[string]string {
	params := maps.Clone(s.params)
	if s.config.Engine != nil {
		maps.Copy(params, s.config.Engine.SearchParameters())
	}
	return params
}

// normalized returns a new value of a parameter as CONFIG GET shows it, or an error text.
func normalized(name, value, old string) (normal, why string) {
	if name == "client-output-buffer-limit" {
		return mergeOutputs(value, old)
	}
	return specs()[name].check(value)
}

// applyParams applies parameters. The caller holds s.mu.
func (s *Server) applyParams(changed map[string]string) {
	if password := changed["requirepass"]; password != s.params["requirepass"] {
		s.users.SetPassword(password)
	}
	s.users.SetNewChannels(changed["acl-pubsub-default"] == "allchannels")
	entries, _ := strconv.Atoi(changed["acllog-max-len"])
	s.users.Log.SetMax(entries)
	s.params = changed
	s.live.apply(changed)
	keys, _ := strconv.ParseInt(changed["tracking-table-max-keys"], 10, 64)
	s.tracks.SetMaxKeys(keys)
	s.watchTimes(changed)
	if s.config.Engine == nil {
		return
	}
	s.config.Engine.SetLimits(limits(changed))
	s.config.Engine.SetSearchParameters(changed)
	s.notify(changed[eventsParameter])
	most, _ := strconv.ParseInt(changed["maxmemory"], 10, 64)
	s.config.Engine.SetMaxMemory(most, changed["maxmemory-policy"])
	ms, _ := strconv.ParseInt(changed[timeLimit], 10, 64)
	s.config.Engine.SetTimeLimit(time.Duration(ms) * time.Millisecond)
	s.config.Engine.SetUnlimitedScripts(!s.config.LimitScripts)
	ms, _ = strconv.ParseInt(changed["busy-reply-threshold"], 10, 64)
	s.config.Engine.SetBusyThreshold(time.Duration(min(ms, math.MaxInt32)) * time.Millisecond)
}

// SetMaxData changes the limit of Config.MaxData.
func (s *Server) SetMaxData(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	params := s.current()
	params["maxmemory"] = strconv.FormatInt(bytes, 10)
	s.applyParams(params)
}

// watchTimes applies the parameters of the slow log and LATENCY.
func (s *Server) watchTimes(params map[string]string) {
	n := func(name string) int64 {
		n, _ := strconv.ParseInt(params[name], 10, 64)
		return n
	}
	slow := time.Duration(-1)
	if from := n("slowlog-log-slower-than"); from >= 0 {
		slow = time.Duration(min(from, math.MaxInt64/int64(time.Microsecond))) * time.Microsecond
	}
	s.tally.SetSlow(slow, n("slowlog-max-len"))
	s.tally.SetLatency(time.Duration(min(n("latency-monitor-threshold"), math.MaxInt64/int64(time.Millisecond))) * time.Millisecond)
	s.tally.Track(params["latency-tracking"] == "yes")
}

// unsettable returns an error for the first parameter of pairs that is unknown, duplicate, or immutable in Redis.
func (s *Server) unsettable(pairs [][]byte) resp.Value {
	seen := map[string]bool{}
	for i := 0; i < len(pairs); i += 2 {
		asked, name := parameter(pairs[i])
		spelt := commands.Quote(pairs[i])
		p, known := specs()[name]
		switch {
		case !known:
			return resp.MakeError("ERR Unknown option or number of arguments for CONFIG SET - '" + spelt + "'")
		case p.use == fromFile || p.use == fact:
			return refusedSetting(spelt, immutable)
		case p.use == protected:
			return refusedSetting(spelt, "can't set protected config")
		case seen[asked]:
			return refusedSetting(spelt, "duplicate parameter")
		}
		seen[asked] = true
	}
	return resp.Value{}
}

// parameter returns the requested name in lower case, and the current name of that parameter.
func parameter(word []byte) (asked, name string) {
	asked = strings.ToLower(string(word))
	if name = aliases[asked]; name == "" {
		name = asked
	}
	return asked, name
}

const immutable = "can't set immutable config"

func refusedSetting(name, why string) resp.Value {
	return resp.MakeError("ERR CONFIG SET failed (possibly related to argument '" + name + "') - " + why)
}
