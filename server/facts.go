package server

import (
	"fmt"
	"net"
	"os"
	"runtime/metrics"
	"strconv"
	"time"

	"github.com/meowdis/meowdis/acl"
	"github.com/meowdis/meowdis/translator"
)

// facts are the lines of INFO that only the server knows.
func (s *Server) facts() translator.Facts {
	up := int64(time.Since(s.since).Seconds())
	clients := s.all()
	facts := translator.Facts{
		"Server": {
			fmt.Sprintf("process_id:%d", os.Getpid()), "run_id:" + s.runID,
			fmt.Sprintf("uptime_in_seconds:%d", up), fmt.Sprintf("uptime_in_days:%d", up/(24*60*60)),
		},
		"Clients": {
			fmt.Sprintf("connected_clients:%d", len(clients)), fmt.Sprintf("maxclients:%d", s.config.MaxClients),
			"blocked_clients:0", "tracking_clients:0",
		},
		"Stats": {
			fmt.Sprintf("total_connections_received:%d", s.lastID.Load()),
			fmt.Sprintf("total_commands_processed:%d", s.commands.Load()),
			fmt.Sprintf("instantaneous_ops_per_sec:%.0f", s.pace.look(s.since, time.Now(), s.commands.Load())),
			fmt.Sprintf("rejected_connections:%d", s.rejected.Load()), "evicted_keys:0", "evicted_clients:0",
			fmt.Sprintf("acl_access_denied_auth:%d", s.users.Log.Refused(acl.ByPassword)),
			fmt.Sprintf("acl_access_denied_cmd:%d", s.users.Log.Refused(acl.ByCommand)),
			fmt.Sprintf("acl_access_denied_key:%d", s.users.Log.Refused(acl.ByKey)),
			fmt.Sprintf("acl_access_denied_channel:%d", s.users.Log.Refused(acl.ByChannel)),
		},
	}
	if len(clients) > 0 {
		if _, port, err := net.SplitHostPort(clients[0].net.LocalAddr().String()); err == nil {
			facts["Server"] = append(facts["Server"], "tcp_port:"+port)
		}
	}
	if used, ok := heap(); ok {
		facts["Memory"] = []string{"used_memory:" + strconv.FormatUint(used, 10), "used_memory_human:" + human(used)}
	}
	if user, system, ok := processorTime(); ok {
		facts["CPU"] = []string{fmt.Sprintf("used_cpu_sys:%f", system.Seconds()), fmt.Sprintf("used_cpu_user:%f", user.Seconds())}
	}
	return facts
}

// heap is the bytes that the process keeps in use.
func heap() (bytes uint64, ok bool) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0, false
	}
	return sample[0].Value.Uint64(), true
}

// human writes bytes as INFO does: 1.50M.
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
