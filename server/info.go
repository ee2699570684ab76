package server

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/meowdis/meowdis/resp"
)

// section is one part of INFO's text.
type section struct {
	name  string
	lines func(s *Server, ctx context.Context) []string
}

var sections = []section{
	{"Server", (*Server).infoServer},
	{"Clients", (*Server).infoClients},
	{"Memory", infoMemory},
	{"Persistence", func(*Server, context.Context) []string { return []string{"loading:0", "async_loading:0"} }},
	{"Stats", (*Server).infoStats},
	{"Replication", func(*Server, context.Context) []string { return []string{"role:master", "connected_slaves:0"} }},
	{"Cluster", func(*Server, context.Context) []string { return []string{"cluster_enabled:0"} }},
	{"Keyspace", (*Server).infoKeyspace},
}

// info is INFO [section …], in Redis's form.
func (s *Server) info(ctx context.Context, args [][]byte) resp.Value {
	wanted := map[string]bool{}
	for _, arg := range args[1:] {
		wanted[strings.ToLower(string(arg))] = true
	}
	all := len(args) == 1 || wanted["all"] || wanted["default"] || wanted["everything"]
	var text strings.Builder
	for _, section := range sections {
		if !all && !wanted[strings.ToLower(section.name)] {
			continue
		}
		if text.Len() > 0 {
			text.WriteString("\r\n")
		}
		text.WriteString("# " + section.name + "\r\n")
		for _, line := range section.lines(s, ctx) {
			text.WriteString(line + "\r\n")
		}
	}
	return verbatim(text.String())
}

func (s *Server) infoServer(context.Context) []string {
	up := time.Since(s.started)
	return []string{
		"redis_version:" + RedisVersion, "redis_mode:standalone", "server_name:meowdis",
		"os:" + runtime.GOOS + " " + runtime.GOARCH, "arch_bits:64",
		fmt.Sprint("process_id:", os.Getpid()), "run_id:" + s.runID,
		fmt.Sprint("server_time_usec:", time.Now().UnixMicro()),
		fmt.Sprint("uptime_in_seconds:", int64(up.Seconds())), fmt.Sprint("uptime_in_days:", int64(up.Hours()/24)),
	}
}

func (s *Server) infoClients(context.Context) []string {
	return []string{
		fmt.Sprint("connected_clients:", len(s.all())), fmt.Sprint("maxclients:", s.config.MaxClients),
		"blocked_clients:0",
	}
}

func infoMemory(*Server, context.Context) []string {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return []string{
		fmt.Sprint("used_memory:", m.HeapAlloc), fmt.Sprintf("used_memory_human:%.2fM", float64(m.HeapAlloc)/(1<<20)),
		fmt.Sprint("used_memory_rss:", m.Sys), "maxmemory:0", "maxmemory_human:0B", "maxmemory_policy:noeviction",
	}
}

func (s *Server) infoStats(context.Context) []string {
	return []string{
		fmt.Sprint("total_connections_received:", s.lastID.Load()),
		fmt.Sprint("total_commands_processed:", s.commands.Load()),
	}
}

func (s *Server) infoKeyspace(ctx context.Context) []string {
	dbs, err := s.config.Engine.Keyspace(ctx)
	if err != nil {
		s.config.Logger.Error("counting keys", "error", err)
	}
	var lines []string
	for _, db := range dbs {
		lines = append(lines, fmt.Sprintf("db%d:keys=%d,expires=%d,avg_ttl=0", db.DB, db.Keys, db.Expires))
	}
	return lines
}
