package server

import (
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// live are parameters as what runs looks at them: CONFIG SET changes them for all at once.
type live struct {
	maxClients atomic.Int64
	timeout    atomic.Int64 // seconds that a client may be idle; 0 for any
	keepAlive  atomic.Int64 // seconds between probes of a connection; 0 for none
	maxBulk    atomic.Int64 // bytes of an arg
	maxQuery   atomic.Int64 // bytes of a command
	open       atomic.Bool  // protected-mode is off
	outputs    atomic.Pointer[outputLimits]
	rechecks   chan struct{} // timeout has changed
}

// outputLimit is what may wait for a client: hard at most, and soft for so long.
type outputLimit struct {
	hard, soft int64 // bytes; 0 for any
	over       time.Duration
}

// outputLimits are those of the classes of client-output-buffer-limit, in their order.
type outputLimits [len(outputClasses)]outputLimit

const (
	normalClass = iota
	replicaClass
	pubsubClass
)

var outputClasses = [...]string{normalClass: "normal", replicaClass: "slave", pubsubClass: "pubsub"}

// mergeOutputs is the setting of client-output-buffer-limit: the classes that value names take the
// place of those of old.
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

// readOutputs are the limits of a value that mergeOutputs made.
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

// take has parameters take effect that what runs looks at.
func (l *live) take(params map[string]string) {
	n := func(name string) int64 {
		n, _ := strconv.ParseInt(params[name], 10, 64)
		return n
	}
	l.maxClients.Store(n("maxclients"))
	l.keepAlive.Store(n("tcp-keepalive"))
	l.maxBulk.Store(min(n("proto-max-bulk-len"), resp.MaxBulk))
	l.maxQuery.Store(n("client-query-buffer-limit"))
	l.open.Store(params["protected-mode"] == "no")
	l.outputs.Store(readOutputs(params["client-output-buffer-limit"]))
	if timeout := n("timeout"); l.timeout.Swap(timeout) != timeout {
		select {
		case l.rechecks <- struct{}{}:
		default: // it is about to look
		}
	}
}
