package server

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/translator"
)

// setting reads the new value of a parameter. It returns the value as CONFIG GET
// shows it, or why it is none.
type setting func(value string) (normal, why string)

// settable are the parameters that may be set. They take effect at once (Server.take), but for those
// about saving, memory and loops that are not here, which are taken and change nothing.
var settable = sync.OnceValue(func() map[string]setting {
	return map[string]setting{
		"appendonly": yesNo, "appendfsync": oneOf("everysec", "always", "no"), "save": savePoints,
		"rdbcompression": yesNo, "stop-writes-on-bgsave-error": yesNo,
		"lazyfree-lazy-eviction": yesNo, "lazyfree-lazy-expire": yesNo, "lazyfree-lazy-server-del": yesNo,
		"lazyfree-lazy-user-del": yesNo, "lazyfree-lazy-user-flush": yesNo,
		"activerehashing": yesNo, "dynamic-hz": yesNo, "hz": clamped(1, 500, number(math.MinInt32, math.MaxInt32)),
		"loglevel":                oneOf("debug", "verbose", "notice", "warning", "nothing"),
		"slowlog-log-slower-than": number(-1, math.MaxInt64), "slowlog-max-len": number(0, math.MaxInt64),
		"latency-monitor-threshold": number(0, math.MaxInt64), "maxmemory-samples": number(1, 64),
		"lfu-decay-time": number(0, math.MaxInt32), "lfu-log-factor": number(0, math.MaxInt32),
		"maxmemory-eviction-tenacity": number(0, 100), "active-expire-effort": number(1, 10),
		timeLimit: number(0, math.MaxInt32), "busy-reply-threshold": number(0, math.MaxInt64), "latency-tracking": yesNo,

		"hash-max-listpack-entries": number(0, math.MaxInt64), "hash-max-listpack-value": memory,
		"set-max-intset-entries":   number(0, math.MaxInt64),
		"set-max-listpack-entries": number(0, math.MaxInt64), "set-max-listpack-value": memory,
		"zset-max-listpack-entries": number(0, math.MaxInt64), "zset-max-listpack-value": memory,
		"hll-sparse-max-bytes":   memory,
		"list-max-listpack-size": number(math.MinInt32, math.MaxInt32), "list-compress-depth": number(0, math.MaxInt32),
		"stream-node-max-bytes": memory, "stream-node-max-entries": number(0, math.MaxInt64),

		"maxclients": number(1, math.MaxUint32), "timeout": number(0, math.MaxInt32), "tcp-keepalive": number(0, math.MaxInt32),
		"proto-max-bulk-len": atLeast(1<<20, atMost(resp.MaxBulk, memory)), "client-query-buffer-limit": atLeast(1<<20, memory),
		"client-output-buffer-limit": anything, // mergeOutputs
		"tracking-table-max-keys":    number(0, math.MaxInt64),
		eventsParameter:              eventClasses, "protected-mode": yesNo, "latency-tracking-info-percentiles": checkPercentiles,

		"maxmemory": memory, "maxmemory-policy": policy,

		"requirepass": anything, "acl-pubsub-default": oneOf("allchannels", "resetchannels"), "acllog-max-len": number(0, math.MaxInt64),
	}
})

// fixed are the parameters that may be set in Redis and not here: a value that is none
// is refused as Redis refuses it.
var fixed = map[string]setting{
	"maxmemory-clients":     memoryOrPercent,
	"sanitize-dump-payload": oneOf("no", "yes", "clients"),
}

func anything(value string) (normal, why string) { return value, "" }

func yesNo(value string) (normal, why string) {
	if normal = strings.ToLower(value); normal != "yes" && normal != "no" {
		return "", "argument must be 'yes' or 'no'"
	}
	return normal, ""
}

func oneOf(words ...string) setting {
	return func(value string) (normal, why string) {
		if normal = strings.ToLower(value); !slices.Contains(words, normal) {
			return "", "argument(s) must be one of the following: " + strings.Join(words, ", ")
		}
		return normal, ""
	}
}

func number(low, high int64) setting {
	return func(value string) (normal, why string) {
		n, ok := commands.ParseInt([]byte(value))
		switch {
		case !ok:
			return "", "argument couldn't be parsed into an integer"
		case n < low || n > high:
			return "", outside(low, high)
		}
		return value, ""
	}
}

func outside(low, high int64) string {
	return fmt.Sprintf("argument must be between %d and %d inclusive", low, high)
}

// units are those of memory: k is a thousand, kb is 1024.
var units = map[string]uint64{
	"": 1, "b": 1, "k": 1000, "kb": 1 << 10, "m": 1000_000, "mb": 1 << 20, "g": 1000_000_000, "gb": 1 << 30,
}

