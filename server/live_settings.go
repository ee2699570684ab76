package server

import (
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// live holds the parameters that running connections read. CONFIG SET changes them for all connections at once.
type live struct {
	maxClients atomic.Int64
	timeout    atomic.Int64 // seconds a client may be idle; 0 for no limit
	keepAlive  atomic.Int64 // seconds between keepalive probes; 0 for none
	maxBulk    atomic.Int64 // limit of an argument, in bytes
	maxQuery   atomic.Int64 // limit of a command, in bytes
	open       atomic.Bool
	outputs    atomic.Pointer[outputLimits]
	backlog    atomic.Int64  // bytes of the stream kept for replicas that come back
	backlogTTL atomic.Int64  // seconds that the stream continues after the last replica; 0 for no limit
	rechecks   chan struct{} // signals that timeout has changed
}

// outputLimit limits a client's unread output: to hard at any time, and to soft for the duration over.
type outputLimit struct {
	hard, soft int64 // bytes; 0 for no limit
	over       time.Duration
}

// outputLimits has a limit for each class of client-output-buffer-limit, in the order of outputClasses.
type outputLimits [len(outputClasses)]outputLimit

const (
	normalClass = iota
	replicaClass
	pubsubClass
)

var outputClasses = [...]string{normalClass: "normal", replicaClass: "slave", pubsubClass: "pubsub"}

// mergeOutputs parses client-output-buffer-limit. Classes missing from value keep their limits in old.
func mergeOutputs(value, old string) (normal, why string) {
	words, all := strings.Fields(value), strings.Fields(old)
	if len(words)%4 != 0 {
		return "", "Wrong number of arguments in buffer limit configuration."
	}
	for ; len(words) > 0; words = words[4:] {
		class := strings.ToLower(words[0])
		if class == "replica" {
			class = "slave"
		}
		at := -1
		for i, name := range outputClasses {
			if name == class {
				at = 4 * i
			}
		}
		if at < 0 {
			return "", "Invalid client class specified in buffer limit configuration."
		}
		hard, bad1 := memory(words[1])
		soft, bad2 := memory(words[2])
		seconds, err := strconv.ParseInt(words[3], 10, 64)
		if bad1+bad2 != "" || err != nil || seconds < 0 {
			return "", "Error in hard, soft or soft_seconds setting in buffer limit configuration."
		}
		all[at+1], all[at+2], all[at+3] = hard, soft, words[3]
	}
	return strings.Join(all, " "), ""
}

// readOutputs parses the result of mergeOutputs.
func readOutputs(value string) *outputLimits {
	limits, words := new(outputLimits), strings.Fields(value)
	for i := range limits {
		hard, _ := strconv.ParseInt(words[4*i+1], 10, 64)
		soft, _ := strconv.ParseInt(words[4*i+2], 10, 64)
		seconds, _ := strconv.ParseInt(words[4*i+3], 10, 64)
		limits[i] = outputLimit{hard, soft, time.Duration(min(seconds, math.MaxInt32)) * time.Second}
	}
	return limits
}

// apply applies parameters that running connections read.
func (l *live) apply(params map[string]string) {
	n := func(name string) int64 {
		n, _ := strconv.ParseInt(params[name], 10, 64)
		return n
	}
	l.maxClients.Store(n("maxclients"))
	l.keepAlive.Store(n("tcp-keepalive"))
	l.maxBulk.Store(min(n("proto-max-bulk-len"), resp.MaxBulk))
	l.maxQuery.Store(n("client-query-buffer-limit"))
	l.open.Store(params["protected-mode"] == "no")
	l.backlog.Store(n("repl-backlog-size"))
	l.backlogTTL.Store(n("repl-backlog-ttl"))
	l.outputs.Store(readOutputs(params["client-output-buffer-limit"]))
	if timeout := n("timeout"); l.timeout.Swap(timeout) != timeout {
		select {
		case l.rechecks <- struct{}{}:
		default: // a check is already pending
		}
	}
}
