package cluster

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// summed lists the facts of INFO that are added up over the masters. Other facts come from the first master.
var summed = map[string]bool{
	"used_memory": true, "used_memory_rss": true, "used_memory_dataset": true, "maxmemory": true,
	"connected_clients": true, "blocked_clients": true, "total_connections_received": true, "total_commands_processed": true,
	"instantaneous_ops_per_sec": true, "total_net_input_bytes": true, "total_net_output_bytes": true,
	"expired_keys": true, "evicted_keys": true, "keyspace_hits": true, "keyspace_misses": true, "rejected_connections": true,
}

// mergeInfo returns the INFO of the first master with the sums of all.
func mergeInfo(all []resp.Value) resp.Value {
	totals := map[string]int64{}
	var keys, expiring int64
	for _, v := range all {
		for line := range strings.Lines(string(v.Str)) {
			name, fact, _ := strings.Cut(strings.TrimSpace(line), ":")
			if summed[name] {
				n, _ := strconv.ParseInt(fact, 10, 64)
				totals[name] += n
			} else if name == "db0" {
				for pair := range strings.SplitSeq(fact, ",") {
					what, n, _ := strings.Cut(pair, "=")
					count, _ := strconv.ParseInt(n, 10, 64)
					switch what {
					case "keys":
						keys += count
					case "expires":
						expiring += count
					}
				}
			}
		}
	}
	var b bytes.Buffer
	wroteKeys := keys == 0
	for line := range strings.Lines(string(all[0].Str)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch total, isSum := totals[name]; {
		case isSum:
			fmt.Fprintf(&b, "%s:%d\r\n", name, total)
		case name == "used_memory_human":
			fmt.Fprintf(&b, "%s:%.2fM\r\n", name, float64(totals["used_memory"])/(1<<20))
		case name == "db0":
		case name == "# Keyspace" && !wroteKeys:
			fmt.Fprintf(&b, "%sdb0:keys=%d,expires=%d,avg_ttl=0\r\n", line, keys, expiring)
			wroteKeys = true
		default:
			b.WriteString(line)
		}
	}
	return resp.Value{Kind: all[0].Kind, Str: b.Bytes()}
}