func memory(value string) (normal, why string) {
	value, _, _ = strings.Cut(value, "\x00") // where it ends for Redis
	digits := strings.TrimRight(value, "bgkmBGKM")
	unit := units[strings.ToLower(value[len(digits):])]
	n, err := strconv.ParseUint("0"+digits, 10, 64) // a unit alone is nothing of it
	switch {
	case unit == 0 || err != nil && !errors.Is(err, strconv.ErrRange):
		return "", "argument must be a memory value"
	case err != nil || n > math.MaxInt64/unit:
		return "", outside(0, math.MaxInt64)
	}
	return strconv.FormatUint(n*unit, 10), ""
}

func memoryOrPercent(value string) (normal, why string) {
	if n, err := strconv.ParseUint(strings.TrimSuffix(value, "%"), 10, 64); err == nil && strings.HasSuffix(value, "%") && n <= 100 {
		return value, ""
	}
	if normal, why = memory(value); why != "" {
		why = "argument must be a memory or percent value"
	}
	return normal, why
}

// atLeast is check for a value that may not be below low.
func atLeast(low int64, check setting) setting {
	return func(value string) (normal, why string) {
		normal, why = check(value)
		if n, _ := strconv.ParseInt(normal, 10, 64); why == "" && n < low {
			return "", outside(low, math.MaxInt64)
		}
		return normal, why
	}
}

// atMost is check for a value that may not be above high.
func atMost(high int64, check setting) setting {
	return func(value string) (normal, why string) {
		normal, why = check(value)
		if n, _ := strconv.ParseInt(normal, 10, 64); why == "" && n > high {
			return "", fmt.Sprintf("argument must be at most %d, the longest value here", high)
		}
		return normal, why
	}
}

// clamped is check for a value that is brought between low and high.
func clamped(low, high int64, check setting) setting {
	return func(value string) (normal, why string) {
		if normal, why = check(value); why != "" {
			return "", why
		}
		n, _ := strconv.ParseInt(normal, 10, 64)
		return strconv.FormatInt(min(max(n, low), high), 10), ""
	}
}

// eventClasses reads notify-keyspace-events, and writes the classes in Redis's order; with A that does
// not show n, which shownClasses leaves out.
func eventClasses(value string) (normal, why string) {
	const all = allClasses
	if strings.Trim(value, "A"+all+"KEmn") != "" {
		return "", "Invalid event class character. Use 'Ag$lshzxeKEtmdn'."
	}
	if strings.Contains(value, "m") {
		return "", "there are no events of missing keys (m) here: what reads does not look whether anyone listens"
	}
	has := func(class rune) bool { return strings.ContainsRune(value, class) }
	kept := func(classes string) string {
		return strings.Map(func(class rune) rune {
			if has(class) {
				return class
			}
			return -1
		}, classes)
	}
	if normal = kept(all); has('A') || normal == all {
		return "A" + kept("nKE"), ""
	}
	return normal + kept("n") + kept("KE"), ""
}

// savePoints reads pairs of seconds and changes, with one space between all.
func savePoints(value string) (normal, why string) {
	if value == "" {
		return "", ""
	}
	words := strings.Split(value, " ")
	for i, word := range words {
		if n, err := strconv.Atoi(word); err != nil || n < 0 || n == 0 && i%2 == 0 {
			return "", "Invalid save parameters"
		}
	}
	if len(words)%2 != 0 {
		return "", "Invalid save parameters"
	}
	return value, ""
}

// policies are those of Redis.
var policies = oneOf("volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl", "allkeys-lru", "allkeys-lfu", "allkeys-random", "noeviction")

// policy reads maxmemory-policy. When a key was read last is not known here.
func policy(value string) (normal, why string) {
	if normal, why = policies(value); why != "" {
		return "", why
	}
	switch normal {
	case translator.NoEviction, translator.AllKeysRandom, translator.VolatileTTL:
		return normal, ""
	}
	return "", "the policies here are noeviction, allkeys-random and volatile-ttl: no use of keys is noted"
}

// percentiles reads latency-tracking-info-percentiles.
func percentiles(value string) (percents []float64) {
	for _, word := range strings.Fields(value) {
		if p, err := strconv.ParseFloat(word, 64); err == nil {
			percents = append(percents, p)
		}
	}
	return percents
}

func checkPercentiles(value string) (normal, why string) {
	if value == "" {
		return "", ""
	}
	var words []string
	for _, word := range strings.Split(value, " ") {
		p, err := strconv.ParseFloat(word, 64)
		switch {
		case err != nil:
			return "", "Invalid latency-tracking-info-percentiles parameters"
		case !(p >= 0 && p <= 100):
			return "", "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]"
		}
		words = append(words, strconv.FormatFloat(p, 'g', -1, 64))
	}
	return strings.Join(words, " "), ""
}
